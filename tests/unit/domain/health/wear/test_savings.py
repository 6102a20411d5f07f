"""What would take bytes off the bill of an SSD: only what the bill and the properties of its pools show."""

from dataclasses import replace

from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts, Served
from nasadvisor.domain.health.wear.bill import BillLine, Payee, WearBill, bill_of
from nasadvisor.domain.health.wear.savings import Saving, savings_of
from nasadvisor.domain.units import GIB, KIB, MIB
from tests.unit.domain.evidence.pools import LOG_LEAF
from tests.unit.domain.health.wear.test_laid import dataset


def pool(*datasets: DatasetFacts) -> PoolFacts:
    return PoolFacts("9", "tank", "", datasets)


def bill(*lines: BillLine) -> WearBill:
    return bill_of(100 * GIB, lines)


def small_writes(rewritten: int = 60 * GIB, each: int = 8 * KIB) -> BillLine:
    logical = 10 * GIB
    return BillLine(Payee.DATASET, "tank/db", logical + rewritten, logical, logical // each, rewritten)


def codes(found: tuple[Saving, ...]) -> list[str]:
    return [each.statement.code for each in found]


def test_smaller_records_save_what_larger_ones_rewrote() -> None:
    [found] = savings_of(bill(small_writes()), [pool(dataset())])
    assert "`zfs set recordsize=16K tank/db`" in str(found.statement)
    assert 50 * GIB < found.device_bytes < 60 * GIB


def test_a_name_with_a_blank_is_one_word_of_the_command() -> None:
    line = BillLine(Payee.DATASET, "tank/my db", 70 * GIB, 10 * GIB, 10 * GIB // (8 * KIB), 60 * GIB)
    [found] = savings_of(bill(line), [pool(dataset("tank/my db"))])
    assert "`zfs set recordsize=16K 'tank/my db'`" in str(found.statement)


def test_a_volume_keeps_its_blocks_so_no_command_is_named() -> None:
    [found] = savings_of(bill(small_writes()), [pool(dataset(is_volume=True))])
    assert found.statement.code == "wear-volume-blocks"
    assert "`" not in str(found.statement)


def test_records_that_fit_or_rewrite_little_are_left_alone() -> None:
    assert savings_of(bill(small_writes()), [pool(dataset(record=16 * KIB))]) == ()
    assert savings_of(bill(small_writes(each=MIB)), [pool(dataset())]) == ()
    assert savings_of(bill(small_writes(rewritten=GIB)), [pool(dataset())]) == ()
    assert savings_of(bill(small_writes()), [pool()]) == ()


def test_the_zil_on_the_pool_could_lie_on_another_ssd_and_always_makes_more_of_it() -> None:
    line = BillLine(Payee.DATASET, "tank/db", 50 * GIB, 20 * GIB, 20 * 1024, zil_bytes=30 * GIB)
    assert codes(savings_of(bill(line), [pool(dataset())])) == ["wear-log-elsewhere"]
    always = dataset(sync="always")
    assert set(codes(savings_of(bill(line), [pool(always)]))) == {"wear-log-elsewhere", "wear-sync-always"}
    with_log = replace(pool(dataset()), leaves=(LOG_LEAF,))
    assert savings_of(bill(line), [with_log]) == ()


def test_always_is_not_doubted_where_another_machine_has_its_disk_on_the_dataset() -> None:
    line = BillLine(Payee.DATASET, "tank/db", 50 * GIB, 20 * GIB, 20 * 1024, zil_bytes=30 * GIB)
    served = dataset(sync="always", served=Served.BLOCK)
    assert codes(savings_of(bill(line), [pool(served)])) == ["wear-log-elsewhere"]


def test_swap_on_a_volume_goes_as_a_whole() -> None:
    line = BillLine(Payee.DATASET, "rpool/my swap", 30 * GIB, 20 * GIB, 1)
    [found] = savings_of(bill(line), [pool(dataset("rpool/my swap", is_volume=True, is_swap=True))])
    assert found.device_bytes == 30 * GIB
    assert "`swapoff /dev/zvol/rpool/my+swap`" in str(found.statement)


def test_access_times_are_named_where_much_is_metadata() -> None:
    reads = dataset("tank/mail", keeps_access_times=True)
    much, little = BillLine(Payee.METADATA, "", 40 * GIB), BillLine(Payee.METADATA, "", 10 * GIB)
    assert codes(savings_of(bill(much), [pool(reads)])) == ["wear-access-times"]
    assert savings_of(bill(little), [pool(reads)]) == ()
    assert savings_of(bill(much), [pool(dataset())]) == ()


def test_nothing_written_leaves_nothing_to_save() -> None:
    assert savings_of(bill_of(0, []), [pool(dataset(keeps_access_times=True))]) == ()
