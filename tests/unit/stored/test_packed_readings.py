"""Packed readings: every number that was ever written is read, and what repeats itself takes no room."""

import base64
import json
from itertools import pairwise
from pathlib import Path

import pytest

from nasadvisor.stored.packing import (
    PLAIN,
    READINGS_FORM,
    DiskReading,
    NewerReadings,
    deflate,
    pack_readings,
    unpack_readings,
)
from tests.unit.stored.readings import READINGS, said

GOLDEN = Path(__file__).parents[2] / "golden" / "packed-readings"


@pytest.mark.parametrize("number", range(1, READINGS_FORM + 1))
def test_readings_that_an_earlier_release_packed_are_read(number: int) -> None:
    document = json.loads((GOLDEN / f"{number}.json").read_text(encoding="utf-8"))
    assert unpack_readings(base64.b64decode(document["packed"])) == list(READINGS)


def test_each_value_comes_back_in_its_own_field() -> None:
    (found,) = unpack_readings(pack_readings(READINGS[:1]))
    assert found == READINGS[0]
    assert all(before != after for before, after in pairwise(found)), "the example could not tell two fields apart"
    assert DiskReading._fields[: len(PLAIN)] == PLAIN, "the columns are read in the order of the fields"


def test_a_reading_of_a_month_takes_a_tenth_of_what_it_says() -> None:
    month = [said(1_790_000_000 + number * 21_600) for number in range(120)]
    assert len(pack_readings(month)) < 120 * len(json.dumps(said(0))) / 10


@pytest.mark.parametrize("damaged", [None, {}, [], "x", {"bytes_written": "many"}, {"bytes_written": None}])
def test_a_document_that_makes_no_sense_comes_back_as_it_was(damaged: object) -> None:
    reading = READINGS[0]._replace(
        indicators=[damaged, *READINGS[0].indicators], counters=[*READINGS[0].counters, damaged]
    )
    assert unpack_readings(pack_readings([reading])) == [reading]


def test_readings_of_a_later_release_are_refused() -> None:
    with pytest.raises(NewerReadings, match="newer release"):
        unpack_readings(deflate({"form": READINGS_FORM + 1}))


@pytest.mark.parametrize("document", [[], 5, None, {}, {"form": 1}, {"form": "x"}])
def test_what_is_no_pack_of_readings_is_a_value_error(document: object) -> None:
    with pytest.raises(ValueError, match="not packed readings"):
        unpack_readings(deflate(document))
