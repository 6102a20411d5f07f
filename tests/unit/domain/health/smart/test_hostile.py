"""Whatever a document holds, decoding it ends in a reading."""

import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasadvisor.domain.health.smart.reading import SmartReading, decode
from nasadvisor.domain.health.wear.forecast import forecast
from nasadvisor.domain.health.wear.history import Snapshot, history_of
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.data import smartctl_documents
from tests.unit.domain.health.smart.drives import nvme, sas, sata

HUGE = 10**400
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-HUGE, HUGE) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
ROWS = [(number, "Unknown_Attribute", 100, 90) for number in range(160, 250)]
SAMPLES = [
    nvme(),
    sas(),
    sata((202, "Percent_Lifetime_Remain", 30, 70), (246, "Total_LBAs_Written", 100, 10**10), page7=70, sectors=10**9),
    sata(*ROWS, family=""),
    *smartctl_documents(),
]


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with each of its keys."""
    found: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        node = stack.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        found.extend((node, key) for key in keys)
        stack.extend(node[key] for key in keys)
    return found


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A sample in which some values are replaced by anything, or gone."""
    document = copy.deepcopy(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 6))):
        spots = places(document)
        if not spots:
            break
        container, key = draw(st.sampled_from(spots))
        if draw(st.booleans()) and isinstance(container, dict):
            del container[key]
        else:
            container[key] = draw(JSON)
    return document


@given(JSON)
def test_anything_at_all_decodes(document: Any) -> None:
    reading = decode(document)
    assert from_document(SmartReading, to_document(reading)) == reading


@pytest.mark.slow
@settings(max_examples=500)
@given(mutated())
def test_a_mutated_document_decodes_to_a_document(document: Any) -> None:
    reading = decode(document)
    assert from_document(SmartReading, json.loads(json.dumps(to_document(reading)))) == reading


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.tuples(st.floats(-1e18, 1e18) | st.floats(0, 1e-3), mutated()), max_size=4), st.floats(-1e9, 1e9))
def test_a_history_of_mutated_documents_has_a_forecast(entries: list[tuple[float, Any]], days: float) -> None:
    found = forecast(history_of([Snapshot(hours, decode(document)) for hours, document in entries]), days)
    for spread in (found.percent_at, found.bytes_per_day, found.percent_per_year):
        if spread is not None:
            assert 0 <= spread.low <= spread.middle <= spread.high < math.inf


def test_names_are_printable_and_short() -> None:
    identity = decode(nvme() | {"model_name": "A\x00B\ud800\n C" + "x" * 10_000}).identity
    assert identity.model.startswith("AB C")
    assert len(identity.model) == 120
