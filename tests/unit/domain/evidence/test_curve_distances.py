"""Reuse distances of a sample against memories that are played read by read."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.curve_distances import MOST_BLOCKS, SPACE, BlockRead
from tests.unit.domain.evidence.curve_reads import BLOCK, followed, lru_misses, mixed, needs_trace, scan, trace

SHARES = [each / 10 for each in range(1, 11)]


def errors(reads: list[BlockRead], threshold: int, most: int = 1 << 60) -> tuple[float, float]:
    """The mean error of the miss ratio, and of the share of misses that memory above a tenth would serve."""
    blocks = {read.block: read.size_bytes for read in reads}
    sizes = [int(sum(blocks.values()) * share) for share in SHARES]
    played = [lru_misses(reads, size) / len(reads) for size in sizes]
    found, _shards = followed(reads, threshold, most)
    # SHARDS-adj (section 3.3): what the sample has too few or too many of are the hottest blocks, which never miss.
    ratios = [found.misses(size) / len(reads) for size in sizes]
    shares = [1 - found.misses(size) / found.misses(sizes[0]) for size in sizes]
    true_shares = [1 - ratio / played[0] for ratio in played]
    return mean(ratios, played), mean(shares, true_shares)


def mean(one: list[float], other: list[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


@needs_trace
@pytest.mark.slow
def test_a_tenth_of_the_blocks_of_a_real_disk_tells_what_all_of_them_do() -> None:
    """Proves: against LRU played exactly, the mean error at 10 % is at most 0.02, and at 1 % (490 blocks) 0.08."""
    reads = trace()
    found = {share: errors(reads, int(SPACE * share)) for share in (1.0, 0.1, 0.01)}
    few = errors(reads, SPACE, 8192)
    print("mean error of the miss ratio, of the share of misses:", found, "8192 blocks:", few)
    assert max(found[1.0]) <= 0.01
    assert max(found[0.1]) <= 0.02
    assert max(found[0.01]) <= 0.08
    assert max(few) <= 0.02


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 8)), min_size=1, max_size=300), st.integers(1, 2000))
def test_with_every_block_followed_it_is_lru(pairs: list[tuple[int, int]], size: int) -> None:
    """Blocks of one size each, so that what fits is no matter of the order in which room is made."""
    reads = [BlockRead(0.0, mixed(block), 1000) for block, _ in pairs]
    found, _shards = followed(reads, SPACE)
    capacity = size * 1000 // 60
    within = [found.misses(int(capacity * factor)) for factor in (1.05, 0.95)]
    assert lru_misses(reads, int(capacity * 1.1)) <= within[0] + 1e-9
    assert within[1] + 1e-9 >= lru_misses(reads, capacity)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(512, 10**6)), max_size=200))
def test_more_memory_never_misses_more(pairs: list[tuple[int, int]]) -> None:
    found, _shards = followed([BlockRead(0.0, mixed(block), size) for block, size in pairs], SPACE)
    misses = [found.misses(2**power) for power in range(30)]
    assert misses == sorted(misses, reverse=True)


def test_one_block_is_one_step() -> None:
    found, _shards = followed([BlockRead(0.0, mixed(7), BLOCK)] * 100, SPACE)
    assert found.misses(BLOCK - BLOCK // 10) == 100
    assert found.misses(BLOCK + BLOCK // 10) == 1


def test_what_is_read_once_from_end_to_end_is_never_found_again() -> None:
    found, _shards = followed(scan(5000, 1), SPACE)
    assert found.misses(2**60) == 5000


def test_few_blocks_are_followed_however_many_there_are() -> None:
    chosen = random.Random(3)
    reads = [BlockRead(0.0, mixed(chosen.randrange(30_000) + 1), BLOCK) for _ in range(60_000)]
    found, shards = followed(reads, SPACE, 1000)
    assert len(shards) <= 1000 < MOST_BLOCKS
    assert shards.rate <= 1000 / 25_000
    assert found.reads == pytest.approx(60_000, rel=0.1)
    assert found.misses(15_000 * BLOCK) / found.reads == pytest.approx(
        lru_misses(reads, 15_000 * BLOCK) / 60_000, abs=0.05
    )
