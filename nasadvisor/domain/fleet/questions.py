"""All that a console asks of a host, and all that a host answers: the one catalogue, an entry for each question.

An entry says what both sides must agree on. What each does about it is bound to it at its own floor: the host's readers
in `nasadvisor.host.tasks`, what stores an answer in `nasadvisor.console.worker.answers`. What is not here is neither
sent nor taken.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from nasadvisor.domain.change import trial
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence import curve, metadata_count
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.permissions import Verbs
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer, PlatformReport
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.health.sweep import Answers, SelfTest, SelfTestStart, SweepReport
from nasadvisor.domain.storage import names
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MINUTE_S

ANSWER_TASK: Final = "console.answer"
"""What a host sends to answer: its own name, the name of the form, the document."""

ERROR_TASK: Final = "console.error"
"""What a host sends instead: its own name, the verb, what the question was about, the statement that says why."""


@dataclass(frozen=True)
class Text:
    """An argument that is a text of this pattern, as a whole."""

    what: str
    pattern: str


@dataclass(frozen=True)
class Seconds:
    """An argument that is a whole number of seconds within these bounds."""

    what: str
    least: int
    most: int


@dataclass(frozen=True)
class Order:
    """An argument that is a document of this form, whose `id` is a text of this kind: it becomes part of a path."""

    form: type
    id: Text


Argument = Text | Seconds | Order | type
"""What an argument must be; a type is a document of that form, or one of the words of a StrEnum."""

ASKER: Final = Text("name of somebody", names.LINE)
"""In whose name something is asked for; always the last argument, and filled in by the console for who is signed in."""

DISK_KEY: Final = Text("key of a disk", names.LINE)
MESSAGE_ID: Final = Text("id of a message", names.LINE)
POOL_GUID: Final = Text("guid of a pool", names.GUID)
RUN_ID: Final = Text("id of a run", names.PLAN_ID)
MEASURE_ORDER: Final = Order(MeasureOrder, Text("id of a measurement", names.MEASURE_ID))
TRACE_LENGTH: Final = Seconds("length of a trace", curve.SHORTEST_S, curve.LONGEST_S)
COUNT_LENGTH: Final = Seconds("length of a count", metadata_count.SHORTEST_S, metadata_count.LONGEST_S)
TRIAL_LENGTH: Final = Seconds("length of a trial", 0, trial.LONGEST_S)
"""0 for good. How short a trial may be is said to who asks (`apply_plan`)."""

LOOK_S: Final = 30
CHANGE_S: Final = 2 * MINUTE_S
"""A request to change something that no host has taken up by then is dropped: nobody wants it to run an hour later."""


class Asker(StrEnum):
    """Who may ask on the console. The console itself, by its clock, may ask everything."""

    VIEWER = "viewer"  # everybody who is signed in
    OPERATOR = "operator"  # and administrators
    NOBODY = "nobody"  # only the console itself


@dataclass(frozen=True)
class Question:
    """One entry. `groups` are those of which the host must allow one; none where a question only looks.

    `answers` are the forms of what a host tells; `about` finds in the arguments what an error is about, and is None
    where an error stays in the host's log. What has not been taken up after `wanted_s` seconds is dropped.
    """

    verb: str
    arguments: tuple[Argument, ...]
    answers: tuple[type, ...]
    may_ask: Asker
    about: Callable[..., str] | None
    groups: tuple[Verbs, ...] = ()
    wanted_s: int = LOOK_S

    @property
    def task(self) -> str:
        """The name of the host's task."""
        return f"host.{self.verb}"


def _host(*_: object) -> str:
    """About the host as a whole."""
    return ""


def _first(subject: str, *_: object) -> str:
    return subject


def _last(*arguments: Any) -> str:
    return str(arguments[-1])


def _id(order: Any, *_: object) -> str:
    return str(order.id)


def _pool(order: SwitchOrder, *_: object) -> str:
    return order.pool_guid


_RUNS: Final = (Run, UnreadableRun)

# A host says which forms it speaks when it starts, without being asked; this is the console's answer to it.
HEAR_FORMS: Final = Question("hear_forms", (SchemaVersions,), (SchemaVersions,), Asker.NOBODY, None)

READ_INVENTORY: Final = Question("read_inventory", (), (PlatformReport, Inventory), Asker.VIEWER, _host)

# A sample that comes late says as much as one that comes on time; two at once say no more than one.
SAMPLE: Final = Question("sample", (), (Reading,), Asker.NOBODY, None, wanted_s=8)

WATCH_WAITING: Final = Question("watch_waiting", (), (WaitingPrograms,), Asker.OPERATOR, _host)

TRACE_CURVE: Final = Question("trace_curve", (POOL_GUID, TRACE_LENGTH), (CacheCurve,), Asker.OPERATOR, _first)
STOP_CURVE: Final = Question("stop_curve", (), (), Asker.OPERATOR, None)

TRACE_COMMITS: Final = Question("trace_commits", (POOL_GUID, TRACE_LENGTH), (CommitTrace,), Asker.OPERATOR, _first)
STOP_COMMITS: Final = Question("stop_commits", (), (), Asker.OPERATOR, None)

COUNT_BLOCKS: Final = Question("count_blocks", (POOL_GUID, COUNT_LENGTH), (BlockCount,), Asker.OPERATOR, _first)

_MEASURED: Final = (MeasureProgress, Measurement)
MEASURE: Final = Question("measure", (MEASURE_ORDER,), _MEASURED, Asker.OPERATOR, _id, (Verbs.MEASURE,), CHANGE_S)

# It may wait that long for the end of a run.
SMART_SWEEP: Final = Question("smart_sweep", (), (Answers, SweepReport), Asker.OPERATOR, _host, wanted_s=30 * MINUTE_S)

START_SELF_TEST: Final = Question(
    "start_self_test", (DISK_KEY, SelfTest, ASKER), (SelfTestStart,), Asker.OPERATOR, _first, (Verbs.MEASURE,), CHANGE_S
)

START_SCRUB: Final = Question(
    "start_scrub", (POOL_GUID, ASKER), (ScrubStart,), Asker.OPERATOR, _first, (Verbs.MEASURE,), CHANGE_S
)

# As long as the console waits for an answer (`deliver.LEASE`); then the message is handed over again.
NOTIFY: Final = Question("notify", (Notice, MESSAGE_ID), (NoticeAnswer,), Asker.NOBODY, _last, wanted_s=10 * MINUTE_S)

APPLY: Final = Question("apply", (Plan, TRIAL_LENGTH, ASKER), _RUNS, Asker.OPERATOR, _id, (Verbs.CHANGE,), CHANGE_S)
FINISH: Final = Question("finish", (RUN_ID, ASKER), _RUNS, Asker.OPERATOR, _first, (Verbs.CHANGE,), CHANGE_S)
KEEP: Final = Question("keep", (RUN_ID, ASKER), _RUNS, Asker.OPERATOR, _first, (Verbs.CHANGE,), CHANGE_S)
UNDO: Final = Question("undo", (RUN_ID, ASKER), _RUNS, Asker.OPERATOR, _first, (Verbs.UNDO,), CHANGE_S)
REPORT_RUN: Final = Question("report_run", (RUN_ID,), _RUNS, Asker.NOBODY, _first)
REPORT_RUNS: Final = Question("report_runs", (), _RUNS, Asker.NOBODY, None)

START_SWITCHING: Final = Question(
    "start_switching", (SwitchOrder, ASKER), (CacheSwitching,), Asker.OPERATOR, _pool, (Verbs.CHANGE,), CHANGE_S
)
# Who may ask for a change or for an undo may ask for that.
_EITHER: Final = (Verbs.UNDO, Verbs.CHANGE)
STOP_SWITCHING: Final = Question(
    "stop_switching", (POOL_GUID, ASKER), (CacheSwitching,), Asker.OPERATOR, _first, _EITHER, CHANGE_S
)
REPORT_SWITCHING: Final = Question("report_switching", (POOL_GUID,), (CacheSwitching,), Asker.NOBODY, None)

QUESTIONS: Final = (
    HEAR_FORMS,
    READ_INVENTORY,
    SAMPLE,
    WATCH_WAITING,
    TRACE_CURVE,
    STOP_CURVE,
    TRACE_COMMITS,
    STOP_COMMITS,
    COUNT_BLOCKS,
    MEASURE,
    SMART_SWEEP,
    START_SELF_TEST,
    START_SCRUB,
    NOTIFY,
    APPLY,
    FINISH,
    KEEP,
    UNDO,
    REPORT_RUN,
    REPORT_RUNS,
    START_SWITCHING,
    STOP_SWITCHING,
    REPORT_SWITCHING,
)

BY_VERB: Final[Mapping[str, Question]] = {question.verb: question for question in QUESTIONS}
TASKS: Final = frozenset(question.task for question in QUESTIONS)
"""All that a host does for a console."""


def told_by(answer: object) -> str | None:
    """The name of the host that an answer says it is of; None where its form has none."""
    if isinstance(answer, Inventory):
        return answer.host.node
    return getattr(answer, "node", None)
