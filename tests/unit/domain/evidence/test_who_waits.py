"""Who waits, in one sentence, and what spells change in the table of options."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.commits import SsdTime
from nasadvisor.domain.evidence.options import Option, OptionsTable, waits_of
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.verdict import Relief, Waiting
from nasadvisor.domain.evidence.waited import ProgramWaits, Wait, Waited
from nasadvisor.domain.evidence.who_waits import total_of, who_waits
from nasadvisor.domain.units import DAY_S, MINUTE_S
from tests.unit.domain.evidence.pools import facts, sync_writers
from tests.unit.domain.evidence.test_options import known

TESTED = SsdTime(200_000.0, 300_000.0, True)


def row(program: str, dataset: str, minutes: float) -> ProgramWaits:
    likely = minutes * MINUTE_S
    return ProgramWaits(program, dataset, Wait(likely * 0.9, likely, likely * 1.1), 3)


def waited(*rows: ProgramWaits) -> Waited:
    return Waited(total_of(each.wait for each in rows), rows, DAY_S, 3000.0, 300, 0.004)


def table(relief: Relief | None) -> OptionsTable:
    found = options_of(known(sync_writers(), facts(), ssd=TESTED))
    rows = tuple(replace(each, relief=relief) if each.option is Option.LOG else each for each in found.rows)
    return replace(found, rows=rows)


LOG = Relief(Waiting.COMMITS, 0.88, 0.97)


def test_it_names_the_program_its_time_the_dataset_and_what_a_log_takes() -> None:
    said = who_waits(waited(row("postgres", "tank/db", 41), row("nfsd", "tank/home", 2)), table(LOG))
    assert str(said) == (
        "postgres waits 41 min a day (37 min to 45 min), all of it on tank/db; a log takes 36 min to 40 min of it away."
    )


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ((row("postgres", "tank/db", 60), row("postgres", "tank/x", 40)), "who-waits-most"),
        ((row("postgres", "tank/db", 98), row("postgres", "tank/x", 2)), "who-waits-all"),
        ((row("postgres", "tank/db", 30), row("postgres", "tank/x", 30), row("postgres", "tank/y", 30)), ""),
        ((row("postgres", "", 30),), ""),
    ],
)
def test_of_several_datasets_it_says_how_much_is_of_the_first(rows: tuple[ProgramWaits, ...], code: str) -> None:
    said = who_waits(waited(*rows), table(None))
    assert said is not None
    where = said.values["where"]
    assert (where if isinstance(where, str) else where.code) == code
    assert said.values["log"] == ""


def test_the_program_is_the_one_that_waits_most_for_all_datasets_together() -> None:
    said = who_waits(waited(row("nfsd", "a", 40), row("qemu", "b", 30), row("qemu", "c", 30)), table(None))
    assert said is not None
    assert said.values["program"] == "qemu"


def test_where_nobody_waits_there_is_nothing_to_say_nor_of_the_rest_without_a_name() -> None:
    assert who_waits(waited(), table(LOG)) is None
    assert who_waits(waited(row("x", "tank/db", 0.001)), table(LOG)) is None
    assert who_waits(waited(row("", "", 90)), table(LOG)) is None


def test_a_log_that_takes_nothing_is_not_named() -> None:
    said = who_waits(waited(row("nfsd", "a", 40)), table(Relief(Waiting.COMMITS, 0.0, 0.0)))
    assert said is not None
    assert said.values["log"] == ""


class TestOptions:
    def test_what_was_traced_takes_the_place_of_the_estimate_and_a_log_is_weighed_against_it(self) -> None:
        counted = known(sync_writers(), facts(), ssd=TESTED)
        found = waited(row("postgres", "tank/db", 10_000))
        traced = replace(counted, waited=found)
        assert options_of(traced).waits.commits == found.total
        assert options_of(traced).waits.programs == found.programs
        assert waits_of(counted.workload).programs == ()
        before, after = (options_of(each).row(Option.LOG).relief for each in (counted, traced))
        assert before is not None
        assert before.high is not None
        assert after is not None
        assert after.high is not None
        ratio = found.total.likely_s / waits_of(counted.workload).of(Waiting.COMMITS)
        assert (1 - after.high) * ratio == pytest.approx(1 - before.high, rel=0.01)

    def test_it_needs_half_of_what_was_watched_or_half_a_day(self) -> None:
        short = replace(waited(row("x", "y", 3)), seconds=DAY_S / 4)
        assert short.is_enough_for(DAY_S / 2)
        assert not short.is_enough_for(DAY_S)
        assert replace(short, seconds=DAY_S / 2).is_enough_for(7 * DAY_S)
