"""What a proposal is told of the evidence."""

import pytest

from nasadvisor.domain.evidence.recommendation import Recommendation
from nasadvisor.domain.evidence.verdict import Answer, Device, Verdict
from nasadvisor.domain.evidence.wanted import NOTHING_SEEN, wanted_by
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import GIB

WHY = Statement("why", "Because.")
SIZE = Recommendation(75 * GIB, WHY, is_measured=True)


def verdict(device: Device, answer: Answer) -> Verdict:
    return Verdict(device, answer, WHY, (), 60.0)


@pytest.mark.parametrize("answer", Answer)
def test_only_what_helps_is_wanted_and_the_rule_says_why(answer: Answer) -> None:
    wanted = wanted_by(verdict(Device.LOG, answer), verdict(Device.CACHE, answer), SIZE, SIZE)
    assert {wanted.log.helps, wanted.cache.helps} == {answer is Answer.HELPS}
    assert wanted.cache.size_bytes == wanted.log.size_bytes == 75 * GIB
    assert wanted.log.because == wanted.cache.because == WHY


def test_a_cache_of_unknown_size_is_not_wanted() -> None:
    helps = verdict(Device.CACHE, Answer.HELPS)
    assert not wanted_by(verdict(Device.LOG, Answer.NO), helps, SIZE, None).cache.helps


def test_nothing_is_wanted_of_a_pool_that_nobody_watched() -> None:
    assert not NOTHING_SEEN.log.helps
    assert not NOTHING_SEEN.cache.helps
    assert "has not been recorded yet" in str(NOTHING_SEEN.log.because)
