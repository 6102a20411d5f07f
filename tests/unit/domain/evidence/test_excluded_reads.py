"""A cache is never praised for what may not enter it."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import GIB, KIB, MIB, TIB
from tests.unit.domain.evidence.pools import CACHE_LEAF, LEAVES, facts, readers


def dataset(name: str, secondary: str = "all", primary: str = "all", used: int = 0) -> DatasetFacts:
    return DatasetFacts(name, False, "standard", "latency", 128 * KIB, secondary, primary, used)


def pool_of(*datasets: DatasetFacts) -> PoolFacts:
    return replace(facts(), datasets=datasets)


def reading(**read_bytes: int) -> Sample:
    """A pool that would get "helps" for its ghosts: half of the misses were just dropped."""
    return replace(
        readers(), datasets=tuple(DatasetActivity(f"tank/{name}", read_bytes=n) for name, n in read_bytes.items())
    )


def with_arc(sample: Sample, **arc: int) -> Sample:
    return replace(sample, arc=replace(sample.arc, **arc))


def judged(sample: Sample, pool: PoolFacts) -> Verdict:
    return judge_cache(workload_of(sample, pool), pool, HISTORY)


def told(verdict: Verdict) -> tuple[Answer, str]:
    return verdict.answer, verdict.rule.code


@pytest.mark.parametrize(
    ("properties", "named"), [(("none", "all"), "secondarycache"), (("all", "none"), "primarycache")]
)
def test_a_pool_whose_readers_keep_out_of_caches_gets_no_praise_and_is_told_which(
    properties: tuple[str, str], named: str
) -> None:
    pool = pool_of(dataset("tank/vms", *properties), dataset("tank/home"))
    verdict = judged(reading(vms=900 * GIB, home=100 * GIB), pool)
    assert told(verdict) == (Answer.NO, "kept-out")
    assert f"tank/vms ({named}=none)" in str(verdict.rule)
    assert "90 %" in str(verdict.rule)
    assert verdict.beside == ()


def test_where_the_readers_may_enter_the_others_are_named_beside() -> None:
    pool = pool_of(dataset("tank/vms"), dataset("tank/media", "none"))
    verdict = judged(reading(vms=900 * GIB, media=100 * GIB), pool)
    assert told(verdict) == (Answer.HELPS, "ghosts")
    assert [each.code for each in verdict.beside] == ["kept-out-some"]
    assert "tank/media (secondarycache=none)" in str(verdict.beside[0])


def test_where_nobody_read_by_dataset_what_is_held_decides() -> None:
    pool = pool_of(dataset("tank/vms", "none", used=8 * TIB), dataset("tank/home", used=TIB))
    assert told(judged(readers(), pool)) == (Answer.NO, "kept-out")
    assert told(judged(reading(home=GIB), pool)) == (Answer.HELPS, "ghosts")


def test_metadata_only_is_a_case_of_its_own() -> None:
    pool = pool_of(dataset("tank/media", "metadata"), dataset("tank/home"))
    sample = reading(media=900 * GIB, home=100 * GIB)
    little = judged(with_arc(sample, metadata_misses=sample.arc.demand_misses // 100), pool)
    assert told(little) == (Answer.LITTLE, "metadata-only")
    unknown = judged(with_arc(sample, metadata_misses=sample.arc.demand_misses // 2), pool)
    assert told(unknown) == (Answer.CANNOT_TELL, "metadata-only")
    assert "tank/media (secondarycache=metadata)" in str(unknown.rule)
    assert "45 %" in str(unknown.rule)


def test_with_nothing_eligible_dropped_there_is_no_praise_whatever_the_properties_say() -> None:
    verdict = judged(with_arc(reading(home=GIB), evicted_eligible_bytes=0), pool_of(dataset("tank/home")))
    assert told(verdict) == (Answer.NO, "nothing-eligible")
    some = pool_of(dataset("tank/home"), dataset("tank/vms", "none"))
    named = judged(
        with_arc(reading(home=9 * GIB, vms=GIB), evicted_eligible_bytes=0, evicted_ineligible_bytes=MIB), some
    )
    assert told(named) == (Answer.NO, "nothing-eligible")
    assert "tank/vms (secondarycache=none)" in str(named.rule)


def test_a_cache_that_serves_nothing_because_nothing_may_enter_is_told_so() -> None:
    pool = replace(pool_of(dataset("tank/vms", "none")), leaves=(*LEAVES, CACHE_LEAF))
    wears = with_arc(reading(vms=GIB), l2_hits=1, l2_misses=99, l2_read_bytes=MIB, l2_written_bytes=GIB)
    assert told(judged(wears, pool)) == (Answer.NO, "kept-out")
    serves = with_arc(reading(vms=GIB), l2_hits=50, l2_misses=50, l2_read_bytes=GIB)
    assert told(judged(serves, pool)) == (Answer.HELPS, "cache-serves")
