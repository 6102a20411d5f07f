"""A cache that is switched on a simulated host: by its plan, counted, and always back in service, whatever happens."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample, VdevActivity
from nasadvisor.domain.evidence.switch_words import not_back, result_of
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder, run_id
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Permit, Ran
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.change.runs import NobodyAsks, RunHost, list_runs, show_run, undo_run
from nasadvisor.host.errors import CommandFailed, HostError, MachineUnreadable, RulesForbid
from nasadvisor.host.evidence.switch_carrier import TRY_AGAIN_S, SwitchCarrier
from nasadvisor.host.evidence.switch_steps import SwitchRuns
from nasadvisor.host.evidence.switching import (
    NoCacheToSwitch,
    NoSwitchingLength,
    NothingSwitched,
    SwitchHost,
    SwitchingUnderWay,
    end_before_undo,
    start_switching,
    stop_switching,
)
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.host.change.conftest import Killed
from tests.unit.machines import CACHE_GUID, TANK, with_cache, with_pool

ID = "6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11"
START = datetime(2026, 8, 25, 20, tzinfo=UTC)
ORDER = SwitchOrder(ID, TANK, pairs=8, period_s=600, settle_s=120)
TICK_S = 15
WITHOUT, WITH = 23, 19
"""Buckets of a histogram: what a read takes the devices without the cache, and a sixteenth of it."""


@dataclass
class Executor(SimulatedExecutor):
    """A simulated host on which something can go wrong at a step."""

    before: Callable[[Step], None] = lambda _step: None
    after: Callable[[Step], None] = lambda _step: None
    looked: list[str] = field(default_factory=list)
    overwritten: bool = False

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        self.looked.append(step.action)
        look = super().look(step, inventory, own)
        return replace(look, autoexpand=self.overwritten)

    def do(self, permit: Permit) -> Ran:
        self.before(permit.step)
        ran = super().do(permit)
        self.after(permit.step)
        return ran


@dataclass
class Pool:
    """A host whose clock is set by hand and whose worker looks when told to; what it reads depends on its cache."""

    root: Path
    executor: Executor = field(default_factory=lambda: Executor(with_cache()))
    now: datetime = START
    told: list[CacheSwitching] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    tick_s: int = TICK_S
    carrier: SwitchCarrier = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    @property
    def host(self) -> SwitchHost:
        runs = RunHost(
            node="nas",
            journals=self.root / "runs",
            locks=(self.root / "host.lock",),
            executor=lambda _: self.executor,
            clock=lambda: self.now,
        )
        return SwitchHost(runs, lambda: Counted(self))

    @property
    def state(self) -> str:
        pool = self.executor.state.pool(TANK)
        return pool.caches[0].state if pool and pool.caches else "gone"

    @property
    def record(self) -> CacheSwitching:
        return self.host.records.read(ID)

    def start(self, order: SwitchOrder = ORDER) -> CacheSwitching:
        return start_switching(self.host, order, "anna")

    def stop(self) -> CacheSwitching:
        return stop_switching(self.host, TANK, "ben", self.runs.append)

    def restart(self) -> None:
        self.carrier = SwitchCarrier(self.host, self.told.append, self.runs.append)

    def wait(self, seconds: float) -> None:
        """So many seconds of a worker that looks every few."""
        for _ in range(int(seconds // self.tick_s)):
            self.now += timedelta(seconds=self.tick_s)
            self.carrier.carry_on()

    def carry_out(self) -> None:
        self.wait(2 * ORDER.pairs * ORDER.period_s + 4 * self.tick_s)


@dataclass
class Counted:
    """Counts what the pool would have read since the last time, in the state in which its cache is."""

    pool: Pool
    since: datetime | None = None

    def sample(self) -> Reading:
        since, self.since = self.since, self.pool.now
        if since is None:
            return Reading()
        bucket = WITH if self.pool.state == "ONLINE" else WITHOUT
        seconds = (self.pool.now - since).total_seconds()
        reads = Histogram((*(0,) * bucket, int(seconds * 10)))
        vdevs = (VdevActivity("1", reads=reads),)
        datasets = (DatasetActivity("tank/vms", reads=int(seconds * 20)),)
        at = int(self.pool.now.timestamp())
        return Reading((Sample(TANK, "tank", at, seconds, datasets=datasets, vdevs=vdevs),))


@pytest.fixture(autouse=True)
def _no_disk_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power fails here: what a journal makes durable is tested where journals are."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


def test_it_follows_its_plan_and_ends_in_service(pool: Pool) -> None:
    record = pool.start()
    assert pool.state == "ONLINE"
    for number, period in enumerate(record.plan.periods()):
        pool.wait(ORDER.period_s / 2)
        assert pool.state == ("ONLINE" if period.in_service else "OFFLINE"), number
        pool.wait(ORDER.period_s / 2)
    pool.wait(60)
    assert pool.state == "ONLINE"
    assert pool.record.why_over
    assert pool.record.why_over.code == "switching-done"
    assert pool.record.ended_at
    assert pool.told[-1] == pool.record


def test_every_period_is_counted_and_the_effect_is_found(pool: Pool) -> None:
    pool.start()
    pool.carry_out()
    assert sorted(each.number for each in pool.record.seen) == list(range(16))
    effect, words = result_of(pool.record)
    assert effect is not None
    assert (effect.pairs, effect.is_found) == (8, True)
    assert effect.factor == pytest.approx(1 / 16)
    assert words.code == "switch-helps"


def test_each_switch_is_a_run_of_who_asked_and_goes_through_the_gate(pool: Pool) -> None:
    """As an administrator's: a journal, the rules and the look at the device, in both directions."""
    pool.start()
    pool.executor.looked.clear()
    pool.carry_out()
    runs = list_runs(pool.host.runs).runs
    assert {run.state for run in runs} == {RunState.UNDONE}
    assert {run.by for run in runs} == {"anna"}
    assert len(runs) == pool.record.plan.switches // 2
    assert pool.executor.looked.count("offline-cache") >= len(runs)
    assert pool.executor.looked.count("online-cache") >= len(runs)


def test_it_is_stopped_at_any_time_and_the_cache_is_back_at_once(pool: Pool) -> None:
    record = pool.start()
    away = next(each for each in record.plan.periods() if not each.in_service)
    pool.wait(away.start - record.plan.start + 60)
    assert pool.state == "OFFLINE"
    stopped = pool.stop()
    assert pool.state == "ONLINE"
    assert stopped.ended_at
    assert str(stopped.why_over) == "ben stopped the test early."
    pool.carry_out()
    assert pool.state == "ONLINE"
    with pytest.raises(NothingSwitched):
        pool.stop()


def test_one_at_a_time_on_a_host_and_the_same_order_once(pool: Pool) -> None:
    record = pool.start()
    assert pool.start() == record
    with pytest.raises(SwitchingUnderWay, match="A cache test of pool tank is already running"):
        start_switching(pool.host, replace(ORDER, id=ID.replace("6f", "7f")), "ben")
    pool.stop()
    assert start_switching(pool.host, replace(ORDER, id=ID.replace("6f", "7f")), "ben").id != ID


@pytest.mark.parametrize(
    "wrong",
    [
        *({"pairs": 7}, {"pairs": 241}, {"period_s": 59}, {"period_s": 86_401}, {"settle_s": 301}, {"settle_s": -1}),
        *({"id": "../../etc/passwd"}, {"id": ""}, {"id": ID.upper()}),
    ],
)
def test_a_plan_that_tells_nothing_or_has_no_end_is_refused(pool: Pool, wrong: dict[str, int]) -> None:
    with pytest.raises(NoSwitchingLength):
        pool.start(replace(ORDER, **wrong))  # type: ignore[arg-type]
    assert pool.host.records.ids() == ()


def test_what_a_rule_forbids_is_not_begun(pool: Pool) -> None:
    pool.executor.state = with_pool(with_cache(), checkpoint="1M")
    with pytest.raises(RulesForbid, match="checkpoint"):
        pool.start()
    pool.executor.state = with_cache("OFFLINE")
    with pytest.raises(RulesForbid, match="OFFLINE"):
        pool.start()
    pool.executor.state = with_cache()
    pool.executor.overwritten = True
    with pytest.raises(RulesForbid, match="autoexpand"):
        pool.start()
    assert pool.host.records.ids() == ()


def test_who_cannot_be_written_down_and_a_pool_without_a_cache_are_refused(pool: Pool) -> None:
    with pytest.raises(NobodyAsks):
        start_switching(pool.host, ORDER, "")
    with pytest.raises(RulesForbid, match="No imported pool"):
        start_switching(pool.host, replace(ORDER, pool_guid="1"), "anna")
    pool.executor.state = with_pool(with_cache(), caches=())
    with pytest.raises(NoCacheToSwitch):
        pool.start()


def until_out(pool: Pool) -> None:
    """Begin, and wait until the cache is out of service for the first time."""
    record = pool.start()
    away = next(each for each in record.plan.periods() if not each.in_service)
    pool.wait(away.start - record.plan.start + 60)
    assert pool.state == "OFFLINE"


def test_a_worker_that_ends_puts_it_back_and_the_next_one_goes_on(pool: Pool) -> None:
    until_out(pool)
    pool.carrier.rest()
    assert pool.state == "ONLINE"
    assert pool.record.is_under_way
    pool.restart()
    pool.wait(ORDER.period_s * 2)
    assert pool.record.is_under_way
    pool.carry_out()
    assert pool.state == "ONLINE"
    assert pool.record.ended_at
    assert len(pool.record.seen) >= 14


def test_a_worker_that_ends_waits_for_a_run_that_is_under_way(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("change.runs", "evidence.switch_steps"):
        monkeypatch.setattr(f"nasadvisor.host.{module}.LOCK_WAIT_S", 0.01)
    until_out(pool)
    begun, waited = Event(), Event()

    def work() -> None:
        with host_lock(pool.host.runs.locks, 1):
            begun.set()
            waited.wait(0.5)

    other = Thread(target=work)
    other.start()
    begun.wait(10)
    pool.carrier.rest()
    other.join()
    assert pool.state == "ONLINE"


def test_a_host_that_was_off_beyond_the_end_puts_it_back_at_its_start(pool: Pool) -> None:
    until_out(pool)
    pool.now += timedelta(days=30)
    pool.restart()
    pool.carrier.carry_on()
    assert pool.state == "ONLINE"
    assert pool.record.ended_at


@pytest.mark.parametrize("years", [-30, 30])
def test_a_clock_that_is_set_wrong_leaves_it_in_service(pool: Pool, years: int) -> None:
    until_out(pool)
    pool.now += timedelta(days=365 * years)
    pool.carrier.carry_on()
    assert pool.state == "ONLINE"


def test_while_the_pool_is_away_it_is_said_and_once_it_is_there_it_is_put_back(pool: Pool) -> None:
    until_out(pool)
    there = pool.executor.state
    pool.executor.state = replace(there, pools=())
    pool.now += timedelta(days=1)
    pool.carrier.carry_on()
    finding = not_back(pool.record)
    assert finding is not None
    assert "The randomised test left a cache of pool tank out of service" in str(finding)
    before = len(list(pool.root.rglob("journal.jsonl"))), _journal_bytes(pool)
    pool.wait(TRY_AGAIN_S * 5)
    assert (len(list(pool.root.rglob("journal.jsonl"))), _journal_bytes(pool)) == before
    pool.executor.state = there
    pool.wait(TRY_AGAIN_S + TICK_S)
    assert pool.state == "ONLINE"
    assert pool.record.problem is None
    assert pool.record.ended_at


def _journal_bytes(pool: Pool) -> int:
    return sum(path.stat().st_size for path in pool.root.rglob("journal.jsonl"))


def test_what_openzfs_would_not_take_back_is_said_and_tried_again(pool: Pool) -> None:
    until_out(pool)
    pool.executor.overwritten = True
    stopped = pool.stop()
    assert pool.state == "OFFLINE"
    assert stopped.problem
    assert stopped.problem.code == "cache-stays-out"
    assert not stopped.ended_at
    pool.executor.overwritten = False
    pool.wait(TRY_AGAIN_S + TICK_S)
    assert pool.state == "ONLINE"
    assert pool.record.problem is None
    assert pool.record.ended_at
    assert pool.told[-1] == pool.record


def test_a_command_that_fails_is_tried_again_and_said(pool: Pool) -> None:
    until_out(pool)

    def fail(step: Step) -> None:
        if step.action == "online-cache":
            raise CommandFailed("zpool online", 1, "cannot online", mutates=True)

    pool.executor.before = fail
    assert pool.stop().problem
    assert pool.state == "OFFLINE"
    pool.executor.before = lambda _step: None
    pool.wait(TRY_AGAIN_S + TICK_S)
    assert pool.state == "ONLINE"
    assert pool.record.problem is None


def test_while_another_run_is_under_way_nothing_is_switched(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("change.runs", "evidence.switch_steps", "evidence.switching"):
        monkeypatch.setattr(f"nasadvisor.host.{module}.LOCK_WAIT_S", 0.01)
    record = pool.start()
    first = next(each for each in record.plan.periods() if not each.in_service)
    with host_lock(pool.host.runs.locks, 1):
        pool.now = datetime.fromtimestamp(first.start + 5, UTC)
        pool.carrier.carry_on()
        assert pool.state == "ONLINE"
    pool.carrier.carry_on()
    assert pool.state == "OFFLINE"
    with host_lock(pool.host.runs.locks, 1):
        stopped = pool.stop()
        assert (bool(stopped.over_at), stopped.ended_at, stopped.problem) == (True, "", None)
    pool.carrier.carry_on()
    assert pool.state == "ONLINE"


def test_a_pool_that_resilvers_is_left_alone_and_those_periods_do_not_count(pool: Pool) -> None:
    record = pool.start()
    well = pool.executor.state
    pool.executor.state = with_pool(well, state="DEGRADED")
    pool.wait(2 * ORDER.period_s)
    assert pool.state == "ONLINE"
    assert not list_runs(pool.host.runs).runs
    pool.executor.state = well
    pool.carry_out()
    first = [each for each in list(record.plan.periods())[:2] if not each.in_service]
    assert len(first) == 1
    assert not any(each == first[0] for each in pool.record.values)
    assert pool.state == "ONLINE"


def test_what_an_administrator_takes_out_by_hand_stays_theirs(pool: Pool) -> None:
    """It is not put back by us, and what is seen meanwhile does not count as in service."""
    record = pool.start()
    pool.executor.state = with_cache("OFFLINE")
    pool.carry_out()
    assert pool.state == "OFFLINE"
    assert not [period for period in pool.record.values if period.in_service]
    assert not list_runs(pool.host.runs).runs
    assert pool.record.ended_at
    assert record.is_under_way


def test_a_cache_that_somebody_takes_out_of_the_pool_ends_it(pool: Pool) -> None:
    until_out(pool)
    pool.executor.state = with_pool(pool.executor.state, caches=())
    pool.carry_out()
    assert pool.record.why_over
    assert pool.record.why_over.code == "switching-cache-gone"
    assert pool.record.ended_at
    assert pool.record.problem is None


def test_an_undo_of_what_added_the_cache_ends_the_switching_first(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    until_out(pool)
    [ours] = list_runs(pool.host.runs).runs
    assert end_before_undo(pool.host, ours.id, pool.runs.append) is None, "the undo of a switch is none of the cache"
    adding = replace(ours, plan=replace(ours.plan, request=PlanRequest(TANK, cache_disks=("nvme1",))))
    monkeypatch.setattr("nasadvisor.host.evidence.switching.show_run", lambda _host, _run_id: adding)
    ended = end_before_undo(pool.host, "run-1", pool.runs.append)
    assert ended is not None
    assert ended.why_over
    assert ended.why_over.code == "switching-taken-back"
    assert pool.state == "ONLINE"
    assert end_before_undo(pool.host, "run-1", pool.runs.append) is None


@pytest.mark.parametrize("when", ["before it is asked", "after it was asked"])
def test_what_somebody_else_puts_back_meanwhile_is_no_problem(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Whoever ends it and the worker look at the same time: one of them finds the cache in service already."""
    pool.start()
    while pool.state == "ONLINE":
        pool.wait(TICK_S)
    asked = SwitchRuns._against

    def beside_another(runs: SwitchRuns, run: Run) -> tuple[Refused, ...]:
        found = asked(runs, run) if when == "after it was asked" else ()
        monkeypatch.setattr(SwitchRuns, "_against", asked)
        assert undo_run(pool.host.runs, run.id, "worker", pool.runs.append).state is RunState.UNDONE
        return found if when == "after it was asked" else asked(runs, run)

    monkeypatch.setattr(SwitchRuns, "_against", beside_another)
    stopped = pool.stop()
    assert pool.state == "ONLINE"
    assert (stopped.problem, bool(stopped.ended_at)) == (None, True)


def test_a_record_that_is_damaged_takes_nothing_out_and_what_was_is_put_back(pool: Pool) -> None:
    until_out(pool)
    path = pool.host.records.directory / f"{ID}.json"
    path.write_text(path.read_text().replace('"pairs": 8', '"pairs": 9'))
    pool.restart()
    pool.carry_out()
    assert pool.state == "ONLINE"
    assert len(list_runs(pool.host.runs).runs) == 1


def test_a_stop_while_the_cache_is_being_taken_out_wins(pool: Pool) -> None:
    """Somebody stops it on the command line in the very moment in which the worker takes the cache out."""

    def stop(step: Step) -> None:
        if step.action == "offline-cache":
            pool.executor.after = lambda _step: None
            at, records = pool.now.isoformat(), pool.host.records
            records.change(ID, lambda it: replace(it, over_at=at, ended_at=at))

    record = pool.start()
    pool.executor.after = stop
    away = next(each for each in record.plan.periods() if not each.in_service)
    pool.wait(away.start - record.plan.start + 60)
    assert pool.state == "ONLINE"


def test_a_run_that_nobody_knew_of_when_it_was_over_is_put_back_at_the_next_start(pool: Pool) -> None:
    until_out(pool)
    at = pool.now.isoformat()
    pool.host.records.change(ID, lambda it: replace(it, over_at=at, ended_at=at))
    pool.restart()
    pool.carrier.carry_on()
    assert pool.state == "ONLINE"


def test_each_period_is_tried_once_and_an_undo_by_hand_is_respected_for_it(pool: Pool) -> None:
    until_out(pool)
    [run] = list_runs(pool.host.runs).runs
    undo_run(pool.host.runs, run.id, "ben", pool.runs.append)
    pool.wait(60)
    assert pool.state == "ONLINE"
    assert show_run(pool.host.runs, run.id).state is RunState.UNDONE
    assert run.id in {run_id(ID, number, 0) for number in range(16)}


class Blind(Executor):
    """A host that cannot be read."""

    def inventory(self) -> Inventory:
        raise MachineUnreadable("zpool", "no answer")


def test_a_host_that_cannot_read_itself_says_so_and_goes_on_later(pool: Pool) -> None:
    until_out(pool)
    seeing = pool.executor
    pool.executor = Blind(seeing.state)
    pool.carry_out()
    assert pool.record.problem
    pool.executor = seeing
    pool.wait(TRY_AGAIN_S + TICK_S)
    assert pool.state == "ONLINE"


EVENTS = st.sampled_from(
    ("wait", "kill-before", "kill-after", "kill-at-record", "restart", "rest", "fail", "away", "back", "degraded")
)
EVENTS |= st.sampled_from(("blind", "stop", "busy", "clock", "by-hand"))


@dataclass
class Trouble:
    """What happens to a host while a cache is switched; each may end the worker in the middle of a command."""

    pool: Pool
    exported: Inventory | None = None

    def happen(self, event: str) -> None:
        with suppress(Killed, HostError):
            getattr(self, event.replace("-", "_"))()

    def wait(self) -> None:
        self.pool.wait(ORDER.period_s * 1.5)

    def restart(self) -> None:
        self._well()
        self.pool.restart()

    def rest(self) -> None:
        self.pool.carrier.rest()

    def stop(self) -> None:
        self.pool.stop()

    def clock(self) -> None:
        self.pool.now += timedelta(minutes=25)

    def kill_before(self) -> None:
        self._dies(before=self._die)

    def kill_after(self) -> None:
        self._dies(after=self._die)

    def kill_at_record(self) -> None:
        died = iter(range(3))

        def observe(_run: Run) -> None:
            if next(died, None) is None:
                raise Killed

        self.pool.carrier = SwitchCarrier(self.pool.host, self.pool.told.append, observe)
        self.wait()

    def fail(self) -> None:
        def fails(_step: Step) -> None:
            raise CommandFailed("zpool", 1, "no", mutates=True)

        self.pool.executor.before = fails
        self.wait()

    def away(self) -> None:
        if self.pool.executor.state.pools:
            self.exported = self.pool.executor.state
        self.pool.executor.state = replace(self.pool.executor.state, pools=())
        self.wait()

    def degraded(self) -> None:
        self._well()
        self.pool.executor.state = with_pool(self.pool.executor.state, state="DEGRADED")
        self.wait()

    def blind(self) -> None:
        seeing = self.pool.executor
        self.pool.executor = Blind(seeing.state)
        try:
            self.wait()
        finally:
            self.pool.executor = seeing

    def by_hand(self) -> None:
        for run in list_runs(self.pool.host.runs).runs[:1]:
            undo_run(self.pool.host.runs, run.id, "ben", self.pool.runs.append)

    def busy(self) -> None:
        with host_lock(self.pool.host.runs.locks, 1):
            self.pool.now += timedelta(seconds=ORDER.period_s)
            self.pool.carrier.carry_on()

    def back(self) -> None:
        self._well()

    def _dies(self, **when: Callable[[Step], None]) -> None:
        for name, what in when.items():
            setattr(self.pool.executor, name, what)
        try:
            self.wait()
        finally:
            self._well()
            self.pool.restart()

    @staticmethod
    def _die(_step: Step) -> None:
        raise Killed

    def _well(self) -> None:
        executor = self.pool.executor
        executor.before = executor.after = lambda _step: None
        if not executor.state.pools and self.exported:
            executor.state = self.exported
        executor.state = with_pool(executor.state, state="ONLINE")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=8))
def test_whatever_interrupts_it_the_cache_ends_in_service(
    events: list[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("change.runs", "evidence.switch_steps", "evidence.switching"):
        monkeypatch.setattr(f"nasadvisor.host.{module}.LOCK_WAIT_S", 0.01)
    pool = Pool(tmp_path_factory.mktemp("host"), tick_s=150)
    pool.start()
    trouble = Trouble(pool)
    for event in events:
        trouble.happen(event)
    trouble.restart()
    pool.carry_out()
    pool.wait(TRY_AGAIN_S + 2 * pool.tick_s)
    assert pool.state == "ONLINE"
    assert pool.record.ended_at
    assert pool.record.problem is None
    assert not any(run.is_in_place for run in list_runs(pool.host.runs).runs)
    assert {run.plan.request.offline_cache for run in list_runs(pool.host.runs).runs} <= {CACHE_GUID}
