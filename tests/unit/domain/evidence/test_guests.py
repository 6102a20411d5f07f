"""Where other machines' disks are written asynchronously, "nobody waits" is not the whole answer."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts, Served
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import KIB
from tests.unit.domain.evidence.pools import DAY, LEAVES, LOG_LEAF, async_writers, facts

PER_S = 120
WRITTEN = DatasetActivity("tank/esx", writes=PER_S * int(DAY), written_bytes=PER_S * int(DAY) * 16 * KIB)


def judged(served: Served, sync: str = "standard", *, is_volume: bool = True, commits: int = 0) -> Verdict:
    sample: Sample = replace(async_writers(), datasets=(replace(WRITTEN, commits=commits),))
    dataset = DatasetFacts("tank/esx", is_volume, sync, "latency", 16 * KIB, served=served)
    pool: PoolFacts = replace(facts(), datasets=(dataset,))
    return judge_log(workload_of(sample, pool), pool, HISTORY)


@pytest.mark.parametrize(
    ("served", "how"),
    [(Served.BLOCK, "iSCSI/FC"), (Served.NFS_ASYNC, "NFS async"), (Served.VM_UNSAFE, "cache=unsafe")],
)
def test_nobody_waits_is_right_for_speed_and_the_risk_is_named_with_what_a_log_would_take(
    served: Served, how: str
) -> None:
    verdict = judged(served, is_volume=served is not Served.NFS_ASYNC)
    assert (verdict.answer, verdict.rule.code) == (Answer.NO, "no-commits")
    [risk] = verdict.beside
    assert risk.code == "guests-at-risk"
    said = str(risk)
    assert f"tank/esx ({how})" in said
    assert "sync=always" in said
    assert "120 writes/s, 1.88 MiB/s, 158 GiB a day" in said


def test_with_sync_always_nothing_is_at_risk() -> None:
    assert judged(Served.BLOCK, "always").beside == ()


def test_with_sync_disabled_the_rule_itself_says_what_is_lost() -> None:
    verdict = judged(Served.BLOCK, "disabled")
    assert (verdict.rule.code, verdict.beside) == ("sync-disabled", ())


def test_of_a_volume_that_nobody_flushes_it_is_asked() -> None:
    assert [each.code for each in judged(Served.NO).beside] == ["guests-unknown"]
    assert judged(Served.NO, is_volume=False).beside == ()


@pytest.mark.parametrize("served", [Served.NO, Served.BLOCK])
def test_a_guest_whose_flushes_arrive_is_as_safe_as_on_a_disk(served: Served) -> None:
    assert judged(served, commits=int(DAY) // 10).beside == ()


def test_with_a_log_it_is_said_that_the_log_would_take_it() -> None:
    sample = replace(async_writers(), datasets=(WRITTEN,))
    dataset = DatasetFacts("tank/esx", True, "standard", "latency", 16 * KIB, served=Served.BLOCK)
    pool = replace(facts(), datasets=(dataset,), leaves=(*LEAVES, LOG_LEAF))
    [risk] = judge_log(workload_of(sample, pool), pool, HISTORY).beside
    assert "The log would then take all of it" in str(risk)
