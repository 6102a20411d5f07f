"""Random histories: a plan is applied, cut off, finished and undone while somebody else works on the same machine.

An independent checker holds, after everything that the product did: nothing of anybody else's was changed; no ending
is untrue; and once what only people can mend is mended, the run can be brought to its end.
"""

import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nasadvisor.domain.change.device_scan import Step
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.units import MIB
from nasadvisor.host.change.journal import RunUnknown
from nasadvisor.host.change.runs import RunHost, WrongMoment, apply_plan, finish_run, show_run, undo_run
from nasadvisor.host.errors import HostError
from tests.unit.histories.executor import Killed, ModelExecutor
from tests.unit.histories.foreign import Foreigner
from tests.unit.histories.world import ONE, TWO, World, new_world
from tests.unit.machines import TANK

SHAPES = (
    PlanRequest(TANK, (ONE, TWO), 128 * MIB, (ONE, TWO), 512 * MIB),
    PlanRequest(TANK, (ONE,), 128 * MIB),
    PlanRequest(TANK, (), 0, (ONE, TWO), 512 * MIB),
    PlanRequest(TANK, (ONE, TWO), 128 * MIB, (ONE,), 512 * MIB, use_free_extents=True),
)
ENDED = (RunState.UNDONE, RunState.PUT_BACK, RunState.REFUSED)


@dataclass
class History:
    """One history; everything in it follows from its number."""

    number: int
    root: Path
    world: World = field(default_factory=new_world)
    told: list[str] = field(default_factory=list)
    said: str = ""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.number)
        self.cuts_left = -1
        self.is_quiet = True
        self.now = datetime(2026, 8, 25, 20, tzinfo=UTC)
        self.host = RunHost("nas", self.root / "runs", (self.root / "lock",), lambda _: self._executor(), self._clock)
        self.begin()

    def begin(self) -> None:
        """Choose what is planned, and who else is there."""
        self.plan = self.planned(self.chance.choice(SHAPES), "run")
        self.somebody = Foreigner(self.world, self.plan, self.chance)

    def planned(self, request: PlanRequest, name: str) -> Plan:
        uuids = tuple(f"30000000-0000-4000-8000-{self.number:08d}{n:04d}" for n in range(12))
        ids = PlanIds(f"{name}-{self.number}", "2026-08-25T20:00:00Z", uuids)
        plan = make_plan(request, self.world.inventory(), ids)
        assert isinstance(plan, Plan), plan
        return plan

    def run(self) -> RunState:
        """Apply, then whatever comes; the state in which it ends once all is mended."""
        if self.chance.random() < 0.3:
            self.somebody.act()
        self._stretch(lambda: apply_plan(self.host, self.plan, "root", self._watch))
        for _ in range(self.chance.randrange(5)):
            self._go_on()
        self.somebody.heal()
        self.told.append("healed")
        for _ in range(4):
            if self._state() in ENDED:
                break
            self._stretch(lambda: undo_run(self.host, self.plan.id, "root", self._watch), quiet=True)
            self.somebody.clear_labels(self.said)
        return self._state()

    def _go_on(self) -> None:
        for _ in range(self.chance.randrange(3)):
            self.somebody.act()
        if self.chance.random() < 0.4:
            self._stretch(lambda: finish_run(self.host, self.plan.id, "root", self._watch))
        else:
            self._stretch(lambda: undo_run(self.host, self.plan.id, "root", self._watch))

    def _stretch(self, work: object, *, quiet: bool = False) -> None:
        self.cuts_left = -1 if quiet or self.chance.random() < 0.4 else self.chance.randrange(40)
        self.is_quiet = quiet
        ended: Run | None = None
        try:
            assert callable(work)
            ended = work()
        except Killed:
            self.told.append("killed")
        except (WrongMoment, RunUnknown) as error:
            self.told.append(type(error).__name__)
        except HostError as error:
            self.told.append(str(error))
        if ended:
            self.said = " ".join(map(str, ended.refusals))
            self.told.append(f"{ended.state} {[refusal.code for refusal in ended.refusals]}")
        self._check(ended)

    def _executor(self) -> ModelExecutor:
        return ModelExecutor(self.world, self._cut, self._after)

    def _clock(self) -> datetime:
        self.now += timedelta(seconds=self.chance.randrange(-60, 120))
        return self.now

    def _cut(self) -> bool:
        self.cuts_left -= 1
        return self.cuts_left == 0

    def _watch(self, run: Run) -> None:
        if self._cut():
            raise Killed

    def _after(self, step: Step) -> None:
        """Right after a step somebody may do something; it is seen with the next look at the host."""
        self.told.append(step.action)
        if not self.is_quiet and self.chance.random() < 0.1:
            self.somebody.act()
            self.told.append(f"({self.somebody.did[-1]})")

    def _state(self) -> RunState:
        try:
            return show_run(self.host, self.plan.id).state
        except RunUnknown:
            return RunState.REFUSED

    def _check(self, ended: Run | None) -> None:
        for claim in self.somebody.claims:
            each = next(each for each in self.world.ssds if each.name == claim.ssd)
            assert claim.is_there(each), f"{claim.ssd} lost {claim.what}: {self.story}"
        if ended is None:
            return
        if ended.state in (RunState.UNDONE, RunState.PUT_BACK):
            self._check_undone(ended)
        if ended.state is RunState.APPLIED and not ended.refusals:
            self._check_applied()

    def _check_undone(self, ended: Run) -> None:
        found = [found for piece in self.plan.slices for found in self.world.find(piece.partuuid)]
        left = [part.partuuid for each, part in found if not each.blind]
        assert left == [], f"slices left: {self.story}"
        paths = {piece.partuuid_path for piece in self.plan.slices}
        assert not paths & self.world.used_paths().keys(), f"a pool still uses a slice: {self.story}"
        if "ssds-as-before" in [finding.code for finding in ended.findings]:
            now = {each.disk.key: Area(bytes(each.head), bytes(each.tail)) for each in self.world.ssds}
            changed = [key for key, area in self.world.before.items() if now[key] != area]
            assert changed == [], f"not as before: {changed} {self.story}"

    def _check_applied(self) -> None:
        for piece in self.plan.slices:
            assert len(self.world.find(piece.partuuid)) == 1, f"no slice: {self.story}"
            assert piece.partuuid_path in self.world.used_paths(), f"not in the pool: {self.story}"

    def has_no_way_out(self) -> bool:
        """Whether what somebody has there keeps the run from its end."""
        return self.somebody.sits_on({piece.partuuid for piece in self.plan.slices})

    @property
    def story(self) -> str:
        """What happened, for whoever has to understand it."""
        return f"history {self.number}: {' '.join(self.told)} | {' '.join(self.somebody.did)}"


def histories(first: int, count: int, kind: type[History] = History) -> Counter[RunState]:
    """So many histories one after another; in how many the run came to which end."""
    ends: Counter[RunState] = Counter()
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as root:
            history = kind(number, Path(root))
            end = history.run()
            ends[end] += 1
            assert end in ENDED or history.has_no_way_out(), f"no way out, {end}: {history.story}"
    return ends


def test_a_table_that_somebody_changed_and_a_deletion_tore_is_found_again() -> None:
    """Another disk GUID between two steps of an undo, and the power fails while the next one writes."""
    assert histories(3025, 1) == {RunState.UNDONE: 1}


def test_a_label_of_a_pool_that_was_destroyed_while_its_ssd_was_out_has_a_way_out_by_hand() -> None:
    """Whatever the pool said when it was destroyed, an SSD that was not there does not know it."""
    assert histories(6887, 1) == {RunState.UNDONE: 1}


def test_a_label_of_a_log_that_never_joined_its_pool_has_a_way_out_by_hand_after_a_reguid() -> None:
    """The power failed while the log was added, and the pool has another guid than the plan knows since."""
    assert histories(10150, 1) == {RunState.UNDONE: 1}


@pytest.mark.slow
def test_whatever_happens_nothing_of_anybody_is_lost_and_no_ending_is_untrue() -> None:
    ends = histories(1, 300)
    print(dict(ends))
    assert ends[RunState.UNDONE] > 100


@pytest.mark.long
def test_ten_thousand_histories() -> None:
    print(dict(histories(1000, 10_000)))
