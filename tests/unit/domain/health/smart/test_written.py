"""Counters of host writes: units, wraps, and which of several is the full one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.smart.attributes import in_flash, smart_values
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.smart.written import WRAP_BYTES
from nasadvisor.domain.health.wear.history import Snapshot, history_of
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.health.smart.drives import nvme, sas, sata


def test_nvme_counts_thousands_of_sectors() -> None:
    assert decode(nvme(units=3)).bytes_written == 3 * 512_000


def test_sas_writes_decimal_gigabytes_as_text() -> None:
    assert decode(sas(gigabytes="12103.790")).bytes_written == 12_103_790_000_000


@pytest.mark.parametrize(
    ("name", "unit"),
    [("Host_Writes_32MiB", 32 * MIB), ("Lifetime_Writes_GiB", GIB), ("Total_LBAs_Written", 512)],
)
def test_the_name_of_an_attribute_tells_its_unit(name: str, unit: int) -> None:
    assert decode(sata((241, name, 100, 1_000_000_000))).bytes_written == 1_000_000_000 * unit


def test_what_went_to_flash_is_known_where_an_attribute_is_named_for_it() -> None:
    values = smart_values(sata((241, "Host_Writes_32MiB", 100, 300), (249, "NAND_Writes_1GiB", 100, 12)))
    assert in_flash(values, 300 * 32 * MIB) == pytest.approx(1.28)
    assert in_flash(values, 0) is None
    assert in_flash(smart_values(sata((241, "Host_Writes_32MiB", 100, 300))), 300 * 32 * MIB) is None


@pytest.mark.parametrize("unit", [512, 32 * MIB, GIB])
def test_where_the_name_lies_page_1_tells_the_unit(unit: int) -> None:
    written = 9_000 * GIB
    reading = decode(sata((241, "Total_LBAs_Written", 100, written // unit), sectors=written // 512 + 5))
    assert reading.counters[-1].unit_bytes == unit


def test_a_name_that_tells_another_unit_than_page_1_is_not_believed() -> None:
    """A Kioxia Exceria: GiB by its name would be 32 times what it wrote, and no flash lasts so long."""
    reading = decode(sata((241, "Lifetime_Writes_GiB", 100, 1_047_351), sectors=68_639_244_990, page7=0))
    assert [counter.unit_bytes for counter in reading.counters] == [512, 32 * MIB]
    assert reading.findings == ()
    unlike = decode(sata((241, "Lifetime_Writes_GiB", 100, 9_000), sectors=5_000))
    assert [counter.unit_bytes for counter in unlike.counters] == [512, GIB]


def test_a_default_name_without_page_1_has_no_unit() -> None:
    assert decode(sata((241, "Total_LBAs_Written", 100, 15_739), family="")).bytes_written is None


def test_few_sectors_in_many_hours_are_no_sectors() -> None:
    assert decode(sata((241, "Total_LBAs_Written", 100, 15_739))).bytes_written is None


@given(wraps=st.integers(1, 500), sectors=st.integers(2**22, 2**32 - 2**22))
def test_an_attribute_that_agrees_modulo_the_wrap_is_the_full_counter(wraps: int, sectors: int) -> None:
    full = wraps * 2**32 + sectors
    reading = decode(sata((246, "Unknown_Attribute", 100, full + 7), sectors=sectors))
    assert reading.bytes_written == (full + 7) * 512


@given(
    start=st.integers(0, WRAP_BYTES // 512 - 1),
    steps=st.lists(st.integers(0, WRAP_BYTES // 512 - 1), min_size=1, max_size=8),
)
def test_a_wrapping_counter_is_unwrapped_in_a_history(start: int, steps: list[int]) -> None:
    sectors, snapshots = start, [Snapshot(0.0, decode(sata(sectors=start)))]
    for index, step in enumerate(steps, 1):
        sectors += step
        snapshots.append(Snapshot(100.0 * index, decode(sata(sectors=sectors % 2**32))))
    points = history_of(snapshots).points
    written = [point.bytes_written or 0 for point in points]
    assert [after - before for before, after in itertools.pairwise(written)] == [512 * step for step in steps]


def test_a_fall_of_a_full_counter_begins_a_new_segment() -> None:
    units = [10_000_000, 12_000_000, 5_000_000, 6_000_000]
    history = history_of([Snapshot(500.0 * i, decode(nvme(units=unit))) for i, unit in enumerate(units)])
    assert history.segment_from == 2
