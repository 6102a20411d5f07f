"""The Celery tasks of a host: thin, over the services, one queue a node.

They take JSON documents, each read by `arguments` before anything happens, and answer by sending documents to the
console's queue; there is no result backend, and the database is never seen. Mutating tasks are acknowledged before they
start and never retried: the plan's id lets a run happen once, and what was left half done by a crash is the user's to
decide.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event, Lock

import kombu.exceptions
import redis.exceptions
from celery import Celery

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence.commits import CommitTrace
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.clocks import clock_findings
from nasadvisor.domain.fleet.joining import ConsoleAccess, bracketed, console_queue, host_queue, unacknowledged, user_of
from nasadvisor.domain.fleet.permissions import ALL, Verbs, as_vetoes, may_not
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer, PlatformReport, no_platform
from nasadvisor.domain.fleet.spoken import Age, Spoken, age_of
from nasadvisor.domain.health.sweep import Answers, DiskAnswer, SelfTest
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host import arguments
from nasadvisor.host.arguments import reads
from nasadvisor.host.broker import CONSOLE_CLOCK, CarefulAmqp
from nasadvisor.host.change.journal import JournalUnreadable, RunUnknown
from nasadvisor.host.change.lock import HostBusy
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, list_runs, seen, show_run, undo_run
from nasadvisor.host.change.trials import TrialWatch, end_trial, keep_run, move_trial
from nasadvisor.host.config import HostConfig
from nasadvisor.host.errors import CommandFailed, ConsoleMayNot, HostError, WatchOnly
from nasadvisor.host.evidence.evidence_tasks import EvidenceTasks
from nasadvisor.host.evidence.metadata import Counting, nobody_counts
from nasadvisor.host.evidence.switch_tasks import SwitchTasks
from nasadvisor.host.evidence.switching import Counters, NothingRead, SwitchHost
from nasadvisor.host.evidence.trace_job import TraceJob, nobody_follows
from nasadvisor.host.fleet.platforms import nobody_notifies
from nasadvisor.host.health.sweep import HealthServices
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.spoken import spoken

log = logging.getLogger(__name__)

UNREACHABLE = (kombu.exceptions.OperationalError, redis.exceptions.RedisError, OSError)


def celery_app(config: HostConfig) -> Celery:
    """A Celery app that listens to this node's queue only, and takes messages with care (`broker`)."""
    app = Celery("host", broker=config.redis_url, set_as_current=False, amqp=CarefulAmqp)
    app.conf.update(
        task_default_queue=host_queue(config.node),
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=False,
        task_publish_retry=False,
        broker_connection_retry_on_startup=True,
        # Forever: a Redis that is down for long must not end a worker that may be in the middle of a run.
        broker_connection_max_retries=None,
        # What cannot be published is asked for again; to wait for Redis would hold up the run (kombu: 2 s and more).
        broker_transport_options={
            "socket_connect_timeout": 3,
            "socket_timeout": 10,
            "max_retries": 1,
            "interval_start": 0,
        },
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
    )
    if config.access:
        _reach(app, config.access)
    return app


def _reach(app: Celery, access: ConsoleAccess) -> None:
    """Make the app speak to a console on another machine, with TLS and as the user of this node only.

    The rights of that user (`nasadvisor.console.fleet.remote.access`) cover the keys that these options name, and no
    other.
    """
    options = {**app.conf.broker_transport_options, **unacknowledged(access.node), "priority_steps": [0]}
    app.conf.update(
        broker_url=f"rediss://{user_of(access.node)}:{access.password}@{bracketed(access.address)}:{access.port}/0",
        broker_use_ssl={"ssl_ca_data": access.authority, "ssl_cert_reqs": "required", "ssl_check_hostname": True},
        broker_transport_options=options,
    )


def queue_to_console(config: HostConfig) -> str:
    """Where the console listens to this node: all nodes of its own machine share a queue, others have their own."""
    return console_queue(config.node) if config.access else "console"


@dataclass(frozen=True)
class HostTasks:
    """What the tasks do. `look` reads the host, `sample` its counters, `measure` writes to find out.

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
    counters: Callable[[], Counters] = NothingRead
    evidence: EvidenceTasks = field(init=False)
    switches: SwitchTasks = field(init=False)
    _looking: Lock = field(default_factory=Lock)
    _look_wanted: Event = field(default_factory=Event)
    _trials: TrialWatch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_trials", TrialWatch(self.runs))
        object.__setattr__(self, "evidence", self._evidence())
        host = SwitchHost(self.runs, self.counters)
        object.__setattr__(self, "switches", SwitchTasks(host, self._publish, self._require, self._observe))

    def _evidence(self) -> EvidenceTasks:
        return EvidenceTasks(
            sample=self.sample,
            measure=self.measure,
            watch_waiting=self.watch_waiting,
            curve=self.curve,
            commits=self.commits,
            count=self.count,
            publish=self._publish,
            require=self._require,
        )

    def tell_forms(self) -> None:
        """Tell the console which forms of documents this release speaks; it answers with its own."""
        self._publish("console.store_spoken", to_document(spoken(self.node)))

    @reads(arguments.document(Spoken))
    def hear_forms(self, theirs: Spoken) -> None:
        """Which forms the console speaks. That is only said: it refuses by itself what it cannot read."""
        if age_of(theirs, spoken(self.node)) is Age.OLDER:
            log.warning(
                "The console has an older release of NAS Advisor (%s) than this host, and cannot read all that it is "
                "told. Update it there; the command nasadvisor on this host shows and undoes everything.",
                theirs.release,
            )

    @reads()
    def read_inventory(self) -> None:
        """Look at the host and publish what is there, or why it cannot be seen.

        While that is being done, however often it is asked for, it is done once more afterwards: what was asked last
        is answered with what was there then, and a reading that hangs keeps one thread and not all.
        """
        self._look_wanted.set()
        while self._look_wanted.is_set() and self._looking.acquire(blocking=False):
            try:
                self._look_wanted.clear()
                self._look_and_tell()
            finally:
                self._looking.release()

    def _look_and_tell(self) -> None:
        try:
            inventory = self._looked()
        except HostError as error:
            log.warning("inventory: %s", error)
            self._publish("console.store_inventory_error", to_document(error.statement))
        else:
            self._publish("console.store_platform", to_document(self._platform_report(inventory)))
            self._publish("console.store_inventory", to_document(inventory))

    def _looked(self) -> Inventory:
        """What is there. A pool that is exported between two commands makes the later one fail, and nobody need be
        told of that: a second look sees the host as it is then.
        """
        try:
            return self.look()
        except CommandFailed as error:
            log.info("inventory, looked again: %s", error)
            return self.look()

    @reads()
    def smart_sweep(self) -> None:
        """Ask every disk for its health and publish the answers as they come, then what the sweep was like."""
        try:
            report = self.health.sweep(self._publish_answers)
        except HostError as error:
            log.warning("sweep: %s", error)
            self._publish("console.store_sweep_error", to_document(error.statement))
        else:
            if report:
                self._publish("console.store_sweep", to_document(report))

    @reads(arguments.disk_key, arguments.member(SelfTest), arguments.asker)
    def start_self_test(self, disk_key: str, test: SelfTest, by: str) -> None:
        """Make a disk test itself; the result shows in later sweeps."""
        log.info("self-test %s of %s, asked for by %s", test, disk_key, by)
        try:
            self._require(Verbs.MEASURE)
            self.health.start_test(disk_key, test)
        except HostError as error:
            log.warning("self-test of %s: %s", disk_key, error)
            self._publish("console.store_self_test_start", disk_key, to_document(error.statement))
        else:
            self._publish("console.store_self_test_start", disk_key, None)

    @reads(arguments.document(Notice), arguments.message_id)
    def notify(self, notice: Notice, message_id: str) -> None:
        """Send a message by the means of the host's platform, and say what became of it."""
        try:
            answer = NoticeAnswer(message_id, is_sent=True, said=self.notifier(notice))
        except HostError as error:
            answer = NoticeAnswer(message_id, is_sent=False, said=error.statement)
        if answer.said:
            log.warning("message: %s", answer.said)
        self._publish("console.store_notice_answer", to_document(answer))

    @reads(arguments.document(Plan), arguments.asker, arguments.trial_length, defaults=(0,))
    def apply(self, plan: Plan, by: str, trial_s: int) -> None:
        """Apply a plan, if asked on trial; progress is published after every record."""
        self._reporting(plan.id, Verbs.CHANGE, lambda: apply_plan(self.runs, plan, by, self._observe, trial_s))

    @reads(arguments.run_id, arguments.asker)
    def undo(self, run_id: str, by: str) -> None:
        """Take a run back."""

        def work() -> None:
            self.switches.end_before_undo(run_id)
            undo_run(self.runs, run_id, by, self._observe)

        self._reporting(run_id, Verbs.UNDO, work)

    @reads(arguments.run_id, arguments.asker)
    def finish(self, run_id: str, by: str) -> None:
        """Do the rest of an interrupted run."""
        self._reporting(run_id, Verbs.CHANGE, lambda: finish_run(self.runs, run_id, by, self._observe))

    @reads(arguments.run_id, arguments.asker)
    def keep(self, run_id: str, by: str) -> None:
        """Keep a run that is on trial; nothing else changes on the host."""
        try:
            self._require(Verbs.CHANGE)
            self._observe(keep_run(self.runs, run_id, by))
        except HostError as error:
            self._publish_stopped(run_id, error)

    def end_trials(self) -> None:
        """Take back the runs whose trial is over. Not a task: the worker does it by its own clock."""
        for run_id, until in self._trials.moved().items():
            try:
                move_trial(self.runs, run_id, until, self._observe)
            except HostError as error:
                log.info("trial %s: its new end is said later: %s", run_id, error)
        for run_id in self._trials.due():
            try:
                self.switches.end_before_undo(run_id)
                end_trial(self.runs, run_id, self._observe)
            except HostBusy as error:
                log.info("trial %s waits: %s", run_id, error)
                continue
            except HostError as error:
                self._publish_stopped(run_id, error)
            self.read_inventory()

    @reads(arguments.run_id)
    def report_run(self, run_id: str) -> None:
        """Publish where a run stands. One that is unknown is not begun yet: its order may still be on the way."""
        try:
            self._observe(show_run(self.runs, run_id))
        except RunUnknown as error:
            log.info("run %s: %s", run_id, error)
        except HostError as error:
            self._publish_stopped(run_id, error)

    @reads()
    def report_runs(self) -> None:
        """Publish every run of this host, those of the command line and those that cannot be read included."""
        found = list_runs(self.runs, self.look)
        for unread in found.unreadable:
            self._publish_unreadable(unread)
        for run in found.runs:
            self._observe(run)
        self.switches.report_all()

    def register(self) -> None:
        """Make these the tasks of the app."""
        tasks: dict[str, Callable[..., None]] = {
            "host.hear_forms": self.hear_forms,
            "host.read_inventory": self.read_inventory,
            "host.smart_sweep": self.smart_sweep,
            "host.start_self_test": self.start_self_test,
            "host.notify": self.notify,
            "host.apply": self.apply,
            "host.undo": self.undo,
            "host.finish": self.finish,
            "host.keep": self.keep,
            "host.report_run": self.report_run,
            "host.report_runs": self.report_runs,
            **self.evidence.verbs,
            **self.switches.verbs,
        }
        for name, task in tasks.items():
            self.app.task(name=name, shared=False)(task)  # else Celery gives it to every other app of the process

    def _require(self, group: Verbs) -> None:
        if not self.allowed:
            raise WatchOnly
        if group not in self.allowed:
            raise ConsoleMayNot(may_not(group))

    def _platform_report(self, inventory: Inventory) -> PlatformReport:
        report = self.platform(inventory)
        return replace(
            report,
            vetoes=(*report.vetoes, *as_vetoes(self.allowed)),
            findings=(
                *report.findings,
                *self.switches.findings(),
                *clock_findings(self.node, CONSOLE_CLOCK.ahead),
            ),
        )

    def _reporting(self, run_id: str, group: Verbs, work: Callable[[], object]) -> None:
        try:
            self._require(group)
            work()
        except HostError as error:
            self._publish_stopped(run_id, error)
        self.read_inventory()  # so that the pages show at once what it led to

    def _publish_stopped(self, run_id: str, error: HostError) -> None:
        if isinstance(error, JournalUnreadable):
            self._publish_unreadable(error.told_of(self.node, seen(self.look)))
            return
        log.warning("run %s: %s", run_id, error)
        self._publish("console.store_run_error", run_id, to_document(error.statement))

    def _publish_unreadable(self, run: UnreadableRun) -> None:
        log.warning("run %s: %s", run.id, run.said)
        self._publish("console.store_unreadable_run", to_document(run))

    def _publish_answers(self, part: tuple[DiskAnswer, ...]) -> None:
        self._publish("console.store_answers", to_document(Answers(self.node, part)))

    def _observe(self, run: Run) -> None:
        self._publish("console.store_run", to_document(run))

    def _publish(self, task: str, *arguments: object) -> None:
        """Send to the console; if nobody can be reached the run goes on, and the console asks again later."""
        try:
            self.app.send_task(task, args=[self.node, *arguments], queue=self.queue, retry=False)
        except UNREACHABLE as error:
            log.warning("%s could not be published: %s", task, error)
