import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.units import GIB, KIB, MIB, TIB, align_down, align_up, parse_size, size_text

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        # Computed with zfs_nicebytes() of lib/libzutil/zutil_nicenum.c, OpenZFS 2.3.
        *((0, "0B"), (1, "1B"), (999, "999B"), (1023, "1023B"), (1024, "1K"), (1025, "1.00K"), (1536, "1.50K")),
        *((10239, "10.0K"), (10240, "10K"), (10241, "10.0K"), (102399, "100K"), (102400, "100K")),
        *((1048575, "1024K"), (MIB, "1M"), (MIB + 1, "1.00M"), (1043968, "1020K"), (64 * MIB, "64M")),
        *((GIB - 1, "1024M"), (4 * GIB, "4G"), (500 * 10**9, "466G"), (480103981056, "447G")),
        *((2 * 10**12, "1.82T"), (4000787030016, "3.64T"), (8 * TIB, "8T"), (10**18, "888P")),
        *((2**60, "1E"), (2**60 + 1, "1.00E"), (2**64 - 1, "16.0E")),
    ],
)
def test_a_size_has_the_figures_of_zpool_list_and_its_unit_written_out(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == f"{text[:-1]} {'' if text.endswith('B') else text[-1] + 'i'}B"


@given(st.integers(0, 2**64 - 1))
def test_a_size_has_three_figures_and_is_right_to_half_a_percent(size_bytes: int) -> None:
    text = size_text(size_bytes)
    number, unit_text = text.split()
    unit = 1024 ** UNITS.index(unit_text)
    assert len(number) <= 4
    assert abs(float(number) * unit - size_bytes) <= max(size_bytes / 200, unit / 200)


@given(st.integers(0, 1023), st.integers(0, 6))
def test_whole_units_have_no_decimals(count: int, power: int) -> None:
    assert size_text(count * 1024**power) == (f"{count} {UNITS[power]}" if count else "0 B")


@given(st.integers(-(10**400), 10**400))
def test_any_number_can_be_quoted_back(number: int) -> None:
    assert size_text(number).split()[1] in UNITS


def test_numbers_beyond_64_bits_are_written_in_whole_units() -> None:
    assert size_text(1024 * 2**60) == "1024 EiB"
    assert size_text(5000 * 2**60 + 1) == "5000 EiB"
    assert size_text(-5) == "-5 B"


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        *(("4G", 4 * GIB), ("4g", 4 * GIB), (" 4 GiB ", 4 * GIB), ("4GB", 4 * GIB), ("1.5T", 3 * TIB // 2)),
        ("1.5 TiB", 3 * TIB // 2),
        *(("512M", 512 * MIB), ("64k", 64 * KIB), ("1P", 1024 * TIB), ("100", 100), ("100B", 100), ("0.5G", GIB // 2)),
        *(("4.0G", 4 * GIB), ("1000000000001", 1000000000001), ("8191P", 8191 * 1024 * TIB), ("0.001K", 1)),
    ],
)
def test_a_size_is_read_as_zpool_reads_it(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "G", "B", "iB", "four", "4X", "4GG", "--4G", "4 4G", "0", "0G", "-4G", "-1", "0.1", "nan", "NaNG"),
        *(
            "inf",
            "infinity",
            "-inf",
            "1e400G",
            "1e400",
            "1e3",
            "8192P",
            "9" * 19,
            "9" * 5000,
            "4G; reboot",
            "4\x00G",
            "0x10",
            "4,5G",
        ),
        *("４Ｇ", "4K\u212a", "\u212a", "1_000G"),
    ],
)
def test_anything_else_is_no_size_and_the_error_says_what_is_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a size\. Write a number .* for example 4G"):
        parse_size(text)


@given(st.text() | st.from_regex(r"[-+0-9.eEkKmMgGtTiIbB ]{0,12}"))
def test_reading_a_size_gives_a_number_above_zero_or_a_value_error(text: str) -> None:
    try:
        size = parse_size(text)
    except ValueError:
        return
    assert 0 < size < 2**63


@given(st.integers(1, 2**53 - 1))
def test_plain_bytes_are_read_back_exactly(size_bytes: int) -> None:
    assert parse_size(str(size_bytes)) == size_bytes


@given(st.integers(0, 2**64))
def test_aligning_moves_less_than_one_step_and_never_the_wrong_way(offset: int) -> None:
    assert offset - MIB < align_down(offset) <= offset <= align_up(offset) < offset + MIB
    assert align_down(offset) % MIB == align_up(offset) % MIB == 0
    assert align_up(align_up(offset)) == align_up(offset)
