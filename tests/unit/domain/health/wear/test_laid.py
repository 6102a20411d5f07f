"""What was written to the SSDs of a pool, laid to those who wrote it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.counters import Counters, PoolCounters, VdevCounters, samples_between
from nasadvisor.domain.evidence.histogram import EMPTY
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample, VdevActivity
from nasadvisor.domain.health.wear.bill import BillLine, Payee
from nasadvisor.domain.health.wear.laid import apportioned, laid
from nasadvisor.domain.storage.inventory import Pool, Vdev, VdevClass
from nasadvisor.domain.units import GIB, KIB, MIB

SIDES = ("11", "12")
LOG, CACHE, SPECIAL = "31", "41", "51"
CLASSES = {
    LOG: VdevClass.LOG,
    CACHE: VdevClass.CACHE,
    SPECIAL: VdevClass.SPECIAL,
    **dict.fromkeys(SIDES, VdevClass.NORMAL),
}
NAMES = ("tank/db", "tank/files", "tank/media", "tank/vm")


def pool(kind: str = "mirror", name: str = "mirror-0", disks: int = 2) -> Pool:
    leaves = tuple(Vdev(str(11 + number), "disk", f"sd{number}", "ONLINE") for number in range(disks))
    top = Vdev("1", kind, name, "ONLINE", ashift=12, children=leaves)
    return Pool("tank", "9", "ONLINE", 12, 0, 0, False, False, "", False, (), data=(top,))


def dataset(name: str = "tank/db", record: int = 128 * KIB, **values: object) -> DatasetFacts:
    return replace(DatasetFacts(name, False, "standard", "latency", record), **values)  # type: ignore[arg-type]


def facts(*datasets: DatasetFacts, rotational: tuple[str, ...] = ()) -> PoolFacts:
    leaves = (LeafFacts(guid, kind, "", "nvme0n1", guid in rotational) for guid, kind in CLASSES.items())
    return PoolFacts("9", "tank", "", datasets, tuple(leaves))


def hour(written: dict[str, int], *datasets: DatasetActivity) -> Sample:
    vdevs = tuple(VdevActivity(guid, written_bytes=count) for guid, count in written.items())
    return Sample("9", "tank", 3600, 3600.0, datasets, vdevs)


def wrote(name: str, count: int, each: int = MIB, **values: int) -> DatasetActivity:
    return DatasetActivity(name, writes=count // each, written_bytes=count, **values)


def both(count: int) -> dict[str, int]:
    return dict.fromkeys(SIDES, count)


def lines_of(found: dict[str, tuple[BillLine, ...]], guid: str = "11") -> dict[str, int]:
    return {line.name or line.kind.value: line.device_bytes for line in found[guid]}


def test_large_writes_are_their_dataset_on_each_side_of_a_mirror_and_the_rest_is_metadata() -> None:
    found = laid(hour(both(11 * GIB), wrote("tank/db", 10 * GIB)), facts(dataset()), pool())
    assert lines_of(found) == {"tank/db": 10 * GIB, "metadata": GIB}
    assert found["11"] == found["12"]
    assert sum(found[side][0].logical_bytes for side in SIDES) == 10 * GIB


def test_compression_and_copies_are_weighed() -> None:
    known = facts(dataset("tank/db", compress_ratio=4.0), dataset("tank/files", copies=2), dataset("tank/vm"))
    writes = [wrote(name, 4 * GIB) for name in ("tank/db", "tank/files", "tank/vm")]
    assert lines_of(laid(hour(both(13 * GIB), *writes), known, pool())) == {
        "tank/db": GIB,
        "tank/files": 8 * GIB,
        "tank/vm": 4 * GIB,
        "metadata": 0,
    }


def test_a_block_has_no_sector_more_because_the_ratio_is_cut_after_two_decimals() -> None:
    known = facts(dataset(compress_ratio=3.55))  # 128 KiB in 9 sectors are 3.5555
    found = lines_of(laid(hour(both(GIB), wrote("tank/db", GIB)), known, pool()))
    assert found["tank/db"] == pytest.approx(GIB * 9 / 32, rel=0.01)


def test_small_blocks_on_raidz_have_more_parity() -> None:
    raidz = pool("raidz", "raidz1-0", 5)
    known = facts(dataset("tank/db", 4 * KIB), dataset("tank/files"))
    writes = [wrote("tank/db", GIB, 4 * KIB), wrote("tank/files", GIB)]
    found = lines_of(laid(hour(both(3 * GIB // 2), *writes), known, raidz))
    assert found["tank/db"] / found["tank/files"] == pytest.approx(2 / 1.25, rel=0.05)


def test_what_small_writes_make_of_large_records_is_theirs_and_not_metadata() -> None:
    known = facts(dataset("tank/db"), dataset("tank/files"))
    writes = [wrote("tank/db", GIB, 16 * KIB), wrote("tank/files", GIB)]
    found = laid(hour(both(6 * GIB), *writes), known, pool())
    assert lines_of(found) == {"tank/db": 5 * GIB, "tank/files": GIB, "metadata": 0}
    assert found["11"][0].rewritten_bytes == 4 * GIB
    beyond = lines_of(laid(hour(both(12 * GIB), *writes), known, pool()))
    assert beyond == {"tank/db": 8 * GIB, "tank/files": GIB, "metadata": 3 * GIB}


def test_the_zil_on_the_pool_is_written_beside_the_data() -> None:
    commits = GIB // (16 * KIB)
    zil = {"needcopy_bytes": GIB, "pool_blocks": commits, "pool_bytes": commits * 128 * KIB}
    known = facts(dataset(record=16 * KIB))
    found = laid(hour(both(3 * GIB), wrote("tank/db", GIB, 16 * KIB, **zil)), known, pool())
    assert lines_of(found) == {"tank/db": GIB + GIB * 5 // 4, "metadata": GIB * 3 // 4}
    assert found["11"][0].zil_bytes == GIB * 5 // 4


def test_a_log_is_divided_by_who_wrote_to_it_and_special_vdevs_are_metadata() -> None:
    logged = [DatasetActivity("tank/db", log_bytes=3), DatasetActivity("tank/vm", log_bytes=1)]
    found = laid(hour({LOG: 400, CACHE: 70, SPECIAL: 5}, *logged), facts(), pool())
    assert lines_of(found, LOG) == {"tank/db": 300, "tank/vm": 100}
    assert {line.kind for line in found[LOG]} == {Payee.LOG}
    assert lines_of(found, CACHE) == {"cache": 70}
    assert lines_of(found, SPECIAL) == {"metadata": 5}


def test_where_hard_disks_take_a_part_that_nobody_counts_the_ssds_are_divided_in_proportion() -> None:
    known = facts(dataset("tank/db"), dataset("tank/vm"), rotational=("12",))
    found = laid(hour({"11": 8 * GIB}, wrote("tank/db", GIB), wrote("tank/vm", 3 * GIB)), known, pool())
    assert lines_of(found) == {"tank/db": 2 * GIB, "tank/vm": 6 * GIB, "metadata": 0}


def test_a_dataset_that_stopped_has_no_line_and_nobody_writing_is_metadata() -> None:
    found = laid(hour(both(GIB), DatasetActivity("tank/db", reads=9)), facts(dataset()), pool())
    assert lines_of(found) == {"metadata": GIB}


def test_a_resilver_is_laid_to_no_dataset() -> None:
    written = {"11": GIB, "12": 101 * GIB}
    found = laid(hour(written, wrote("tank/db", GIB // 2, 4 * KIB)), facts(dataset()), pool())
    db, *rest = found["12"]
    assert db.device_bytes == 3 * GIB // 2
    assert {line.kind for line in rest} == {Payee.METADATA}
    assert sum(line.device_bytes for line in found["12"]) == 101 * GIB


COUNT = st.integers(0, 2**45)
ACTIVITY = st.builds(
    DatasetActivity,
    st.sampled_from(NAMES),
    copied_bytes=COUNT,
    needcopy_bytes=COUNT,
    log_blocks=COUNT,
    log_bytes=COUNT,
    pool_blocks=COUNT,
    pool_bytes=COUNT,
    writes=COUNT,
    written_bytes=COUNT,
)
DATASETS = st.lists(ACTIVITY, max_size=4, unique_by=lambda each: each.name)
RATIO, COPIES, RECORD = st.floats(1, 1000), st.integers(1, 3), st.sampled_from([0, 512, 16 * KIB, 16 * MIB])
FACTS = st.lists(
    st.builds(dataset, st.sampled_from(NAMES), RECORD, compress_ratio=RATIO, copies=COPIES, is_volume=st.booleans()),
    max_size=4,
)
WRITTEN = st.dictionaries(st.sampled_from(list(CLASSES)), COUNT)
POOLS = st.sampled_from([pool(), pool("raidz", "raidz2-0", 6), pool("draid", "draid1:2d:4c:0s-0", 4)])
ROTATIONAL = st.sampled_from([(), ("12",)])


@given(WRITTEN, DATASETS, FACTS, POOLS, ROTATIONAL)
def test_the_lines_of_each_leaf_add_up_to_what_the_kernel_counted_for_it(
    written: dict[str, int],
    datasets: list[DatasetActivity],
    known: list[DatasetFacts],
    on: Pool,
    rotational: tuple[str, ...],
) -> None:
    found = laid(hour(written, *datasets), facts(*known, rotational=rotational), on)
    assert {guid: sum(line.device_bytes for line in lines) for guid, lines in found.items()} == {
        guid: count for guid, count in written.items() if count
    }
    for line in (line for lines in found.values() for line in lines):
        assert min(line.device_bytes, line.logical_bytes, line.rewritten_bytes, line.zil_bytes) >= 0
        assert max(line.rewritten_bytes, line.zil_bytes) <= line.device_bytes
    assert found == laid(hour(written, *datasets[::-1]), facts(*known, rotational=rotational), on)


@given(WRITTEN, DATASETS, FACTS)
def test_a_volume_is_weighed_as_a_file_system_of_its_block(
    written: dict[str, int], datasets: list[DatasetActivity], known: list[DatasetFacts]
) -> None:
    volumes = [replace(each, is_volume=True) for each in known]
    files = [replace(each, is_volume=False) for each in known]
    sample = hour(written, *datasets)
    assert laid(sample, facts(*volumes), pool()) == laid(sample, facts(*files), pool())


@given(st.lists(COUNT, min_size=4, max_size=4), st.lists(COUNT, min_size=4, max_size=4))
def test_counters_that_began_anew_lay_what_they_count_since(before: list[int], after: list[int]) -> None:
    def counters(at: int, counts: list[int]) -> Counters:
        vdevs = tuple(VdevCounters(g, EMPTY, EMPTY, EMPTY, EMPTY, c) for g, c in zip(SIDES, counts, strict=False))
        active = tuple(
            DatasetActivity(name, writes=c, written_bytes=c) for name, c in zip(NAMES, counts[2:], strict=False)
        )
        return Counters(at, float(at), (PoolCounters("9", "tank", active, vdevs),))

    [sample] = samples_between(counters(0, before), counters(10, after))
    found = laid(sample, facts(*map(dataset, NAMES)), pool())
    for guid, lines in found.items():
        counted = next(vdev.written_bytes for vdev in sample.vdevs if vdev.guid == guid)
        assert sum(line.device_bytes for line in lines) == counted
        assert all(line.device_bytes >= 0 for line in lines)


@given(st.integers(0, 2**62), st.lists(st.floats(0, 1e18), min_size=1, max_size=9))
def test_whole_numbers_add_up(total: int, weights: list[float]) -> None:
    parts = apportioned(total, weights)
    assert sum(parts) == total
    assert min(parts) >= 0


def test_weights_are_from_zero_on() -> None:
    with pytest.raises(ValueError, match="from zero on"):
        apportioned(1, [])
