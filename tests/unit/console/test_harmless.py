"""What hosts tell reaches no table with characters that no database, page or log can take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.console import tasks
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.harmless import harmless
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import to_document

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet=st.characters()), inner),
)


@given(JSON)
def test_everything_that_is_left_can_be_written_down(document: object) -> None:
    text = repr(harmless(document))
    text.encode()
    assert "\\x00" not in text


@given(JSON)
def test_what_is_harmless_is_not_touched(document: object) -> None:
    once = harmless(document)
    assert harmless(once) == once


@pytest.mark.parametrize("kept", ["NAS-Größe 1 TB", "Zeile\n\tzwei", "硬盘", "🖴", ""])
def test_ordinary_text_stays(kept: str) -> None:
    assert harmless({"a": [kept]}) == {"a": [kept]}


def test_half_a_character_and_control_characters_are_shown_as_lost() -> None:
    assert harmless("a\ud800b\x00c\x1b[31m\x9b") == "a\N{REPLACEMENT CHARACTER}b" + "\N{REPLACEMENT CHARACTER}c" + (
        "\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.django_db
def test_every_task_is_given_harmless_arguments() -> None:
    document = to_document(Statement("silent", "{problem}", {"problem": "zpool: \ud83d\x00"}))
    tasks.store_inventory_error.apply(args=("nas1", document), throw=True)
    (node,) = Node.objects.all()
    assert str(node.inventory_error) == "zpool: \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
