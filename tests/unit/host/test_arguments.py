"""What a message may bring to a question: anything else is refused as a whole."""

import re
from typing import Any

import pytest

from nasadvisor.domain.change.trial import LONGEST_S
from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder
from nasadvisor.domain.fleet import questions as ask
from nasadvisor.domain.fleet.questions import Asker, Question, Text
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.host.tasks import read, read_arguments
from nasadvisor.stored.documents import DocumentError, to_document

PAINT = Question("paint", (ask.RUN_ID, SelfTest, ask.TRIAL_LENGTH), (), Asker.NOBODY, None)
REST = Question("rest", (), (), Asker.NOBODY, None)


def test_a_question_is_given_what_its_arguments_are_read_as() -> None:
    read_ones = read_arguments(PAINT, ("a", "long", 60), {})
    assert read_ones == ["a", SelfTest.LONG, 60]
    assert type(read_ones[1]) is SelfTest
    assert read_arguments(REST, (), {}) == []


@pytest.mark.parametrize("arguments", [(), ("a", "long"), ("a", "long", 60, 1), ("A", "long", 60), ("a", "x", 60)])
def test_a_message_with_something_else_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(DocumentError):
        read_arguments(PAINT, arguments, {})


def test_a_text_is_read_as_a_whole_and_anything_else_is_named() -> None:
    note = Text("name of a note", "[a-c]+")
    assert read(note, "cab") == "cab"
    for value in ("cab?", "", 7, None, ["cab"]):
        with pytest.raises(DocumentError, match=f"^{re.escape(repr(value))} is no name of a note$"):
            read(note, value)


def test_how_many_arguments_there_should_be_is_said() -> None:
    with pytest.raises(DocumentError, match="it has 3 arguments, not 0 and 0 by name"):
        read_arguments(PAINT, (), {})
    with pytest.raises(DocumentError, match="it has 0 arguments, not 1 and 0 by name"):
        read_arguments(REST, ("x",), {})


def test_arguments_by_name_are_refused() -> None:
    """Else a message could name one that nobody has looked at."""
    with pytest.raises(DocumentError, match="not 2 and 1 by name"):
        read_arguments(PAINT, ("a", "long"), {"seconds": 60})
    with pytest.raises(DocumentError, match="not 3 and 1 by name"):
        read_arguments(PAINT, ("a", "long", 60), {"force": True})


def test_a_word_is_one_of_a_few_and_a_text() -> None:
    assert read(SelfTest, "short") is SelfTest.SHORT
    for wrong in ("green", "", "SHORT", 1, None, ["short"], SelfTest.SHORT):
        with pytest.raises(DocumentError, match="there is no SelfTest"):
            read(SelfTest, wrong)


@pytest.mark.parametrize("name", [ask.ASKER, ask.DISK_KEY, ask.MESSAGE_ID], ids=lambda text: text.what)
def test_a_name_is_one_line(name: Text) -> None:
    assert read(name, "anna maría") == "anna maría"
    for wrong in ("", "x" * 257, "a\nb", "a\x00", "a\n", 1, None, ["a"]):
        with pytest.raises(DocumentError, match=f"is no {name.what}$"):
            read(name, wrong)


def test_the_id_of_a_run_is_never_a_path() -> None:
    assert read(ask.RUN_ID, "7f0c2a4e-0000-4000-8000-000000000001") == "7f0c2a4e-0000-4000-8000-000000000001"
    for wrong in ("../x", "a/b", ".", "", "-a", "A", "a" * 65, "a\n", None):
        with pytest.raises(DocumentError, match=r"is no id of a run$"):
            read(ask.RUN_ID, wrong)


def test_what_is_refused_is_shown_in_part_only() -> None:
    """A message can be as long as it likes; the log shows what it began with."""
    for argument in (ask.RUN_ID, SelfTest, ask.TRIAL_LENGTH, ask.TRACE_LENGTH):
        with pytest.raises(DocumentError) as error:
            read(argument, "y" * 10_000)
        assert "yyy" in str(error.value)
        assert len(str(error.value)) < 120


@pytest.mark.parametrize("seconds", [0, 1, LONGEST_S])
def test_a_trial_lasts_a_number_of_seconds(seconds: int) -> None:
    assert read(ask.TRIAL_LENGTH, seconds) == seconds


@pytest.mark.parametrize("seconds", [-1, LONGEST_S + 1, 60.0, "60", True, None])
def test_what_is_no_length_of_a_trial_is_refused(seconds: object) -> None:
    with pytest.raises(DocumentError, match=r"is no length of a trial$"):
        read(ask.TRIAL_LENGTH, seconds)


def test_reads_are_followed_for_a_number_of_seconds_in_a_pool_that_is_named_by_its_guid() -> None:
    assert [read(ask.TRACE_LENGTH, seconds) for seconds in (60, 86400)] == [60, 86400]
    for wrong in (59, 86401, 60.0, "60", None):
        with pytest.raises(DocumentError, match=r"is no length of a trace$"):
            read(ask.TRACE_LENGTH, wrong)
    assert read(ask.POOL_GUID, "18446744073709551615") == "18446744073709551615"
    for guid in ("", "tank", "-1", "1" * 21, 1):
        with pytest.raises(DocumentError, match=r"is no guid of a pool$"):
            read(ask.POOL_GUID, guid)


ORDER = MeasureOrder("0a1b2c3d", "1")


def test_a_document_is_read_as_what_it_is_a_form_of() -> None:
    assert read(MeasureOrder, to_document(ORDER)) == ORDER


def test_an_order_for_a_measurement_is_read_and_its_id_is_never_a_path() -> None:
    """The id names a dataset and a file."""
    assert read(ask.MEASURE_ORDER, to_document(ORDER)) == ORDER
    with pytest.raises(DocumentError, match=r"is no id of a measurement$"):
        read(ask.MEASURE_ORDER, {**to_document(ORDER), "id": "../0a1b2c3d"})
    for argument in (ask.MEASURE_ORDER, MeasureOrder):
        with pytest.raises(DocumentError, match="measureorder"):
            read(argument, {"id": "0a1b2c3d"})
