"""Special vdevs take the ZIL from OpenZFS 2.4 on; and what a log held is shown."""

from dataclasses import replace

from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.pool_facts import LeafFacts
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import GIB
from tests.unit.domain.evidence.pools import LEAVES, LOG_LEAF, facts, sync_writers

SPECIAL = LeafFacts("1", VdevClass.SPECIAL, "nvme0n1p1", "sda", False)
DATA = LeafFacts("5", VdevClass.NORMAL, "sdc", "sdc", True)


def judged(*leaves: LeafFacts, zfs: str, sample: Sample | None = None) -> Verdict:
    pool = facts(*leaves, zfs=zfs)
    return judge_log(workload_of(sample or sync_writers(), pool), pool, HISTORY)


def test_from_2_4_on_special_vdevs_do_what_a_log_would_and_a_log_is_not_praised() -> None:
    verdict = judged(DATA, SPECIAL, zfs="2.4.1-pve2")
    assert (verdict.answer, verdict.rule.code) == (Answer.CANNOT_TELL, "slow-flash")
    assert [each.code for each in verdict.beside] == ["special-takes-zil"]
    assert "of writes a day" in str(verdict.beside[0])


def test_before_2_4_they_do_not_and_it_is_said_what_an_update_would_do() -> None:
    verdict = judged(*LEAVES, replace(SPECIAL, guid="9"), zfs="2.3.9-1")
    assert (verdict.answer, verdict.rule.code) == (Answer.HELPS, "slow-commits")
    assert [each.code for each in verdict.beside] == ["special-later"]


def test_the_parameter_of_the_module_is_believed_before_its_number() -> None:
    pool = facts(*LEAVES, SPECIAL, zfs="2.3.99-1", zil_special_is_slog=0)
    assert pool.tunables.zil_on_special
    assert not facts(zfs="2.3.99-1").tunables.zil_on_special


def test_where_there_is_a_log_special_vdevs_do_not_matter_and_its_peak_is_shown() -> None:
    sample = sync_writers()
    sample = replace(sample, busy=replace(sample.busy, peak_log_bytes=3 * GIB))
    verdict = judged(*LEAVES, SPECIAL, LOG_LEAF, zfs="2.4.4-1", sample=sample)
    assert verdict.beside == ()
    assert ("Peak log usage", "3 GiB") in {(str(each.what), each.value) for each in verdict.evidence}
