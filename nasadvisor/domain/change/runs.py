"""The life of a run, folded from its journal.

The journal is a list of records in the order in which they were made durable. `fold` turns them into a `Run`; nothing
else decides what state a run is in. Times are UTC in ISO 8601.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from nasadvisor.domain.change.actions import Action, Argv, Outcome, UndoAction
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import GONE_WITH_DISK
from nasadvisor.domain.statements import Finding, Refused, Statement


class RunState(StrEnum):
    """Where a run stands. Final for good: REFUSED, PUT_BACK, UNDONE. APPLIED can still be undone."""

    APPLYING = "applying"
    APPLIED = "applied"
    REFUSED = "refused"  # nothing was changed
    UNDOING = "undoing"
    UNDONE = "undone"
    PUTTING_BACK = "putting-back"
    PUT_BACK = "put-back"  # a step failed; what had been done was taken back
    INTERRUPTED = "interrupted"  # the worker or the machine died; [Finish] and [Undo] are offered
    ATTENTION = "attention"  # neither forwards nor back worked; says what to do


class StepState(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    STARTED = "started"
    DONE = "done"
    SKIPPED = "skipped"  # it need not or must not run; the note says why
    FAILED = "failed"


class Goal(StrEnum):
    """What a stretch of a run is for."""

    APPLY = "apply"
    FINISH = "finish"  # apply what is left after an interruption
    UNDO = "undo"
    PUT_BACK = "put-back"  # undo after a failed step

    @property
    def is_forwards(self) -> bool:
        """Whether it does the plan, rather than take it back."""
        return self in (Goal.APPLY, Goal.FINISH)


@dataclass(frozen=True)
class DiskImage:
    """The sectors before the first and after the last usable one of a disk, base64, as they were before the run."""

    disk_key: str
    table_uuid: str
    head_base64: str
    tail_base64: str


@dataclass(frozen=True)
class CommandRan:
    """One command and its answer, kept for people."""

    argv: Argv
    code: int
    stdout: str
    stderr: str
    seconds: float


@dataclass(frozen=True)
class Started:
    """A stretch begins. The first record of a run; it holds the plan. `by` is who asked for it.

    `trial_s` is for how long the run shall be tried once it is applied, 0 for good.
    """

    at: str
    goal: Goal
    plan: Plan
    by: str
    trial_s: int = 0
    record: Literal["started"] = "started"


@dataclass(frozen=True)
class Continued:
    """A further stretch of the same run begins, with the actions it will take."""

    at: str
    goal: Goal
    by: str
    undo: tuple[UndoAction, ...] = ()
    record: Literal["continued"] = "continued"


@dataclass(frozen=True)
class Intent:
    """About to act. For the first step on a disk, `image` is what its table looked like."""

    at: str
    goal: Goal
    step: int
    image: DiskImage | None = None
    record: Literal["intent"] = "intent"


@dataclass(frozen=True)
class Done:
    """The step acted and was verified, or was found done when the host was read again (`found`)."""

    at: str
    goal: Goal
    step: int
    outcome: Outcome
    ran: tuple[CommandRan, ...] = ()
    found: bool = False
    record: Literal["done"] = "done"


@dataclass(frozen=True)
class TableLeft:
    """The table area of a disk as a step of this run left it, packed by `domain.change.tables`.

    Written before the step's result, and only if everything in the area was ours before the step.
    """

    at: str
    goal: Goal
    step: int
    disk_key: str
    packed: str
    record: Literal["table-left"] = "table-left"


@dataclass(frozen=True)
class Failed:
    """The step did not do what it should. `sentence` says what happened and in which state things are."""

    at: str
    goal: Goal
    step: int
    sentence: Statement
    ran: tuple[CommandRan, ...] = ()
    record: Literal["failed"] = "failed"


@dataclass(frozen=True)
class Skipped:
    """An undo step that must not or need not run, and why."""

    at: str
    goal: Goal
    step: int
    sentence: Statement
    record: Literal["skipped"] = "skipped"


@dataclass(frozen=True)
class Ended:
    """A stretch came to its end."""

    at: str
    state: RunState
    refusals: tuple[Refused, ...] = ()
    findings: tuple[Finding, ...] = ()
    record: Literal["ended"] = "ended"


@dataclass(frozen=True)
class Kept:
    """Somebody keeps a run that was on trial."""

    at: str
    by: str
    record: Literal["kept"] = "kept"


@dataclass(frozen=True)
class TrialEnded:
    """The time of a trial is over. The undo that was asked for with it begins now, this once."""

    at: str
    record: Literal["trial-ended"] = "trial-ended"


@dataclass(frozen=True)
class TrialMoved:
    """The trial ends at another time by the wall clock than was said; `why` says so to people."""

    at: str
    until: str
    why: Finding
    record: Literal["trial-moved"] = "trial-moved"


Record = Started | Continued | Intent | TableLeft | Done | Failed | Skipped | Ended | Kept | TrialEnded | TrialMoved


@dataclass(frozen=True)
class Step:
    """A step as the user sees it. `number` is its place in the plan, or in the undo list."""

    number: int
    what: Statement
    commands: tuple[Argv, ...]
    state: StepState = StepState.PENDING
    started_at: str = ""
    ended_at: str = ""
    note: Statement | None = None
    ran: tuple[CommandRan, ...] = ()


@dataclass(frozen=True)
class Trial:
    """A run that is taken back by itself unless somebody keeps it.

    `until` is when, "" before the run is applied: its time runs from then on. `kept_by` and `kept_at` tell who kept it;
    `ended_at` is when its time was over and the undo that was asked for with it was begun.
    """

    seconds: int
    until: str = ""
    kept_by: str = ""
    kept_at: str = ""
    ended_at: str = ""


@dataclass(frozen=True)
class Run:
    """A plan being applied or undone, as its journal tells it. `seq` is the number of records folded so far."""

    id: str
    node: str
    plan: Plan
    state: RunState
    by: str
    started_at: str
    ended_at: str
    seq: int
    steps: tuple[Step, ...]
    undo_steps: tuple[Step, ...] = ()
    refusals: tuple[Refused, ...] = ()
    findings: tuple[Finding, ...] = ()
    trial: Trial | None = None

    @property
    def can_undo(self) -> bool:
        """Whether the user may ask for an undo now: also for the rest of one that could not reach a disk."""
        if self.state in (RunState.UNDONE, RunState.PUT_BACK):
            return any(finding.code == GONE_WITH_DISK for finding in self.findings)
        if self.state is RunState.APPLIED:
            return self.plan.has_way_back
        return self.state in (RunState.INTERRUPTED, RunState.ATTENTION)

    @property
    def can_finish(self) -> bool:
        """Whether the user may ask for the rest now; not once an undo has begun."""
        return self.state is RunState.INTERRUPTED and not self.undo_steps

    @property
    def can_keep(self) -> bool:
        """Whether there is a trial to end by keeping the run, also one that could not be taken back in time."""
        return self.state is RunState.APPLIED and self.trial is not None and not self.trial.kept_at

    @property
    def is_on_trial(self) -> bool:
        """Whether it will be taken back by itself."""
        return self.can_keep and self.trial is not None and not self.trial.ended_at

    @property
    def is_in_place(self) -> bool:
        """Whether it may have left something on the host: it was begun, and nothing says that all is taken back."""
        return self.state not in (RunState.REFUSED, RunState.PUT_BACK, RunState.UNDONE)

    @property
    def begun(self) -> Plan:
        """The plan as far as it was begun: what an undo has to take back at the most."""
        steps = zip(self.steps, self.plan.actions, strict=True)
        begun = tuple(action for step, action in steps if step.state is not StepState.PENDING)
        return replace(self.plan, actions=begun)

    @property
    def is_active(self) -> bool:
        """Whether a worker should be at it now."""
        return self.state in ACTIVE


ACTIVE = frozenset({RunState.APPLYING, RunState.UNDOING, RunState.PUTTING_BACK})

_STATE_OF_GOAL = {
    Goal.APPLY: RunState.APPLYING,
    Goal.FINISH: RunState.APPLYING,
    Goal.UNDO: RunState.UNDOING,
    Goal.PUT_BACK: RunState.PUTTING_BACK,
}


def steps_of(actions: Iterable[Action] | Iterable[UndoAction]) -> tuple[Step, ...]:
    """Fresh steps for a list of actions."""
    return tuple(Step(number, action.describe(), action.commands()) for number, action in enumerate(actions))


def fold(records: Iterable[Record], node: str) -> Run:
    """The run that a journal tells of.

    Raises:
        ValueError: if the journal does not begin with `Started`, has another one, or tells of what cannot be; nothing
            else is raised, whatever stands in the records.
    """
    run: Run | None = None
    try:
        for record in records:
            if isinstance(record, Started):
                if run is not None:
                    raise ValueError("The journal holds the start of a second run.")
                run = Run(
                    id=record.plan.id,
                    node=node,
                    plan=record.plan,
                    state=RunState.APPLYING,
                    by=record.by,
                    started_at=record.at,
                    ended_at="",
                    seq=1,
                    steps=steps_of(record.plan.actions),
                    trial=Trial(record.trial_s) if record.trial_s else None,
                )
            elif run is None:
                raise ValueError("The journal does not begin with the start of a run.")
            elif isinstance(record, TableLeft):
                run = replace(run, seq=run.seq + 1)
            else:
                run = _next(run, record)
    except ArithmeticError as error:  # a sector of no bytes, a trial that lasts beyond the calendar
        raise ValueError("A record of the journal holds a number that cannot be.") from error
    if run is None:
        raise ValueError("The journal is empty.")
    return run


def as_interrupted(run: Run) -> Run:
    """The same run when nobody is at it although its journal has no end."""
    return replace(run, state=RunState.INTERRUPTED) if run.is_active else run


def _next(
    run: Run, record: Continued | Intent | Done | Failed | Skipped | Ended | Kept | TrialEnded | TrialMoved
) -> Run:
    run = replace(run, seq=run.seq + 1)
    match record:
        case Continued():
            undo = steps_of(record.undo) if record.undo else run.undo_steps
            state = _STATE_OF_GOAL[record.goal]
            return replace(run, state=state, undo_steps=undo, ended_at="", refusals=(), findings=())
        case Ended():
            return replace(
                run,
                state=record.state,
                ended_at=record.at,
                refusals=record.refusals,
                findings=record.findings,
                trial=_trial_at_end(run, record),
            )
        case Kept():
            return _change_trial(run, kept_by=record.by, kept_at=record.at)
        case TrialEnded():
            return _change_trial(run, ended_at=record.at)
        case TrialMoved():
            others = tuple(finding for finding in run.findings if finding.code != record.why.code)
            return _change_trial(replace(run, findings=(*others, record.why)), until=record.until)
        case Intent():
            return _change(run, record, state=StepState.STARTED, started_at=record.at)
        case Done():
            return _change(run, record, state=StepState.DONE, ended_at=record.at, ran=record.ran)
        case Failed():
            return _change(
                run, record, state=StepState.FAILED, ended_at=record.at, note=record.sentence, ran=record.ran
            )
        case Skipped():
            return _change(run, record, state=StepState.SKIPPED, ended_at=record.at, note=record.sentence)


def _trial_at_end(run: Run, record: Ended) -> Trial | None:
    """The trial begins when what was planned is there; a refused undo does not make it longer."""
    if run.trial is None or run.state is not RunState.APPLYING or record.state is not RunState.APPLIED:
        return run.trial
    ended_at = datetime.fromisoformat(record.at)
    if ended_at.tzinfo is None:
        raise ValueError("The journal tells of an end without saying in which time zone.")
    until = ended_at + timedelta(seconds=run.trial.seconds)
    return replace(run.trial, until=until.isoformat(timespec="milliseconds"))


def _change_trial(run: Run, **changes: str) -> Run:
    return replace(run, trial=replace(run.trial, **changes)) if run.trial else run  # type: ignore[arg-type]


def _change(run: Run, record: Intent | Done | Failed | Skipped, **changes: object) -> Run:
    if record.goal in (Goal.UNDO, Goal.PUT_BACK):
        return replace(run, undo_steps=_changed(run.undo_steps, record.step, changes))
    return replace(run, steps=_changed(run.steps, record.step, changes))


def _changed(steps: tuple[Step, ...], number: int, changes: dict[str, object]) -> tuple[Step, ...]:
    return tuple(replace(step, **changes) if step.number == number else step for step in steps)  # type: ignore[arg-type]
