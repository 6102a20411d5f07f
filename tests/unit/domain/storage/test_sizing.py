import pytest

from nasadvisor.domain.storage.sizing import header_memory, header_memory_bytes
from nasadvisor.domain.units import GIB, KIB, MIB, TIB


@pytest.mark.parametrize(
    ("block_kib", "gib_per_tib"),
    [(4, 24), (8, 12), (16, 6), (32, 3), (64, 1.5), (128, 0.75), (1024, 0.09375)],
)
def test_a_tebibyte_of_cache_needs_96_bytes_for_each_block(block_kib: int, gib_per_tib: float) -> None:
    assert header_memory_bytes(TIB, block_kib * KIB) == int(gib_per_tib * GIB)


def test_no_cache_needs_no_memory() -> None:
    assert header_memory(0).typical_bytes == 0


def test_the_range_goes_from_large_to_small_blocks() -> None:
    memory = header_memory(894 * GIB)
    assert memory.large_blocks_bytes < memory.typical_bytes < memory.small_blocks_bytes
    assert memory.small_blocks_bytes == 8 * memory.typical_bytes
    assert 670 * MIB < memory.typical_bytes < 671 * MIB


@pytest.mark.parametrize("block", [0, -1])
def test_a_block_without_size_is_an_error(block: int) -> None:
    with pytest.raises(ValueError, match="above zero"):
        header_memory_bytes(TIB, block)
