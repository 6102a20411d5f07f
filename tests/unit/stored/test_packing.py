"""Packed samples: every number that was ever written is read, by the names of its columns."""

import base64
import json
import zlib
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    VdevActivity,
)
from nasadvisor.stored import packing
from nasadvisor.stored.documents import MAX_PACKED_BYTES
from nasadvisor.stored.packing import (
    COLUMNS,
    NameTable,
    NewerSample,
    deflate,
    pack_activity,
    pack_latency,
    unpack_activity,
    unpack_latency,
)
from nasadvisor.stored.upgrades import Document
from tests.unit.stored.examples import EMPTY_SAMPLE, SAMPLE, packed_example

GOLDEN = Path(__file__).parents[2] / "golden" / "packed-sample"
KINDS = {
    "datasets": DatasetActivity,
    "disks": DiskActivity,
    "pool": PoolActivity,
    "arc": ArcActivity,
    "levels": Levels,
    "busy": Busy,
    "vdevs": VdevActivity,
}


def unpacked(document: dict[str, Any]) -> Any:
    names = document["names"]
    vdevs = unpack_latency(base64.b64decode(document["latency"]), names)
    found = unpack_activity(EMPTY_SAMPLE, base64.b64decode(document["activity"]), names)
    return found, vdevs


def test_there_is_a_golden_sample_of_every_number() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{number}.json" for number in range(1, packing.form() + 1)}


@pytest.mark.parametrize("number", range(1, packing.form() + 1))
def test_a_sample_that_an_earlier_release_packed_is_read(number: int) -> None:
    document = json.loads((GOLDEN / f"{number}.json").read_text(encoding="utf-8"))
    found, vdevs = unpacked(document)
    assert found.datasets[0].reads == SAMPLE.datasets[0].reads
    if number == packing.form():
        assert (found, vdevs) == unpacked(packed_example())


def test_each_value_of_a_sample_comes_back_in_its_own_field() -> None:
    found, vdevs = unpacked(packed_example())
    for part, kind in KINDS.items():
        packed = vdevs[0] if part == "vdevs" else getattr(found, part)
        expected = getattr(SAMPLE, part)
        packed, expected = (each[0] if isinstance(each, tuple) else each for each in (packed, expected))
        values = [getattr(packed, field.name) for field in fields(kind)]
        assert values == [getattr(expected, field.name) for field in fields(kind)]
        assert all(before != after for before, after in pairwise(values)), "the example could not tell two fields apart"


def test_every_field_of_today_has_a_column() -> None:
    for part, kind in KINDS.items():
        assert set(COLUMNS[-1][part]) == {field.name for field in fields(kind)}, part
    assert len(COLUMNS) == packing.form()


def later(document: Document) -> Document:
    """A step to a pretended next number, which counts reads of datasets in pairs."""
    if "datasets" not in document:
        return document
    return {**document, "datasets": [{**row, "reads": row.get("reads", 0) * 2} for row in document["datasets"]]}


def test_an_earlier_number_goes_through_the_steps_and_a_later_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first = packed_example()
    monkeypatch.setattr(packing, "UPGRADES", (*packing.UPGRADES, later))
    monkeypatch.setattr(packing, "COLUMNS", (*COLUMNS, COLUMNS[-1]))
    found, vdevs = unpacked(first)
    assert found.datasets[0].reads == SAMPLE.datasets[0].reads * 2
    second = packed_example()
    assert unpacked(second)[0].datasets[0].reads == SAMPLE.datasets[0].reads
    assert unpacked(second)[1] == vdevs
    monkeypatch.undo()
    with pytest.raises(NewerSample, match="newer release"):
        unpack_activity(EMPTY_SAMPLE, base64.b64decode(second["activity"]), second["names"])
    with pytest.raises(NewerSample, match="newer release"):
        unpack_latency(base64.b64decode(second["latency"]), second["names"])


def test_a_damaged_sample_is_a_value_error_whatever_it_is() -> None:
    table = NameTable([])
    for packed, unpack in (
        (pack_activity(SAMPLE, table), lambda data: unpack_activity(EMPTY_SAMPLE, data, table.names)),
        (pack_latency(SAMPLE, table), lambda data: unpack_latency(data, table.names)),
    ):
        for position in range(len(packed)):
            for bit in range(8):
                flipped = packed[:position] + bytes([packed[position] ^ 1 << bit]) + packed[position + 1 :]
                try:
                    unpack(flipped)
                except ValueError:
                    continue  # that nothing else is raised is what this test is about


@pytest.mark.parametrize("number", [None, "1", 0, -1, True, 1.0])
def test_a_sample_without_a_number_is_refused(number: object) -> None:
    parts: list[Any] = [number, [], [], [], [], [], [], []]
    with pytest.raises(ValueError, match="does not say its number"):
        unpack_activity(EMPTY_SAMPLE, deflate(parts, packing.EXAMPLE), ())


@pytest.mark.parametrize("first", [10**9, 37, -1])
def test_a_histogram_that_begins_where_none_does_takes_no_memory(first: int) -> None:
    with pytest.raises(ValueError, match="not a packed sample"):
        unpack_latency(deflate([packing.form(), [[0, [first, 1]]]], packing.EXAMPLE), ["77"])


def test_a_sample_that_unpacks_to_more_than_any_has_is_none() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=packing.EXAMPLE)
    packed = packer.compress(b" " * MAX_PACKED_BYTES + b"[]") + packer.flush()
    with pytest.raises(ValueError, match="Expecting value"):
        unpack_latency(packed, [])
