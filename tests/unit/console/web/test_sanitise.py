"""What hosts tell reaches no table with characters that no database, page or log can take."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.web.sanitise import accepted, cell, cells, require_times, sanitised
from nasadvisor.console.worker import tasks
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import DocumentError, Json, to_document
from tests.unit.console.test_records import NODE, run_at

GOLDEN = Path(__file__).parents[3] / "golden"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet=st.characters()), inner),
)


@given(JSON)
def test_everything_that_is_left_can_be_written_down(document: object) -> None:
    text = repr(sanitised(document))
    text.encode()
    assert "\\x00" not in text


@given(JSON)
def test_what_is_harmless_is_not_touched(document: object) -> None:
    once = sanitised(document)
    assert sanitised(once) == once


@pytest.mark.parametrize("kept", ["NAS-Größe 1 TB", "Zeile\n\tzwei", "硬盘", "🖴", ""])
def test_ordinary_text_stays(kept: str) -> None:
    assert sanitised({"a": [kept]}) == {"a": [kept]}


def test_half_a_character_and_control_characters_are_shown_as_lost() -> None:
    assert sanitised("a\ud800b\x00c\x1b[31m\x9b") == "a\N{REPLACEMENT CHARACTER}b" + "\N{REPLACEMENT CHARACTER}c" + (
        "\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.django_db
def test_every_task_is_given_harmless_arguments() -> None:
    document = to_document(Statement("silent", "{problem}", {"problem": "zpool: \ud83d\x00"}))
    tasks.error.apply(args=("nas1", "read_inventory", "", document), throw=True)
    (node,) = Node.objects.all()
    assert str(node.inventory_error) == "zpool: \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


NO_TIMES = [
    "never",
    "<b>x</b>",
    "=1+1",
    "2026-08-25T20:15:00",
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59+00:00",
]


def with_time(document: Json, name: str, value: str) -> Json:
    """The document with another value at each place of this name."""

    def changed(part: object) -> object:
        if isinstance(part, dict):
            return {key: value if key == name else changed(each) for key, each in part.items()}
        return [changed(each) for each in part] if isinstance(part, list) else part

    found = changed(document)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("said", NO_TIMES)
@pytest.mark.parametrize("name", ["started_at", "ended_at"])
def test_a_run_with_free_text_for_a_time_is_not_stored(name: str, said: str) -> None:
    run = to_document(run_at(9, RunState.APPLIED))
    with pytest.raises(ValueError, match=r"time|isoformat"):
        tasks.answer(NODE, "run", with_time(run, name, said))
    assert not StoredRun.objects.exists()
    tasks.answer(NODE, "run", run)
    assert StoredRun.objects.exists()


TRAVELS = sorted(path for path in GOLDEN.glob("*/*.json") if path.parent.name != "record")
"""Records of a journal stay on their host."""


@pytest.mark.parametrize("path", TRAVELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_times_that_every_release_wrote_are_times(path: Path) -> None:
    require_times(json.loads(path.read_text(encoding="utf-8")))


def test_words_for_people_are_no_times() -> None:
    require_times({"code": "x", "template": "{until}", "values": {"until": "tomorrow", "at": {"values": {"at": "x"}}}})


def test_arguments_nested_too_deeply_are_refused_before_the_task_begins() -> None:
    nested: list[object] = []
    for _ in range(2000):
        nested = [nested]
    with pytest.raises(DocumentError, match="nested too deeply"):
        accepted(nested)


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_text_of_others_is_no_formula(begin: str) -> None:
    assert cell(f"{begin}1+1").startswith("'")


def test_numbers_stay_numbers() -> None:
    assert cells([-5, -0.5, None, "Samsung 990"]) == ["-5", "-0.5", "", "Samsung 990"]
    assert cell(timezone.now())[4] == "-"


def test_a_row_is_read_back_as_it_was_written() -> None:
    file = io.StringIO()
    csv.writer(file).writerow(cells(["a\r=b", "\t=c"]))
    assert next(csv.reader(io.StringIO(file.getvalue(), newline=""))) == ["a\r=b", "'\t=c"]
