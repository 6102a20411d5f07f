"""What a message may bring to a task: anything else is said in the log, and the task does not begin."""

import re
from enum import StrEnum
from typing import Any

import pytest

from nasadvisor.domain.change.trial import LONGEST_S
from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder
from nasadvisor.host import arguments
from nasadvisor.host.arguments import (
    asker,
    disk_key,
    document,
    measure_order,
    member,
    message_id,
    pool_guid,
    reads,
    run_id,
    trace_length,
    trial_length,
)
from nasadvisor.stored.documents import DocumentError, to_document


class Colour(StrEnum):
    """Two words."""

    RED = "red"
    BLUE = "blue"


class Listener:
    """A task that notes what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[object, ...]] = []

    @reads(run_id, member(Colour), trial_length, defaults=("red", 7))
    def paint(self, run: str, colour: Colour, seconds: int) -> None:
        """Paints."""
        self.given.append((run, colour, seconds))

    @reads()
    def rest(self) -> None:
        """Does nothing."""
        self.given.append(())


def test_a_task_is_given_what_its_readers_read_and_the_last_ones_may_be_left_out() -> None:
    listener = Listener()
    listener.paint("a", "blue", 60)
    listener.paint("b", "blue")
    listener.paint("c")
    listener.rest()
    assert listener.given == [("a", Colour.BLUE, 60), ("b", Colour.BLUE, 7), ("c", Colour.RED, 7), ()]
    assert type(listener.given[0][1]) is Colour


@pytest.mark.parametrize("arguments", [(), ("a", "blue", 60, 1), ("A",), ("a", "green"), ("a", "blue", -1)])
def test_a_message_with_something_else_begins_nothing_and_says_so(
    arguments: tuple[Any, ...], caplog: pytest.LogCaptureFixture
) -> None:
    listener = Listener()
    listener.paint(*arguments)
    assert listener.given == []
    assert len(caplog.records) == 1
    assert "refused paint: " in caplog.text


def test_a_text_is_read_as_a_whole_and_anything_else_is_named() -> None:
    read = arguments._text("[a-c]+", "name of a note")
    assert read("cab") == "cab"
    for value in ("cab?", "", 7, None, ["cab"]):
        with pytest.raises(DocumentError, match=f"^{re.escape(repr(value))} is no name of a note$"):
            read(value)


def test_how_many_arguments_there_should_be_is_said(caplog: pytest.LogCaptureFixture) -> None:
    Listener().paint()
    Listener().rest("x")
    assert "refused paint: it has 3 arguments, not 0 and 0 by name" in caplog.text
    assert "refused rest: it has 0 arguments, not 1 and 0 by name" in caplog.text


def test_arguments_by_name_begin_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Else a message could name one that a reader has not looked at."""
    listener = Listener()
    listener.paint("a", "blue", seconds=60)
    listener.paint("a", "blue", 60, force=True)
    assert listener.given == []
    assert "not 2 and 1 by name" in caplog.text


def test_a_task_keeps_its_name_and_what_it_is() -> None:
    assert (Listener.paint.__name__, Listener.paint.__doc__) == ("paint", "Paints.")


def test_a_word_is_one_of_a_few_and_a_text() -> None:
    assert member(Colour)("red") is Colour.RED
    for wrong in ("green", "", "RED", 1, None, ["red"], Colour.RED):
        with pytest.raises(DocumentError, match="there is no Colour"):
            member(Colour)(wrong)


NAMES: list[tuple[Any, str]] = [
    (asker, "name of somebody"),
    (disk_key, "key of a disk"),
    (message_id, "id of a message"),
]


@pytest.mark.parametrize(("reader", "what"), NAMES)
def test_a_name_is_one_line(reader: Any, what: str) -> None:
    assert reader("anna maría") == "anna maría"
    for wrong in ("", "x" * 257, "a\nb", "a\x00", "a\n", 1, None, ["a"]):
        with pytest.raises(DocumentError, match=f"is no {what}$"):
            reader(wrong)


def test_the_id_of_a_run_is_never_a_path() -> None:
    assert run_id("7f0c2a4e-0000-4000-8000-000000000001") == "7f0c2a4e-0000-4000-8000-000000000001"
    for wrong in ("../x", "a/b", ".", "", "-a", "A", "a" * 65, "a\n", None):
        with pytest.raises(DocumentError, match=r"is no id of a run$"):
            run_id(wrong)


def test_what_is_refused_is_shown_in_part_only() -> None:
    """A message can be as long as it likes; the log shows what it began with."""
    for reader in (run_id, member(Colour), trial_length, trace_length):
        with pytest.raises(DocumentError) as error:
            reader("y" * 10_000)
        assert "yyy" in str(error.value)
        assert len(str(error.value)) < 120


@pytest.mark.parametrize("seconds", [0, 1, LONGEST_S])
def test_a_trial_lasts_a_number_of_seconds(seconds: int) -> None:
    assert trial_length(seconds) == seconds


@pytest.mark.parametrize("seconds", [-1, LONGEST_S + 1, 60.0, "60", True, None])
def test_what_is_no_length_of_a_trial_is_refused(seconds: object) -> None:
    with pytest.raises(DocumentError, match=r"is no length of a trial$"):
        trial_length(seconds)


def test_reads_are_followed_for_a_number_of_seconds_in_a_pool_that_is_named_by_its_guid() -> None:
    assert [trace_length(seconds) for seconds in (60, 86400)] == [60, 86400]
    for wrong in (59, 86401, 60.0, "60", None):
        with pytest.raises(DocumentError, match=r"is no length of a trace$"):
            trace_length(wrong)
    assert pool_guid("18446744073709551615") == "18446744073709551615"
    for guid in ("", "tank", "-1", "1" * 21, 1):
        with pytest.raises(DocumentError, match=r"is no guid of a pool$"):
            pool_guid(guid)


ORDER = MeasureOrder("0a1b2c3d", "1")


def test_an_order_for_a_measurement_is_read_and_its_id_is_never_a_path() -> None:
    """The id names a dataset and a file."""
    assert measure_order(to_document(ORDER)) == ORDER
    assert document(MeasureOrder)(to_document(ORDER)) == ORDER
    with pytest.raises(DocumentError, match=r"is no id of a measurement$"):
        measure_order({**to_document(ORDER), "id": "../0a1b2c3d"})
    for reader in (measure_order, document(MeasureOrder)):
        with pytest.raises(DocumentError, match="measureorder"):
            reader({"id": "0a1b2c3d"})
