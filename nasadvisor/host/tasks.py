"""What this host does for a console: a reader for each question of the catalogue, and the one way to them all.

Whichever question it is: its arguments are read first, then it is seen whether a console may ask it here, then its
reader answers; what stops it is told instead of an answer. A message can hold any JSON: what is no argument of the
question, in number, kind or form, is refused as a whole.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event, Lock
from typing import Any, Final

from celery import Celery

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet import questions as ask
from nasadvisor.domain.fleet.clocks import clock_findings
from nasadvisor.domain.fleet.permissions import ALL, Verbs, as_vetoes, may_not
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer, PlatformReport, no_platform
from nasadvisor.domain.fleet.questions import Argument, Order, Question, Seconds, Text
from nasadvisor.domain.fleet.schema_versions import Age, SchemaVersions, age_of
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.health.sweep import Answers, SelfTest, SelfTestStart
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.broker import CONSOLE_CLOCK
from nasadvisor.host.change.journal import JournalUnreadable, RunUnknown
from nasadvisor.host.change.lock import HostBusy
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, list_runs, seen, show_run, undo_run
from nasadvisor.host.change.trials import TrialWatch, end_trial, keep_run, move_trial
from nasadvisor.host.console_link import ConsoleLink
from nasadvisor.host.errors import CommandFailed, ConsoleMayNot, HostError, WatchOnly
from nasadvisor.host.evidence.evidence_tasks import EvidenceTasks, SwitchTasks
from nasadvisor.host.evidence.metadata import Counting, nobody_counts
from nasadvisor.host.evidence.switching import CounterReader, NothingRead, SwitchHost
from nasadvisor.host.evidence.trace_job import TraceJob, nobody_follows
from nasadvisor.host.fleet.platforms import nobody_notifies
from nasadvisor.host.health.sweep import HealthServices
from nasadvisor.stored.documents import DocumentError, from_document
from nasadvisor.stored.kinds import own_schema_versions

log = logging.getLogger(__name__)

CHANGES_POOLS: Final = (ask.APPLY, ask.UNDO, ask.FINISH)
"""Afterwards the host is read anew, so that the pages show at once what it led to."""


def read_arguments(question: Question, arguments: tuple[object, ...], named: Mapping[str, object]) -> list[Any]:
    """The arguments of a question, each as what it must be.

    Raises:
        DocumentError: there are more or less of them, some have names, or one is something else.
    """
    wanted = question.arguments
    if named or len(arguments) != len(wanted):
        raise DocumentError(f"it has {len(wanted)} arguments, not {len(arguments)} and {len(named)} by name")
    return [read(argument, value) for argument, value in zip(wanted, arguments, strict=True)]


def read(argument: Argument, value: object) -> Any:
    """One argument.

    Raises:
        DocumentError: it is something else.
    """
    match argument:
        case Text(what, pattern):
            if type(value) is str and re.fullmatch(pattern, value):
                return value
            raise DocumentError(f"{value!r:.80} is no {what}")
        case Seconds(what, least, most):
            if type(value) is int and least <= value <= most:
                return value
            raise DocumentError(f"{value!r:.80} is no {what}")
        case Order(form, id_text):
            order: Any = from_document(form, value)
            read(id_text, order.id)
            return order
        case _ if issubclass(argument, StrEnum):
            if type(value) is str and value in list(argument):
                return argument(value)
            raise DocumentError(f"there is no {argument.__name__} {value!r:.80}")
        case _:
            return from_document(argument, value)


@dataclass(frozen=True)
class HostTasks:
    """Who answers. `look` reads the host, `sample` its counters, `measure` writes to find out.

    `watch_waiting` traces which programs wait; `runs` is where runs happen. `app` is how the console is reached,
    `queue` where it listens to this node. `platform` asks the host's platform, `notifier` makes it send a message.
    `curve` follows reads, `commits` what goes to the ZILs, `count` counts blocks, `counters` are read anew for each
    period of a cache that is switched; `allowed` is what this host lets a console ask beyond looking, whichever it is.
    """

    app: Celery
    node: str
    look: Callable[[], Inventory]
    runs: RunHost
    sample: Callable[[], Reading]
    measure: Callable[[MeasureOrder, Callable[[MeasureProgress], None]], Measurement]
    health: HealthServices
    watch_waiting: Callable[[], WaitingPrograms]
    queue: str = "console"
    platform: Callable[[Inventory], PlatformReport] = no_platform
    notifier: Callable[[Notice], Statement | None] = nobody_notifies
    allowed: frozenset[Verbs] = ALL
    curve: TraceJob[CacheCurve] = field(default_factory=lambda: TraceJob(nobody_follows))
    commits: TraceJob[CommitTrace] = field(default_factory=lambda: TraceJob(nobody_follows))
    count: Counting = nobody_counts
    counters: Callable[[], CounterReader] = NothingRead
    link: ConsoleLink = field(init=False)
    evidence: EvidenceTasks = field(init=False)
    switches: SwitchTasks = field(init=False)
    _looking: Lock = field(default_factory=Lock)
    _look_wanted: Event = field(default_factory=Event)
    _trials: TrialWatch = field(init=False)

    def __post_init__(self) -> None:
        link = ConsoleLink(self.app, self.node, self.queue)
        evidence = EvidenceTasks(
            self.sample, self.measure, self.watch_waiting, self.curve, self.commits, self.count, link
        )
        switches = SwitchTasks(SwitchHost(self.runs, self.counters), link)
        made = {"link": link, "evidence": evidence, "switches": switches, "_trials": TrialWatch(self.runs)}
        for name, part in made.items():
            object.__setattr__(self, name, part)

    @property
    def readers(self) -> Mapping[Question, Callable[..., object]]:
        """Who answers which question; it is given the arguments as they were read."""
        return {
            ask.HEAR_FORMS: self.hear_forms,
            ask.READ_INVENTORY: self.read_inventory,
            ask.SAMPLE: self.evidence.take_sample,
            ask.WATCH_WAITING: self.evidence.take_waiting,
            ask.TRACE_CURVE: self.evidence.take_curve,
            ask.STOP_CURVE: self.curve.stop,
            ask.TRACE_COMMITS: self.evidence.take_commits,
            ask.STOP_COMMITS: self.commits.stop,
            ask.COUNT_BLOCKS: self.evidence.count_blocks,
            ask.MEASURE: self.evidence.take_measurement,
            ask.SMART_SWEEP: self.smart_sweep,
            ask.START_SELF_TEST: self.start_self_test,
            ask.START_SCRUB: self.start_scrub,
            ask.NOTIFY: self.notify,
            ask.APPLY: self.apply,
            ask.FINISH: lambda run_id, by: finish_run(self.runs, run_id, by, self.link.tell),
            ask.KEEP: lambda run_id, by: self.link.tell(keep_run(self.runs, run_id, by)),
            ask.UNDO: self.undo,
            ask.REPORT_RUN: self.report_run,
            ask.REPORT_RUNS: self.report_runs,
            ask.START_SWITCHING: self.switches.start,
            ask.STOP_SWITCHING: self.switches.stop,
            ask.REPORT_SWITCHING: self.switches.report,
        }

    def register(self) -> None:
        """Make each question a task of the app, and nothing else."""
        for question in self.readers:
            make = self.app.task(name=question.task, shared=False)  # else Celery gives it to every app of the process
            make(self._task_of(question))

    def _task_of(self, question: Question) -> Callable[..., None]:
        def task(*arguments: object, **named: object) -> None:
            self.answer(question, *arguments, **named)

        return task

    def answer(self, question: Question, /, *arguments: object, **named: object) -> None:
        """Answer a question, or tell why not. One with other arguments is no question of ours: nothing happens."""
        try:
            given = read_arguments(question, arguments, named)
        except DocumentError as error:
            log.warning("refused %s: %s", question.verb, error)
            return
        try:
            self._require_one_of(question.groups)
            self.readers[question](*given)
        except HostError as error:
            self._tell_error(question, question.about(*given) if question.about else "", error)
        if question in CHANGES_POOLS:
            self.read_inventory()

    def tell_forms(self) -> None:
        """Tell the console which forms of documents this release speaks; it answers with its own."""
        self.link.tell(own_schema_versions(self.node))

    def hear_forms(self, theirs: SchemaVersions) -> None:
        """Which forms the console speaks. That is only said: it refuses by itself what it cannot read."""
        if age_of(theirs, own_schema_versions(self.node)) is Age.OLDER:
            log.warning(
                "The console has an older release of NAS Advisor (%s) than this host, and cannot read all that it is "
                "told. Update it there; the command nasadvisor on this host shows and undoes everything.",
                theirs.release,
            )

    def read_inventory(self) -> None:
        """Look at the host and tell what is there, or why it cannot be seen.

        While that is being done, however often it is asked for, it is done once more afterwards: what was asked last
        is answered with what was there then, and a reading that hangs keeps one thread and not all.
        """
        self._look_wanted.set()
        while self._look_wanted.is_set() and self._looking.acquire(blocking=False):
            try:
                self._look_wanted.clear()
                inventory = self._looked()
                report = self.platform(inventory)
                clock = clock_findings(self.node, CONSOLE_CLOCK.ahead)
                self.link.tell(
                    replace(
                        report,
                        vetoes=(*report.vetoes, *as_vetoes(self.allowed)),
                        findings=(*report.findings, *self.switches.findings(), *clock),
                    )
                )
                self.link.tell(inventory)
            except HostError as error:
                self.link.tell_error(ask.READ_INVENTORY, "", error)
            finally:
                self._looking.release()

    def _looked(self) -> Inventory:
        """What is there. A pool that is exported between two commands makes the later one fail, and nobody need be
        told of that: a second look sees the host as it is then.
        """
        try:
            return self.look()
        except CommandFailed as error:
            log.info("inventory, looked again: %s", error)
            return self.look()

    def smart_sweep(self) -> None:
        """Ask every disk for its health and tell the answers as they come, then what the sweep was like."""
        report = self.health.sweep(lambda part: self.link.tell(Answers(self.node, part)))
        if report:
            self.link.tell(report)

    def start_self_test(self, disk_key: str, test: SelfTest, by: str) -> None:
        """Make a disk test itself; the result shows in later sweeps."""
        log.info("self-test %s of %s, asked for by %s", test, disk_key, by)
        self.health.start_test(disk_key, test)
        self.link.tell(SelfTestStart(self.node, disk_key))

    def start_scrub(self, pool_guid: str, by: str) -> None:
        """Scrub a pool; how far it is shows in the inventory."""
        log.info("scrub of %s, asked for by %s", pool_guid, by)
        self.health.start_scrub(pool_guid)
        self.link.tell(ScrubStart(self.node, pool_guid))
        self.read_inventory()

    def notify(self, notice: Notice, message_id: str) -> None:
        """Send a message by the means of the host's platform, and say that it went out."""
        answer = NoticeAnswer(message_id, self.notifier(notice))
        if answer.said:
            log.warning("message: %s", answer.said)
        self.link.tell(answer)

    def apply(self, plan: Plan, trial_s: int, by: str) -> None:
        """Apply a plan, if asked on trial; progress is told after every record."""
        apply_plan(self.runs, plan, by, self.link.tell, trial_s)

    def undo(self, run_id: str, by: str) -> None:
        """Take a run back."""
        self.switches.end_before_undo(run_id)
        undo_run(self.runs, run_id, by, self.link.tell)

    def end_trials(self) -> None:
        """Take back the runs whose trial is over. Not a task: the worker does it by its own clock."""
        for run_id, until in self._trials.moved().items():
            try:
                move_trial(self.runs, run_id, until, self.link.tell)
            except HostError as error:
                log.info("trial %s: its new end is said later: %s", run_id, error)
        for run_id in self._trials.due():
            try:
                self.switches.end_before_undo(run_id)
                end_trial(self.runs, run_id, self.link.tell)
            except HostBusy as error:
                log.info("trial %s waits: %s", run_id, error)
                continue
            except HostError as error:
                self._tell_error(ask.UNDO, run_id, error)
            self.read_inventory()

    def report_run(self, run_id: str) -> None:
        """Tell where a run stands. One that is unknown is not begun yet: its order may still be on the way."""
        try:
            self.link.tell(show_run(self.runs, run_id))
        except RunUnknown as error:
            log.info("run %s: %s", run_id, error)

    def report_runs(self) -> None:
        """Tell every run of this host, those of the command line and those that cannot be read included."""
        found = list_runs(self.runs, self.look)
        for run in (*found.unreadable, *found.runs):
            self.link.tell(run)
        self.switches.report_all()

    def _require_one_of(self, groups: tuple[Verbs, ...]) -> None:
        """See whether a console may ask for one of these here.

        Raises:
            WatchOnly: it may only look.
            ConsoleMayNot: it may ask for other things, but not for this.
        """
        if not groups or self.allowed.intersection(groups):
            return
        if not self.allowed:
            raise WatchOnly
        raise ConsoleMayNot(may_not(groups[-1]))

    def _tell_error(self, question: Question, about: str, error: HostError) -> None:
        """A journal that cannot be read is no error of one question: the run is told as what it is."""
        if isinstance(error, JournalUnreadable):
            unreadable = error.told_of(self.node, seen(self.look))
            log.warning("run %s: %s", unreadable.id, unreadable.said)
            self.link.tell(unreadable)
        else:
            self.link.tell_error(question, about, error)
