"""What every release has ever written is read by this one; a form does not change without a new number."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, make_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from nasadvisor.domain.statements import Statement
from nasadvisor.stored import kinds as registry
from nasadvisor.stored.documents import DocumentError, Json, NewerForm, from_document, to_document
from nasadvisor.stored.kinds import Kind
from tests.unit.stored.examples import kinds
from tests.unit.stored.shapes import shape_of

GOLDEN = Path(__file__).parents[2] / "golden"
KINDS = kinds()
FROZEN = [(kind, number) for kind in KINDS for number in range(1, kind.number + 1)]


def golden(kind: Kind, number: int) -> list[Json]:
    documents: list[Json] = json.loads((GOLDEN / kind.name / f"{number}.json").read_text(encoding="utf-8"))
    return documents


def said(value: Any) -> str:
    return value.name if isinstance(value, Kind) else str(value)


@pytest.mark.parametrize("kind", KINDS, ids=said)
def test_a_kind_has_a_golden_file_for_each_of_its_numbers_and_no_other(kind: Kind) -> None:
    names = {path.name for path in (GOLDEN / kind.name).iterdir()}
    assert names == {f"{number}.{end}" for number in range(1, kind.number + 1) for end in ("json", "shape")}


def test_there_is_no_golden_file_of_a_kind_that_is_gone() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {kind.name for kind in KINDS} | {
        "packed-sample",
        "packed-readings",
    }


@pytest.mark.parametrize("kind", KINDS, ids=said)
def test_the_shape_of_a_kind_changes_only_with_its_number(kind: Kind) -> None:
    """It did? Append an upgrade to `nasadvisor/stored/upgrades/KIND.py`, name it in `kinds.py`, then `make freeze`."""
    assert (GOLDEN / kind.name / f"{kind.number}.shape").read_text(encoding="utf-8") == shape_of(kind.of)


@pytest.mark.parametrize(("kind", "number"), FROZEN, ids=said)
def test_what_an_earlier_release_wrote_is_read(kind: Kind, number: int) -> None:
    for document in golden(kind, number):
        thing: Any = from_document(kind.of, document)  # type: ignore[arg-type]
        assert from_document(kind.of, to_document(thing)) == thing  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS, ids=said)
def test_what_is_written_now_is_what_was_frozen(kind: Kind) -> None:
    for document in golden(kind, kind.number):
        assert to_document(from_document(kind.of, document)) == document  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS, ids=said)
def test_no_field_of_a_kind_is_called_like_its_number(kind: Kind) -> None:
    for each in (kind.of, *get_args(kind.of)):
        if is_dataclass(each):
            assert "version" not in {field.name for field in fields(each)}


@pytest.mark.parametrize("kind", KINDS, ids=said)
def test_a_newer_form_is_refused_as_newer_and_not_as_damaged(kind: Kind) -> None:
    for document in golden(kind, kind.number):
        with pytest.raises(NewerForm, match="newer release"):
            from_document(kind.of, {**document, "version": kind.number + 1})  # type: ignore[arg-type]


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Kind]:
    """Registers a dataclass as a kind of its own, as a later release might."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))

    def register(of: type, *upgrades: Callable[[Json], Json]) -> Kind:
        kind = Kind("pretended", of, upgrades)
        registry.register(kind)
        return kind

    return register


First = make_dataclass("First", [("name", str), ("bytes", int)], frozen=True)
Third = make_dataclass("Third", [("name", str), ("size_bytes", int), ("note", Statement | None)], frozen=True)


def rename_bytes(document: Json) -> Json:
    return {"name": document["name"], "size_bytes": document["bytes"]}


def add_note(document: Json) -> Json:
    return {**document, "note": None}


def test_steps_are_chained_from_the_number_that_a_document_has(changed: Callable[..., Kind]) -> None:
    first, third = First("a", 5), Third("a", 5, None)
    changed(First)
    written = to_document(first)
    assert written["version"] == 1
    changed(Third, rename_bytes, add_note)
    assert from_document(Third, written) == third
    assert from_document(Third, {"name": "a", "size_bytes": 5, "version": 2}) == third
    assert to_document(third) == {"name": "a", "size_bytes": 5, "note": None, "version": 3}
    assert from_document(Third, to_document(third)) == third


@pytest.mark.parametrize("document", [{}, {"name": "a"}, {"name": "a", "bytes": "x"}, {"bytes": 5}])
def test_an_upgrade_of_a_damaged_document_is_damage(changed: Callable[..., Kind], document: Json) -> None:
    changed(Third, rename_bytes, add_note)
    with pytest.raises(DocumentError, match="not a valid third document"):
        from_document(Third, {**document, "version": 1})


@pytest.mark.parametrize("document", [{}, {"name": "a", "bytes": 5}, [], None, "x"])
def test_what_says_no_number_is_no_document(changed: Callable[..., Kind], document: object) -> None:
    changed(First)
    with pytest.raises(DocumentError, match="not a valid first document"):
        from_document(First, document)


def test_a_step_never_changes_the_document_that_it_is_given(changed: Callable[..., Kind]) -> None:
    changed(Third, rename_bytes, add_note)
    document = {"name": "a", "bytes": 5, "version": 1}
    from_document(Third, document)
    assert document == {"name": "a", "bytes": 5, "version": 1}


def test_a_change_of_any_part_however_deep_changes_the_shape() -> None:
    inner = make_dataclass("Inner", [("a", int)])
    outer = make_dataclass("Outer", [("parts", tuple[inner, ...])])  # type: ignore[valid-type]
    changed_inner = make_dataclass("Inner", [("a", int), ("b", str)])
    changed_outer = make_dataclass("Outer", [("parts", tuple[changed_inner, ...])])  # type: ignore[valid-type]
    assert shape_of(outer) != shape_of(changed_outer)
    renamed = make_dataclass("Renamed", [("parts", tuple[inner, ...])])  # type: ignore[valid-type]
    assert shape_of(outer) == shape_of(renamed)


def test_a_kind_without_steps_has_number_one() -> None:
    kind = KINDS[0]
    assert replace(kind, upgrades=()).number == 1
    assert replace(kind, upgrades=(add_note, add_note)).number == 3
