"""Metadata: what a pool holds of it, how large special vdevs would have to be, and whether to begin with them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.metadata_blocks import BlockKind, TypeBlocks, allocated_on, kind_of, kinds_of
from nasadvisor.domain.evidence.metadata_choice import MetadataAdvice, advise_metadata
from nasadvisor.domain.evidence.metadata_count import against_count
from nasadvisor.domain.evidence.metadata_size import CUT_OFFS, Counted, sides_of, special_size
from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import ArcActivity, DiskActivity, Sample
from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.storage.inventory import Vdev, VdevClass
from nasadvisor.domain.units import GIB, KIB
from tests.unit.domain.evidence.counts import COUNT, SMALL, counted, kind, pool, top
from tests.unit.domain.evidence.pools import CACHE_LEAF, FLASH, LEAVES, facts, readers
from tests.unit.domain.evidence.test_curve import CLIFF
from tests.unit.domain.evidence.test_options import known as known_of

RAIDZ2 = top("raidz", "raidz2-0", 6)
SPECIAL_LEAF = LeafFacts("5", VdevClass.SPECIAL, "nvme0n1p3", "nvme0n1", False)


def walkers(metadata: float = 0.6) -> Sample:
    """Readers, of whose misses so many are metadata."""
    sample = readers()
    misses = sample.arc.misses
    return replace(sample, arc=replace(sample.arc, metadata_misses=int(misses * metadata)))


def known(sample: Sample | None = None, of: PoolFacts | None = None, found: Counted | None = None) -> Known:
    return replace(known_of(sample or walkers(), of), counted=found)


def advice(sample: Sample | None = None, of: PoolFacts | None = None, found: Counted | None = None) -> MetadataAdvice:
    return advise_metadata(known(sample, of, found))


class TestBlocks:
    @pytest.mark.parametrize(
        ("type_name", "level", "expected"),
        [
            ("ZFS plain file", 0, BlockKind.DATA),
            ("ZFS plain file", 1, BlockKind.PLACES),
            ("zvol object", 0, BlockKind.VOLUMES),
            ("zvol object", 3, BlockKind.PLACES),
            ("ZFS directory", 1, BlockKind.DIRECTORIES),
            ("DMU dnode", 0, BlockKind.FILES),
            ("System attributes", 0, BlockKind.FILES),
            ("DDT ZAP algorithm", 0, BlockKind.DEDUP),
            ("SPA space map", 0, BlockKind.POOL),
            ("other", 0, BlockKind.POOL),
            ("ZIL intent log", 0, None),
            ("deferred free", 0, None),
        ],
    )
    def test_each_type_is_for_something(self, type_name: str, level: int, expected: BlockKind | None) -> None:
        assert kind_of(type_name, level) is expected

    @pytest.mark.parametrize(
        ("vdev", "stored", "allocated"),
        [
            (top(), 512, 4 * KIB),
            (top(ashift=9), 512, 512),
            (RAIDZ2, 4 * KIB, 12 * KIB),  # a block of 4 KiB takes two more for parity, whatever the width
            (RAIDZ2, 16 * KIB, 24 * KIB),
            (RAIDZ2, 128 * KIB, 192 * KIB),
            (top("raidz", "raidz1-0", 3), 8 * KIB, 16 * KIB),  # three sectors, padded to an even number
            (top("draid", "draid2:4d:11c:1s-0", 11), 4 * KIB, 24 * KIB),  # always a whole row
            (top("raidz", "raidz2-0", 2), 4 * KIB, None),
            (top("raidz", "unheard of", 6), 4 * KIB, None),
            (top(ashift=0), 4 * KIB, None),
        ],
    )
    def test_it_knows_what_a_block_takes_up_today(self, vdev: Vdev, stored: int, allocated: int | None) -> None:
        assert allocated_on(vdev, stored) == allocated

    def test_on_raidz_a_block_of_metadata_takes_three_times_what_it_would_on_a_mirror(self) -> None:
        """Proves: parity and padding of raidz are taken off, copies are kept."""
        dnodes = TypeBlocks("DMU dnode", 0, 2 * 1000 * 12 * KIB, {4 * KIB: 1000})
        (found,) = kinds_of([dnodes], pool(RAIDZ2))
        assert found.bytes_at(12) == 2 * 1000 * 4 * KIB
        assert found.allocated_bytes == 2 * 1000 * 12 * KIB

    def test_where_vdevs_differ_it_goes_by_what_openzfs_writes_by_default(self) -> None:
        counted_types = [
            TypeBlocks("DMU dnode", 0, 99, {4 * KIB: 10}),
            TypeBlocks("SPA space map", 0, 99, {4 * KIB: 10}),
            TypeBlocks("ZFS plain file", 0, 99, {4 * KIB: 10}),
        ]
        found = kinds_of(counted_types, pool(RAIDZ2, top()))
        assert [each.bytes_at(12) // (40 * KIB) for each in found] == [2, 3, 1]

    def test_types_of_one_kind_are_added_with_their_own_copies(self) -> None:
        three = TypeBlocks("SPA space map", 0, 3 * 10 * 4 * KIB, {4 * KIB: 10})
        two = TypeBlocks("ZFS master node", 0, 2 * 30 * 4 * KIB, {4 * KIB: 30})
        (found,) = kinds_of([three, two], pool())
        assert found.blocks == 40
        assert found.bytes_at(12) == 90 * 4 * KIB

    @given(
        sizes=st.dictionaries(st.integers(1, 256).map(lambda it: it * 512), st.integers(1, 10**6), min_size=1),
        copies=st.sampled_from((1, 2, 3)),
        vdev=st.sampled_from((top(), RAIDZ2, top("raidz", "raidz3-0", 11), top("draid", "draid1:3d:9c:1s-0", 9))),
    )
    def test_whatever_the_pool_is_of_it_finds_the_copies_again(
        self, sizes: dict[int, int], copies: int, vdev: Vdev
    ) -> None:
        """Proves: from what blocks take up on any vdev, their size on a mirror is worked out exactly."""
        taken = sum((allocated_on(vdev, size) or 0) * blocks * copies for size, blocks in sizes.items())
        (found,) = kinds_of([TypeBlocks("DMU dnode", 0, taken, sizes)], pool(vdev))
        on_mirror = sum(-(-size // 4096) * 4096 * blocks * copies for size, blocks in sizes.items())
        assert found.bytes_at(12) == pytest.approx(on_mirror, rel=1e-9)


class TestSize:
    def test_metadata_of_a_pool_half_full_grows_until_it_is_full(self) -> None:
        found = special_size(COUNT, pool())
        assert found.metadata_bytes == sum(each.bytes_at(12) for each in COUNT.metadata)
        assert found.grown == pytest.approx(1.6)
        held = found.metadata_bytes + found.small_bytes
        assert held * 1.6 / 0.75 <= found.size_bytes < held * 1.6 / 0.75 + GIB

    def test_a_cut_off_is_one_that_adds_no_more_than_the_metadata_itself(self) -> None:
        found = special_size(COUNT, pool())
        added = {each.block_bytes: each.added_bytes for each in found.cut_offs}
        assert added == {4096: 4 * GIB, 8192: 4 * GIB, 16384: 4 * GIB, 32768: 36 * GIB, 65536: 36 * GIB}
        assert found.cut_off == 32 * KIB  # 64 KiB would bring no block more
        assert special_size(replace(COUNT, kinds=COUNT.kinds[1:]), pool()).cut_off == 4 * KIB

    def test_a_cut_off_never_takes_all_blocks_of_a_dataset(self) -> None:
        assert special_size(COUNT, pool(), smallest_block=32 * KIB).cut_off == 4 * KIB
        assert special_size(COUNT, pool(), smallest_block=4 * KIB).cut_off == 0

    def test_blocks_of_volumes_count_only_where_the_release_lets_them_in(self) -> None:
        before, since = (special_size(COUNT, pool(), zfs).cut_offs[2].added_bytes for zfs in ("2.3.9-1", "2.4.0-1"))
        assert since - before == 16 * GIB

    def test_what_lies_on_dedup_vdevs_is_not_for_special_ones(self) -> None:
        table = kind(BlockKind.DEDUP, (4 * KIB, 2**20))
        with_table = replace(COUNT, kinds=(*COUNT.kinds, table))
        without, apart = special_size(COUNT, pool()), replace(pool(), dedups=(top(),))
        assert special_size(with_table, pool()).metadata_bytes == without.metadata_bytes + table.bytes_at(12)
        assert special_size(with_table, apart).metadata_bytes == without.metadata_bytes

    @pytest.mark.parametrize(
        ("tops", "sides"),
        [
            ((top(),), 2),
            ((top(disks=3),), 3),
            ((top("raidz", "raidz1-0", 4),), 2),
            ((RAIDZ2,), 3),
            ((top("raidz", "raidz3-0", 11),), 4),
            ((top("draid", "draid2:4d:11c:1s-0", 11),), 3),
            ((top("disk", "sda", 0),), 2),  # as little as the pool can bear, its metadata shall bear more
        ],
    )
    def test_as_many_may_die_as_of_the_data_disks(self, tops: tuple[Vdev, ...], sides: int) -> None:
        assert sides_of(pool(*tops)) == sides

    def test_beside_disks_without_a_mirror_one_is_added_and_the_other_attached(self) -> None:
        """OpenZFS refuses `zpool add POOL special mirror` there, and says to force it."""
        one = pool(top("disk", "sda", 0))
        command = counted(of=one).command
        assert command == "zpool add -o ashift=12 tank special SSD-1 && zpool attach tank SSD-1 SSD-2"

    @given(share=st.floats(0.01, 1.0), cut=st.sampled_from(CUT_OFFS))
    def test_what_is_advised_has_room_for_what_is_there(self, share: float, cut: int) -> None:
        of = pool(allocated_bytes=int(pool().size_bytes * share))
        found = special_size(COUNT, of, smallest_block=cut)
        assert found.size_bytes * 0.75 >= (found.metadata_bytes + found.small_bytes) * (1 - 1e-9)


class TestChoice:
    def test_nothing_where_nobody_waits_for_reads(self) -> None:
        sample = replace(walkers(), arc=ArcActivity(demand_hits=10**9, demand_misses=1))
        assert advice(sample, found=counted()).option is Option.NOTHING

    def test_nothing_where_reads_are_of_data(self) -> None:
        found = advice(walkers(0.01), found=counted())
        assert found.option is Option.NOTHING
        assert found.because.code == "option-little-metadata"

    def test_nothing_on_a_pool_of_ssds(self) -> None:
        found = advice(of=facts(*FLASH), found=counted())
        assert (found.option, found.because.code) == (Option.NOTHING, "flash-pool")

    def test_nothing_more_where_special_vdevs_are(self) -> None:
        found = advice(of=facts(*LEAVES, SPECIAL_LEAF), found=counted())
        assert (found.option, found.because.code) == (Option.NOTHING, "metadata-special-there")

    def test_without_a_count_nothing_is_chosen_and_it_says_so(self) -> None:
        found = advice()
        assert found.option is None
        assert "is unknown" in str(found.because)
        assert "Not analysed: how much metadata the pool holds." in [str(each) for each in found.looked]

    def test_memory_where_all_metadata_fits_into_it(self) -> None:
        found = advice(found=counted(SMALL))
        assert found.option is Option.MEMORY
        assert "zfs_arc_meta_balance" in str(found.because)
        old = advice(of=facts(zfs="2.1.11-1"), found=counted(SMALL))
        assert "zfs_arc_meta_limit_percent" in str(old.because)

    def test_what_can_be_taken_back_before_what_cannot(self) -> None:
        found = advice(found=counted())
        assert found.option is Option.METADATA
        assert "secondarycache=metadata" in str(found.because)

    def test_special_where_a_cache_did_not_do_it(self) -> None:
        found = advice(of=facts(*LEAVES, CACHE_LEAF), found=counted())
        assert found.option is Option.SPECIAL

    def test_a_property_where_nothing_may_enter_a_cache(self) -> None:
        pool_facts = facts()
        kept = replace(pool_facts, datasets=(replace(pool_facts.datasets[0], secondarycache="none", used_bytes=GIB),))
        assert advice(of=kept, found=counted()).option is Option.PROPERTY

    def test_it_says_what_it_looked_at(self) -> None:
        part = counted(replace(COUNT, is_partial=True))
        said = [each.code for each in advise_metadata(replace(known(found=part), curve=CLIFF)).looked]
        assert said == ["looked-counters", "looked-curve", "looked-part", "not-looked-walks"]
        assert "not-looked-curve" in [each.code for each in advice(found=counted()).looked]

    @given(
        metadata=st.floats(0, 1),
        has_count=st.booleans(),
        leaves=st.sampled_from((LEAVES, (*LEAVES, CACHE_LEAF), (*LEAVES, SPECIAL_LEAF), FLASH)),
    )
    def test_it_never_chooses_what_the_table_says_no_to(
        self, metadata: float, has_count: bool, leaves: tuple[LeafFacts, ...]
    ) -> None:
        found = known(walkers(metadata), facts(*leaves), counted() if has_count else None)
        chosen = advise_metadata(found).option
        if chosen in {Option.METADATA, Option.SPECIAL}:
            assert options_of(found).row(chosen).answer not in {Answer.NO, Answer.LITTLE}
            assert has_count


class TestTable:
    def test_the_row_of_special_vdevs_has_their_size_and_the_command(self) -> None:
        row = options_of(known(found=counted(of=pool(RAIDZ2)))).row(Option.SPECIAL)
        assert row.cost is not None
        assert row.cost.ssds == 3
        assert row.cost.ssd_bytes >= 100 * GIB
        said = " ".join(map(str, row.beside))
        assert (
            "`zpool add -o ashift=12 tank special mirror SSD-1 SSD-2 SSD-3` would create it. NAS Advisor does not"
            in said
        )
        assert "Danger: if all of them fail, the whole pool is lost" in said
        assert not row.missing

    def test_what_is_there_moves_by_a_rewrite_where_the_release_has_one(self) -> None:
        new, old = (
            " ".join(map(str, options_of(known(of=facts(zfs=zfs), found=counted())).row(Option.SPECIAL).beside))
            for zfs in ("2.3.4-1", "2.2.8-1")
        )
        assert f"{COUNT.metadata_blocks:,} blocks".replace(",", "\N{NARROW NO-BREAK SPACE}") in new
        assert "`zfs rewrite -r`" in new
        assert "`zfs send`" in old

    def test_a_cache_for_metadata_has_room_for_all_of_it(self) -> None:
        cost = options_of(known(found=counted())).row(Option.METADATA).cost
        assert cost is not None
        assert COUNT.metadata_in_memory_bytes <= cost.ssd_bytes < COUNT.metadata_in_memory_bytes + GIB
        assert cost.memory_bytes == pytest.approx(COUNT.metadata_blocks * 96, rel=0.01)

    def test_without_a_count_it_says_what_would_tell_the_size(self) -> None:
        row = options_of(known()).row(Option.SPECIAL)
        assert "nasadvisor advise tank --metadata" in str(row.missing[0])
        assert row.cost is None


class TestCounting:
    def test_a_quiet_pool_may_be_counted(self) -> None:
        quiet = Sample("9", "tank", 100, 5.0, disks=(DiskActivity("sda", reads=20, writes=30),))
        assert list(against_count(pool(), quiet)) == []

    def test_a_busy_one_may_not(self) -> None:
        busy = Sample("9", "tank", 100, 5.0, disks=(DiskActivity("sda", reads=20, writes=300),))
        (refused,) = against_count(pool(), busy)
        assert "64 requests/s" in str(refused)

    def test_nor_one_that_is_scrubbed_or_unwell(self) -> None:
        codes = [each.code for each in against_count(replace(pool(), scan="scrub", state="DEGRADED"), None)]
        assert codes == ["count-not-online", "count-scan"]


def test_a_count_must_say_its_offset_from_utc() -> None:
    with pytest.raises(ValueError, match="offset"):
        replace(COUNT, at="2026-03-01T10:00:00")


def test_metadata_in_memory_is_counted_once_and_compressed() -> None:
    assert SMALL.metadata_in_memory_bytes == GIB
    assert SMALL.of(BlockKind.FILES).bytes_at(12) == 2 * GIB
    assert SMALL.of(BlockKind.DATA).bytes_at(12) == 0
