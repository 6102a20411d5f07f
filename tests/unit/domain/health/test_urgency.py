"""Which of several findings is said first."""

from itertools import pairwise, permutations

import pytest

from nasadvisor.domain.health.disk_findings import CRITICAL_WARNINGS, ssd_health
from nasadvisor.domain.health.urgency import CAN_WAIT, FAILING, ORDER, worst_first
from nasadvisor.domain.statements import Finding, Level


def said(code: str, level: Level) -> Finding:
    return Finding(code, "Something.", {}, level)


def codes(*found: Finding) -> list[str]:
    return [each.code for each in worst_first(found)]


def test_a_level_goes_before_every_order() -> None:
    for worse, better in ((Level.CRITICAL, Level.WARNING), (Level.WARNING, Level.INFO)):
        for first in (*ORDER, "anything", *CAN_WAIT):
            assert codes(said("pool-suspended", better), said(first, worse))[0] == first


@pytest.mark.parametrize("level", list(Level))
def test_of_one_level_the_order_is_that_of_the_list_then_all_others_then_what_can_wait(level: Level) -> None:
    for first, second in pairwise((*ORDER, "anything", "host-older")):
        assert codes(said(second, level), said(first, level)) == [first, second]


def test_what_nobody_has_put_in_order_stays_as_it_was() -> None:
    assert codes(said("b", Level.WARNING), said("a", Level.WARNING)) == ["b", "a"]


def test_each_rule_has_one_place() -> None:
    assert len(set(ORDER)) == len(ORDER)
    assert not CAN_WAIT & set(ORDER)
    assert set(FAILING) == {"disk-failing", *(f"disk-{code}" for code in CRITICAL_WARNINGS)}


def test_the_orders_that_matter_most_are_these() -> None:
    for earlier, later in (
        ("pool-suspended", "data-errors"),
        ("data-errors", "pool-not-online"),
        ("pool-not-online", "disk-failing"),
        ("pool-member", "media-errors"),
        ("disk-failing", "power-loss-protection-failed"),
        ("log-missing", "power-loss-protection-failed"),
        ("media-errors", "worn"),
        ("reallocated-growing", "worn"),
        ("pending-sectors", "crc-growing"),
        ("worn", "too-hot"),
    ):
        assert ORDER.index(earlier) < ORDER.index(later)


def test_a_proposal_is_told_the_worst_whatever_comes_first() -> None:
    found = [said("too-hot", Level.WARNING), said("media-errors", Level.WARNING), said("disk-failing", Level.CRITICAL)]
    for order in permutations(found):
        problem = ssd_health(order, None, "").problem
        assert problem is not None
        assert problem.code == "disk-failing"
    assert ssd_health((said("reallocated-sectors", Level.INFO),), None, "").problem is None


COSTS_DATA_FIRST = (
    "pool-suspended",
    "data-errors",
    "pool-not-online",
    "pool-member",
    "disk-failing",
    "disk-media-read-only",
    "disk-reliability-degraded",
    "disk-spare-below-threshold",
    "disk-persistent-memory-unreliable",
    "log-lost",
    "log-missing",
    "log-failing",
    "power-loss-protection-failed",
    "disk-gone",
    "disk-unanswered",
    "device-errors",
    "media-errors",
    "pending-sectors",
    "self-test-failed",
    "disk-prefail",
    "reallocated-growing",
    "worn",
    "worn-soon",
    "crc-growing",
    "slow-io",
    "too-hot",
)
"""The policy, written down a second time, so that nobody changes it unawares. Others may be put between these."""


@pytest.mark.parametrize("level", list(Level))
def test_what_costs_data_first_is_said_first(level: Level) -> None:
    listed = (*COSTS_DATA_FIRST, "anything")
    assert codes(*(said(code, level) for code in reversed(listed))) == list(listed)


@pytest.mark.parametrize("code", ["scrub-old", "scrub-unknown", "host-older"])
def test_what_is_not_broken_yet_is_said_last(code: str) -> None:
    assert codes(said(code, Level.WARNING), said("anything", Level.WARNING)) == ["anything", code]


def test_what_can_wait_has_no_place_among_what_costs_data() -> None:
    assert not CAN_WAIT & set(ORDER)
