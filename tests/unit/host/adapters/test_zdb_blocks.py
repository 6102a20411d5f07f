"""Counting blocks with zdb: what `zdb -LPbbbb` prints, in the form of dump_block_stats() in cmd/zdb/zdb.c."""

from pathlib import Path
from typing import Final

import pytest

from nasadvisor.domain.evidence.metadata_blocks import TypeBlocks
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.process import Output, Tool
from nasadvisor.host.adapters.zdb import count_blocks, parse_blocks
from nasadvisor.host.errors import CommandFailed, OutputUnreadable, ToolMissing
from tests.unit.fakes import FakeRunner

RECORDED: Final = Path(__file__).parents[3] / "fixtures/zdb/blocks-2.3.9.txt"
CACHE_FILE = "zpool get -H -o value cachefile tank"
COUNT = "ionice -c 3 zdb -LPbbbb tank"

BLOCKS = """
Traversing all blocks ...

\tbp count:                    40
Blocks\tLSIZE\tPSIZE\tASIZE\t  avg\t comp\t%Total\tType
     -\t    -\t    -\t    -\t    -\t    -\t     -\tunallocated
     3\t393216\t12288\t28672\t 9557\t32.00\t  0.01\t    L1 DMU dnode
psize (in 512-byte sectors): number of blocks
\t\t\t  8:      3 ***
     8\t131072\t40960\t81920\t10240\t 4.00\t  0.02\t    L0 DMU dnode
psize (in 512-byte sectors): number of blocks
\t\t\t  8:      7 *******
\t\t\t  9:      0\x20
\t\t\t 24:      1 *
    11\t524288\t53248\t110592\t10053\t20.21\t  0.04\tDMU dnode
psize (in 512-byte sectors): number of blocks
\t\t\t  8:     10 **********
\t\t\t 24:      1 *
     2\t262144\t16384\t32768\t16384\t16.00\t  0.01\t    L1 zvol object
psize (in 512-byte sectors): number of blocks
\t\t\t 16:      2 **
    25\t3276800\t2048000\t2048000\t81920\t 1.60\t 99.80\tzvol object
psize (in 512-byte sectors): number of blocks
\t\t\t  0:      3 ***
\t\t\t 16:     22 **********************
\t\t\t257:      2 **
     4\t131072\t16384\t49152\t12288\t 8.00\t  0.02\tother
psize (in 512-byte sectors): number of blocks
\t\t\t  8:      4 ****
     4\t393216\t12288\t28672\t 9557\t32.00\t  0.01\t    L1 Total
psize (in 512-byte sectors): number of blocks
\t\t\t  8:      4 ****
    40\t3932160\t2117632\t2191360\t54784\t 1.86\t100.00\tTotal
psize (in 512-byte sectors): number of blocks
\t\t\t  8:     40 ****
    15\t917504\t65536\t143360\t 9557\t14.00\t  6.54\tMetadata Total

Block Size Histogram

  block   psize                lsize                asize
   size   Count   Size   Cum.  Count   Size   Cum.  Count   Size   Cum.
    512:\t      5   2560   2560      0      0      0      0      0      0
"""


def test_it_reads_each_level_of_each_type_and_no_sum() -> None:
    assert parse_blocks(BLOCKS) == (
        TypeBlocks("DMU dnode", 1, 28672, {4096: 3}),
        TypeBlocks("DMU dnode", 0, 81920, {4096: 7, 12288: 1}),
        TypeBlocks("zvol object", 1, 32768, {8192: 2}),
        TypeBlocks("zvol object", 0, 2048000 - 32768, {8192: 20, 933888: 2}),
        TypeBlocks("other", 0, 49152, {4096: 4}),
    )


def test_what_is_larger_than_the_histogram_has_columns_is_known_by_its_mean_and_never_small() -> None:
    sizes = parse_blocks(BLOCKS.replace("2048000", "2048"))[3].sizes
    assert min(size for size in sizes if size != 8192) > 128 * KIB


def test_it_reads_what_a_real_zdb_printed() -> None:
    """Recorded on OpenZFS 2.3.9: a pool of two mirrors with one large file."""
    found = {(each.type_name, each.level): each for each in parse_blocks(RECORDED.read_text(encoding="utf-8"))}
    assert found["ZFS plain file", 0].sizes == {128 * KIB: 3072}
    assert found["ZFS plain file", 0].allocated_bytes == 384 * MIB
    assert found["ZFS plain file", 1].sizes == {44 * KIB: 3}
    assert found["SPA space map", 0].allocated_bytes == 3 * 8 * 4 * KIB
    assert [level for name, level in found if name == "DMU dnode"] == [5, 4, 3, 2, 1, 0]
    assert sum(each.allocated_bytes for each in found.values()) == 403476480  # its own "bp allocated"


@pytest.mark.parametrize("text", ["", "zdb: can't open 'tank': Input/output error\n", BLOCKS.partition("\n     3")[0]])
def test_another_answer_is_said_to_be_one(text: str) -> None:
    with pytest.raises(OutputUnreadable):
        parse_blocks(text)


def test_it_looks_only_and_waits_for_all_others() -> None:
    runner = FakeRunner({CACHE_FILE: "-\n", COUNT: BLOCKS})
    found, is_partial = count_blocks(runner, "tank", 3600)
    assert len(found) == 5
    assert not is_partial
    assert not any(each.mutates for each in runner.ran)
    assert runner.ran[-1].timeout_s == 3600


def test_blocks_that_could_not_be_read_leave_the_count_a_part() -> None:
    runner = FakeRunner({CACHE_FILE: "-\n", COUNT: Output(BLOCKS, "", 3, 1.0)})
    assert count_blocks(runner, "tank", 60)[1]
    with pytest.raises(CommandFailed):
        count_blocks(FakeRunner({CACHE_FILE: "-\n", COUNT: Output("", "can't open 'tank'", 1, 1.0)}), "tank", 60)


@pytest.mark.parametrize(
    ("cache_file", "command"),
    [
        ("/data/zfs/zpool.cache", "ionice -c 3 zdb -LPbbbb -U /data/zfs/zpool.cache tank"),
        ("none", "ionice -c 3 zdb -LPbbbb -e tank"),
    ],
)
def test_a_pool_that_is_in_another_cache_file_or_in_none_is_found(cache_file: str, command: str) -> None:
    runner = FakeRunner({CACHE_FILE: f"{cache_file}\n", command: BLOCKS})
    assert count_blocks(runner, "tank", 60)[0]


def test_without_zdb_it_says_what_to_install_and_starts_nothing() -> None:
    runner = FakeRunner({}, missing=frozenset({Tool.ZDB}))
    with pytest.raises(ToolMissing, match="zfsutils-linux"):
        count_blocks(runner, "tank", 60)
    assert runner.ran == []
