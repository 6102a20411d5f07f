"""The shopping list: each number with what makes it; and what each choice costs a year."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.shopping import Price, ShoppingList, YearlyCost, shopping_of, yearly_costs
from tests.unit.domain.evidence.pools import LEAVES, LOG_LEAF, async_writers, facts, readers, sync_writers
from tests.unit.domain.evidence.test_curve import CLIFF
from tests.unit.domain.evidence.test_options import known


def lists(pool: Known) -> dict[Option, ShoppingList]:
    return {each.option: each for each in shopping_of(pool, options_of(pool))}


def test_for_a_log_it_names_protection_flush_endurance_and_size() -> None:
    found = lists(known(sync_writers()))[Option.LOG]
    said = {each.what.code: (str(each.what), str(each.because)) for each in found.needs}
    assert found.count == 2
    assert said["need-flush"][0] == (
        "A synchronous write of 4 KiB, including its flush, in at most 0.30 ms; 1 at a time."
    )
    assert "60 commits/s" in said["need-flush"][1]
    assert said["need-endurance"][0] == "Endurance of at least 182.6 TB written (TBW): 100.0 GB a day for 5 years."
    assert said["need-size"][0] == "At least 1 GiB."
    assert said["need-size"][1].startswith("because synchronous writes peaked at")
    assert "Power-loss protection" in said["need-protection"][0]


def test_more_that_wait_at_once_are_more_writers() -> None:
    pool = known(sync_writers(commits_per_s=240))
    assert "4 at a time" in " ".join(str(each.what) for each in lists(pool)[Option.LOG].needs)


def test_for_a_cache_no_protection_is_asked_for() -> None:
    found = lists(known(readers()))[Option.CACHE]
    assert [each.what.code for each in found.needs] == ["need-size", "need-most-endurance", "need-no-protection"]
    assert str(found.needs[0].what) == "At least 40 GiB."
    big = replace(CLIFF, block_bytes=1024 * CLIFF.block_bytes)
    by_curve = lists(known(readers(), curve=big))[Option.CACHE]
    assert str(by_curve.needs[0].what) == "At least 200 GiB."
    assert by_curve.needs[0].because.code == "need-size-curve"


def test_nothing_is_to_be_bought_that_would_gain_nothing_or_is_there() -> None:
    assert lists(known(async_writers())) == {}
    assert lists(known(readers(ghost_share=0.01))) == {}
    assert lists(known(sync_writers(), facts(*LEAVES, LOG_LEAF))) == {}
    assert lists(known(sync_writers(seconds=60))) == {}, "too little was watched"


def test_what_wears_out_sooner_costs_more_a_year() -> None:
    table = options_of(known(readers()))
    prices = {Option.CACHE: Price(120, rated_terabytes=146.1), Option.MEMORY: Price(5), Option.LOG: Price(80)}
    assert [(each.option, each.at_once) for each in yearly_costs(table, prices)] == [
        (Option.MEMORY, 40),
        (Option.CACHE, 120),
    ]
    assert [each.years for each in yearly_costs(table, prices)] == [5, pytest.approx(2)]
    assert [each.per_year for each in yearly_costs(table, prices)] == [8, pytest.approx(60)]


def test_a_mirrored_log_is_two_ssds_and_lasts_no_longer_than_it_shall() -> None:
    table = options_of(known(sync_writers()))
    assert yearly_costs(table, {Option.LOG: Price(80, rated_terabytes=10_000)}) == (YearlyCost(Option.LOG, 160, 5),)
    assert yearly_costs(table, {}) == yearly_costs(table, {Option.LOG: Price(0)}) == ()


@pytest.mark.parametrize("price", [-1, float("nan"), float("inf")])
def test_a_price_is_a_number(price: float) -> None:
    with pytest.raises(ValueError, match="price"):
        Price(price)
