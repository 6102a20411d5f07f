"""Spells: which dataset a ZIL is of, what is summed up, and how well the range holds what was really waited."""

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.spell_datasets import (
    Bounds,
    CommitCounts,
    TracedSpell,
    ZilWait,
    bounds_of,
    candidates_of,
    names_of,
    remembered,
    spells_by_pool,
)
from nasadvisor.domain.evidence.spells import (
    LONGEST_NAME,
    MOST_PROGRAMS,
    PoolSpells,
    ProgramWait,
    Spell,
    SpellSums,
    WaitSums,
    added,
)
from nasadvisor.domain.evidence.waited import Wait, Waited, student_t, waited_of
from nasadvisor.domain.units import DAY_S

SPELL_S = 10


def counts(at_s: float, **commits: int) -> CommitCounts:
    return CommitCounts(int(at_s * 1e9), int(at_s * 1e9) + 1000, {f"tank/{name}": n for name, n in commits.items()})


def names(calls: dict[int, int], bounds: dict[str, Bounds]) -> dict[int, str]:
    return names_of(candidates_of(calls, bounds), bounds)


class TestDatasets:
    def test_what_was_counted_around_a_spell_is_the_most_and_within_it_the_least(self) -> None:
        seen = [counts(1, a=0), counts(4, a=10), counts(6, a=16), counts(9, a=90), counts(12, a=100), counts(20, a=999)]
        assert bounds_of(seen, int(5e9), int(11e9)) == {"tank/a": Bounds(74, 90)}

    def test_of_what_was_mounted_anew_or_read_too_late_nothing_is_known(self) -> None:
        assert bounds_of([counts(1, a=50), counts(12, a=3)], int(5e9), int(11e9)) == {}
        assert bounds_of([counts(6, a=50), counts(12, a=60)], int(5e9), int(11e9)) == {}

    def test_a_zil_that_fits_one_dataset_is_its_own(self) -> None:
        bounds = {"tank/a": Bounds(95, 105), "tank/b": Bounds(18, 22), "tank/idle": Bounds(0, 0)}
        assert names({1: 100, 2: 20}, bounds) == {1: "tank/a", 2: "tank/b"}

    def test_two_that_are_alike_have_no_name(self) -> None:
        bounds = {"tank/a": Bounds(95, 105), "tank/b": Bounds(96, 106)}
        assert names({1: 100, 2: 101}, bounds) == {}

    def test_the_last_one_that_is_left_is_found_by_the_others(self) -> None:
        bounds = {"tank/a": Bounds(95, 105), "tank/b": Bounds(90, 130)}
        assert names({1: 100, 2: 120}, bounds) == {1: "tank/a", 2: "tank/b"}

    def test_two_zils_that_fit_one_dataset_alone_have_no_name(self) -> None:
        assert names({1: 100, 2: 101}, {"tank/a": Bounds(95, 105)}) == {}

    def test_with_sync_disabled_nothing_is_counted_and_nothing_fits(self) -> None:
        assert names({1: 100}, {"tank/a": Bounds(0, 0)}) == {}

    def test_what_is_alike_in_one_spell_is_told_apart_by_the_next(self) -> None:
        known = remembered({}, {1: frozenset({"a", "b"}), 2: frozenset({"a", "b"})})
        known = remembered(known, {1: frozenset({"a", "c"}), 2: frozenset({"b", "c"})})
        assert known == {1: frozenset({"a"}), 2: frozenset({"b"})}
        assert remembered(known, {1: frozenset({"c"})})[1] == {"c"}  # mounted anew at that address

    @given(st.data())
    def test_a_name_that_is_given_is_the_right_one(self, data: st.DataObject) -> None:
        """Whatever was counted between the readings and the spell, and whichever datasets nobody called."""
        called = data.draw(st.lists(st.integers(0, 40), max_size=7))
        truth = {number: f"tank/{number}" for number in range(len(called))}
        slack = st.integers(0, 8)
        bounds = {
            truth[number]: Bounds(max(calls - data.draw(slack), 0), calls + data.draw(slack))
            for number, calls in enumerate(called)
        }
        found = names(dict(enumerate(called)), bounds)
        assert found.items() <= truth.items()

    def test_a_pool_is_known_without_its_dataset_and_each_pool_has_a_spell(self) -> None:
        waits = (ZilWait(1, "postgres", 3 * 10**9, 10, 2), ZilWait(2, "nfsd", 10**9, 5, 1), ZilWait(3, "x", 7, 1, 1))
        candidates = {1: frozenset({"tank/a", "tank/b"}), 2: frozenset({"tank/a", "rpool"}), 3: frozenset[str]()}
        traced = TracedSpell(0, 10 * 10**9, waits, 0.3)
        found = spells_by_pool(traced, candidates, {}, ("tank", "rpool"))
        assert found == {
            "tank": Spell(10.0, 10, (ProgramWait("postgres", "", 3.0, 10, 2),)),
            "rpool": Spell(10.0),
        }
        named = spells_by_pool(traced, candidates, {1: "tank/a", 2: "rpool"}, ("tank", "rpool"))
        assert named["rpool"].waits == (ProgramWait("nfsd", "rpool", 1.0, 5, 1),)

    def test_where_openzfs_counts_no_dataset_all_of_it_is_of_the_only_pool_and_of_several_of_none(self) -> None:
        traced = TracedSpell(0, 10**10, (ZilWait(1, "nfsd", 10**9, 5, 1),), 0.3)
        found = spells_by_pool(traced, {1: frozenset()}, {}, ("tank",))
        assert found == {"tank": Spell(10.0, 5, (ProgramWait("nfsd", "", 1.0, 5, 1),))}
        assert spells_by_pool(traced, {1: frozenset()}, {}, ("tank", "rpool")) == {}
        assert set(spells_by_pool(replace(traced, waits=()), {}, {}, ("tank", "rpool"))) == {"tank", "rpool"}

    def test_zils_without_a_name_are_one_row_of_a_program(self) -> None:
        waits = (ZilWait(1, "qemu", 10**9, 1, 1), ZilWait(2, "qemu", 10**9, 2, 1))
        either = frozenset({"tank/a", "tank/b"})
        found = spells_by_pool(TracedSpell(0, 1, waits, 0.0), {1: either, 2: either}, {}, ("tank",))
        assert found["tank"].waits == (ProgramWait("qemu", "", 2.0, 3, 2),)


def spell(commits: int, **waited: float) -> Spell:
    return Spell(SPELL_S, commits, tuple(ProgramWait(name, "tank/db", s, commits, 1) for name, s in waited.items()))


SPELLS = st.lists(st.builds(spell, st.integers(0, 50), a=st.floats(0, 100), b=st.floats(0, 100)), max_size=6)


class TestSums:
    @given(SPELLS, SPELLS)
    def test_hours_add_up_to_what_one_long_hour_would_have_been(self, first: list[Spell], second: list[Spell]) -> None:
        def summed(spells: list[Spell]) -> SpellSums:
            sums = SpellSums()
            for each in spells:
                sums = sums.with_spell(each)
            return sums

        apart, whole = summed(first) + summed(second), summed(first + second)
        assert (apart.spells, apart.commits, apart.spells_with_commits) == (
            whole.spells,
            whole.commits,
            whole.spells_with_commits,
        )
        assert apart.total.waited_squared == pytest.approx(whole.total.waited_squared)
        assert apart.total.waited_commits == pytest.approx(whole.total.waited_commits)

    def test_beyond_twenty_programs_the_rest_is_one_row_and_nothing_is_lost(self) -> None:
        waited = {f"p{number:02}": float(number + 1) for number in range(MOST_PROGRAMS + 9)}
        sums = SpellSums().with_spell(spell(1, **waited)).with_spell(spell(1, **waited))
        assert len(sums.programs) == MOST_PROGRAMS + 1
        assert sums.programs[0].program == "p28"
        assert sums.programs[-1].program == ""
        assert sum(each.waited_s for each in sums.programs) == pytest.approx(sums.total.waited_s)
        rest = sum(range(1, 10))
        assert sums.programs[-1].waited_s == 2 * rest
        assert sums.programs[-1].waited_squared >= 2 * rest**2 * 0.999

    def test_sums_that_cannot_be_are_refused(self) -> None:
        with pytest.raises(ValueError, match="below zero"):
            WaitSums(waited_s=math.nan)
        with pytest.raises(ValueError, match="below zero"):
            SpellSums(commits=-1)
        with pytest.raises(ValueError, match="no time"):
            SpellSums(spells=1)
        with pytest.raises(ValueError, match="long name"):
            WaitSums("x" * (LONGEST_NAME + 1))
        with pytest.raises(ValueError, match="more programs"):
            SpellSums(programs=(WaitSums(),) * (MOST_PROGRAMS + 2))
        with pytest.raises(ValueError, match="end after"):
            PoolSpells("1", 10, 9)


class Day:
    """A made-up day in slots of ten seconds: the commits of each, and what two programs waited for them."""

    def __init__(self, kind: str, random: Random) -> None:
        self.slots: list[tuple[int, float, float]] = []
        load, slow, left = 0.0, 0.0, 0.0
        most, each_s = random.uniform(3, 60), random.uniform(0.003, 0.04)
        for number in range(DAY_S // SPELL_S):
            load, slow = 0.98 * load + random.gauss(0, 0.2), 0.97 * slow + random.gauss(0, 0.1)
            if kind == "smooth":
                rate = most * math.sin(math.pi * number / 8640) ** 2 * math.exp(0.4 * load)
            elif kind == "bursts":
                left = random.expovariate(1 / 20) if left <= 0 and random.random() < 0.006 else left - 1
                rate = most * math.exp(0.5 * load) if left > 0 else 0.0
            else:
                rate = most * math.exp(0.5 * load) if 0.4 < number / 8640 < 0.48 else 0.05
            commits = max(round(random.gauss(rate * SPELL_S, math.sqrt(rate * SPELL_S))), 0)
            waited = commits * each_s * math.exp(slow) * (1 + rate / 50)
            share = min(max(random.gauss(0.7, 0.1), 0.0), 1.0)
            self.slots.append((commits, waited * share, waited * (1 - share)))

    @property
    def waited(self) -> float:
        return sum(a + b for _, a, b in self.slots)

    @property
    def waited_of_a(self) -> float:
        return sum(a for _, a, _ in self.slots)

    def traced(self, random: Random, block_s: float) -> PoolSpells:
        """As the host does it: a block of the clock for each spell, eight times as long while nobody commits."""
        sums = {True: SpellSums(), False: SpellSums()}
        counted = {True: [0, 0], False: [0, 0]}
        clock = begin = 0.0
        due, was_busy = random.random() * block_s, False
        for commits, a, b in self.slots:
            counted[was_busy][0] += SPELL_S
            counted[was_busy][1] += commits
            clock += SPELL_S if was_busy else SPELL_S / 8
            if clock >= due:
                one = spell(commits, a=a, b=b) if commits else Spell(SPELL_S)
                sums[was_busy] = sums[was_busy].with_spell(one)
                begin += block_s
                due = begin + random.random() * block_s
            was_busy = commits >= 3
        for is_busy, (seconds, commits) in counted.items():
            sums[is_busy] = replace(sums[is_busy], seconds=seconds, counted=commits)
        return PoolSpells("1", 0, DAY_S, sums[True], sums[False], 0.4 * (sums[True].spells + sums[False].spells))


def row_of(found: Waited, program: str) -> Wait:
    return next(each.wait for each in found.programs if each.program == program)


class TestEstimate:
    @pytest.mark.parametrize(
        ("kind", "block_s", "width"), [("smooth", 900, 1.35), ("bursts", 450, 2.0), ("an hour or two", 300, 1.6)]
    )
    def test_nine_of_ten_ranges_hold_what_was_waited_and_are_as_narrow_as_they_can_be(
        self, kind: str, block_s: float, width: float
    ) -> None:
        random = Random(f"spells {kind}")
        held, widths, right = [], [], []
        for _ in range(5):
            day = Day(kind, random)
            for _ in range(16):
                found = waited_of(day.traced(random, block_s))
                if found is None:
                    continue
                held.append(found.total.low_s <= day.waited <= found.total.high_s)
                held.append(row_of(found, "a").low_s <= day.waited_of_a <= row_of(found, "a").high_s)
                widths.append(found.total.high_s / found.total.low_s)
                right.append(found.total.likely_s / day.waited)
        assert len(right) >= 60
        assert sum(held) / len(held) >= 0.83
        assert sorted(widths)[len(widths) // 2] < width
        assert sum(right) / len(right) == pytest.approx(1.0, abs=0.05)

    def test_more_spells_make_it_narrower(self) -> None:
        random = Random("narrower")
        day = Day("smooth", random)
        few, many = (waited_of(day.traced(random, block_s)) for block_s in (1800, 150))
        assert few is not None
        assert many is not None
        assert many.total.high_s / many.total.low_s < few.total.high_s / few.total.low_s

    def test_busy_times_that_are_traced_more_often_do_not_count_more(self) -> None:
        busy, quiet = SpellSums(3600, 36_000), SpellSums(DAY_S - 3600, 8280)
        for _ in range(40):
            busy = busy.with_spell(spell(100, a=5.0))
        for _ in range(20):
            quiet = quiet.with_spell(spell(1, a=0.01))
        found = waited_of(PoolSpells("1", 0, DAY_S, busy, quiet))
        assert found is not None
        assert found.total.likely_s == pytest.approx(36_000 * 0.05 + 8280 * 0.01, rel=0.01)

    def test_where_openzfs_counts_no_commits_time_is_all_there_is_to_go_by(self) -> None:
        sums = SpellSums(DAY_S / 2)
        for number in range(30):
            sums = sums.with_spell(replace(spell(5, a=1.0 + number % 2), commits=0))
        found = waited_of(PoolSpells("1", 0, DAY_S // 2, quiet=sums))
        assert found is not None
        assert found.total.likely_s == pytest.approx(0.15 * DAY_S)
        assert found.total.low_s < found.total.likely_s < found.total.high_s

    def test_nobody_waits(self) -> None:
        sums = SpellSums(3600)
        for _ in range(20):
            sums = sums.with_spell(Spell(SPELL_S))
        found = waited_of(PoolSpells("1", 0, 3600, quiet=sums, cost_s=9.0))
        assert found is not None
        assert (found.total, found.programs, found.cost_share) == (Wait(0.0, 0.0, 0.0), (), 0.0025)

    def test_few_spells_or_few_with_commits_say_nothing(self) -> None:
        assert waited_of(None) is None
        sums = SpellSums(3600, 500)
        for _ in range(50):
            sums = sums.with_spell(Spell(SPELL_S))
        assert waited_of(PoolSpells("1", 0, 3600, quiet=sums)) is None
        for _ in range(8):
            sums = sums.with_spell(spell(3, a=0.1))
        assert waited_of(PoolSpells("1", 0, 3600, quiet=sums)) is not None
        assert waited_of(PoolSpells("1", 0, 3600, quiet=SpellSums(3600).with_spell(spell(3, a=0.1)))) is None

    def test_hours_are_added_up(self) -> None:
        assert added(()) is None
        first, second = PoolSpells("1", 0, 3600, SpellSums(10), cost_s=1.0), PoolSpells("1", 3600, 7200, SpellSums(20))
        assert added((second, first)) == PoolSpells("1", 0, 7200, SpellSums(30), cost_s=1.0)

    @pytest.mark.parametrize(("freedom", "value"), [(3, 2.353), (7, 1.895), (15, 1.753), (60, 1.671)])
    def test_student_t_is_that_of_the_tables(self, freedom: int, value: float) -> None:
        assert student_t(freedom) == pytest.approx(value, rel=0.001)


class TestAnHour:
    def test_a_large_host_is_one(self) -> None:
        sums = SpellSums(3600).with_spell(spell(10**6, a=50_000.0))
        assert PoolSpells("1", 0, 3600, sums, sums).is_an_hour

    @pytest.mark.parametrize(
        "spells",
        [
            PoolSpells("1", 0, 9000),
            PoolSpells("1", 0, 3600, SpellSums(9000.0)),
            PoolSpells("1", 0, 3600, SpellSums(counted=10**16)),
            PoolSpells("1", 0, 3600, SpellSums(total=WaitSums(waited_squared=1e29))),
        ],
    )
    def test_what_no_host_sums_up_in_an_hour_is_none(self, spells: PoolSpells) -> None:
        assert not spells.is_an_hour

    @given(st.floats(0, 1e15), st.floats(0.2, 1e15), st.integers(0, 10**15), st.integers(0, 250))
    def test_whatever_is_stored_can_be_estimated(self, waited: float, each_s: float, commits: int, n: int) -> None:
        whole = WaitSums("", "", waited, waited, waited)
        rows = (replace(whole, program="a"),)
        sums = SpellSums(7000.0, commits, n, n, n * each_s, commits // 2, waited, whole, rows)
        found = waited_of(added([PoolSpells("1", 0, 3600, sums, sums)] * 200))
        assert found is None or found.total.low_s <= found.total.likely_s <= found.total.high_s
