"""What becomes of what hosts answer: for each form of the catalogue what stores it, and how much of it is taken.

Whatever a host answers, its document is read as what it must be and seen to be of that host before anything stores it.
An answer may arrive twice. Called by the tasks; what is not here is not taken.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from nasadvisor.console.change.runs.orders import store_run, store_run_error, store_unreadable_run
from nasadvisor.console.evidence.series import store_reading
from nasadvisor.console.evidence.told import (
    store_curve,
    store_measurement,
    store_measurement_error,
    store_newest,
    store_no,
    store_progress,
    store_switching,
)
from nasadvisor.console.fleet import hosts, quotas
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.health.alerts.deliver import store_notice_answer, store_notice_error
from nasadvisor.console.health.inventory import store_inventory, store_inventory_error
from nasadvisor.console.health.sweep_store import keep_answers
from nasadvisor.console.health.sweeps import (
    store_self_test_error,
    store_self_test_start,
    store_sweep,
    store_sweep_error,
)
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet import questions
from nasadvisor.domain.fleet.messages import Message
from nasadvisor.domain.fleet.platforms import NoticeAnswer, PlatformReport
from nasadvisor.domain.fleet.questions import Question, told_by
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.health.sweep import Answers, SelfTestStart, SweepReport
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MIB
from nasadvisor.stored.documents import DocumentError, Json, NewerForm, from_document
from nasadvisor.stored.kinds import name_of

T = TypeVar("T")

LARGEST_MESSAGE: Final = 2 * MIB


@dataclass(frozen=True)
class StoredForm(Generic[T]):
    """One form. `store` is given the host's name, the answer, and its document.

    `largest_message` is in bytes as it lies in a queue: none of ours has a tenth of it; `largest_document` in bytes of
    JSON, 0 for no other bound. What `is_rationed` is taken only as often as it is asked for.
    """

    form: type[T]
    store: Callable[[str, T, Json], object]
    largest_message: int = LARGEST_MESSAGE
    largest_document: int = 0
    is_rationed: bool = False


KEPT: Final[tuple[StoredForm[Any], ...]] = (
    StoredForm(SchemaVersions, hosts.meet),
    StoredForm(PlatformReport, hosts.store_platform),
    StoredForm(Inventory, store_inventory, largest_message=16 * MIB),  # one of 1,000 disks has 1 MiB
    StoredForm(Reading, store_reading, is_rationed=True),
    StoredForm(WaitingPrograms, store_newest),
    StoredForm(CacheCurve, store_curve),
    StoredForm(CommitTrace, store_newest),
    StoredForm(BlockCount, store_newest),
    StoredForm(MeasureProgress, store_progress),
    StoredForm(Measurement, store_measurement),
    StoredForm(Answers, keep_answers, largest_message=8 * MIB),  # of the disks that are asked at once
    StoredForm(SweepReport, store_sweep),
    StoredForm(SelfTestStart, store_self_test_start),
    StoredForm(ScrubStart, store_newest),
    StoredForm(NoticeAnswer, store_notice_answer),
    StoredForm(Run, store_run, largest_document=quotas.LARGEST_RUN),
    StoredForm(UnreadableRun, store_unreadable_run),
    StoredForm(CacheSwitching, store_switching, largest_document=quotas.LARGEST_RUN),
)

ERRORS: Final[Mapping[Question, Callable[[str, str, Json], None]]] = {
    questions.READ_INVENTORY: store_inventory_error,
    questions.WATCH_WAITING: store_no(WaitingPrograms),
    questions.TRACE_CURVE: store_no(CacheCurve),
    questions.TRACE_COMMITS: store_no(CommitTrace),
    questions.COUNT_BLOCKS: store_no(BlockCount),
    questions.MEASURE: store_measurement_error,
    questions.SMART_SWEEP: store_sweep_error,
    questions.START_SELF_TEST: store_self_test_error,
    questions.START_SCRUB: store_no(ScrubStart),
    questions.NOTIFY: store_notice_error,
    questions.APPLY: store_run_error,
    questions.FINISH: store_run_error,
    questions.KEEP: store_run_error,
    questions.UNDO: store_run_error,
    questions.REPORT_RUN: store_run_error,
    questions.START_SWITCHING: store_no(CacheSwitching),
    questions.STOP_SWITCHING: store_no(CacheSwitching),
}
"""What stores why there is no answer. It is given the host's name, what the question was about, and the statement."""

BY_NAME: Final = {name_of(kept.form): kept for kept in KEPT}
BY_VERB: Final = {question.verb: store for question, store in ERRORS.items()}


def kept_of(message: Message) -> StoredForm[Any] | None:
    """The entry of an answer; None for everything else."""
    name = message.arguments[1] if message.task == questions.ANSWER_TASK and len(message.arguments) > 1 else None
    return BY_NAME.get(name) if isinstance(name, str) else None


def is_error(message: Message) -> bool:
    """Whether it says why a question of ours has no answer."""
    verb = message.arguments[1] if message.task == questions.ERROR_TASK and len(message.arguments) > 1 else None
    return isinstance(verb, str) and verb in BY_VERB


def take_answer(node_name: str, name: str, document: Json) -> None:
    """Store what a host has answered.

    Raises:
        DocumentError: it is no answer of that name.
        QuotaReached: it is larger than any of ours, or there is more of it than one host has.
        ValueError: it is that of another host, or cannot be stored.
    """
    kept = BY_NAME.get(name)
    if kept is None:
        raise DocumentError(f"no answer is called {name!r:.80}")
    if kept.largest_document and quotas.size_of(document) > kept.largest_document:
        quotas.refuse(node_name, Quota.RUN_SIZE)
    try:
        found = from_document(kept.form, document)
    except NewerForm:
        hosts.heard_from(node_name)  # it is there; that its release is newer than ours is said elsewhere
        raise
    whose = told_by(found)
    if whose is not None and whose != node_name:
        raise ValueError(f"The {name} of {whose} came from {node_name}. It was not stored.")
    kept.store(node_name, found, document)


def take_error(node_name: str, verb: str, about: str, document: Json) -> None:
    """Store why a host has no answer.

    Raises:
        DocumentError: it does not say so of a question of ours.
        ValueError: it is about nothing that there is.
    """
    store = BY_VERB.get(verb)
    if store is None or not isinstance(about, str):
        raise DocumentError(f"no question is called {verb!r:.80}, or it is about nothing")
    from_document(Statement, document)
    store(node_name, about, document)
