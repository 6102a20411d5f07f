"""The codec: what goes out comes back equal, and what is not a document never comes in."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change import refusals
from nasadvisor.domain.change.actions import AddCache, AddLog, Outcome, UndoAction
from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import (
    CommandRan,
    Continued,
    DiskImage,
    Done,
    Ended,
    Failed,
    Goal,
    Intent,
    Record,
    Run,
    RunState,
    Skipped,
    Started,
    fold,
)
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory, Vdev
from nasadvisor.stored.documents import (
    MAX_PACKED_BYTES,
    DocumentError,
    Json,
    NewerForm,
    from_document,
    from_json,
    pack,
    to_document,
    to_json,
    unpack,
)
from nasadvisor.stored.kinds import kind_of
from tests.unit.domain.builders import attach_to_log
from tests.unit.machines import MIRROR_AND_CACHES, NVME2, TANK, home_server, plan_for, with_single_log

UNHURRIED = settings(deadline=None, max_examples=80)
AT = "2026-08-25T20:00:00+00:00"
PLAN = plan_for(MIRROR_AND_CACHES, home_server())
ATTACH = plan_for(PlanRequest(TANK, (NVME2,), attach_to="31"), with_single_log())
UNDO: tuple[UndoAction, ...] = tuple(
    step
    for plan in (PLAN, ATTACH)
    for action in reversed(plan.actions)
    for step in action.undo(action.planned_outcome())
)
RAN = (CommandRan(("zpool", "add", "tänk \n\"'"), 1, "", "cannot add\x00\udcff", 0.25), CommandRan((), 0, "", "", 3.0))
RECORDS: tuple[Record, ...] = (
    Started(AT, Goal.APPLY, PLAN, "root"),
    Continued(AT, Goal.UNDO, "anna", UNDO),
    Intent(AT, Goal.UNDO, 0, DiskImage("key", "uuid", "AAAA", "BBBB")),
    Intent(AT, Goal.UNDO, 0),
    Done(AT, Goal.UNDO, 0, Outcome(("18446744073709551615",)), RAN, found=True),
    Failed(AT, Goal.UNDO, 1, Statement("broke", "It broke: {why}", {"why": refusals.NothingToDo("tank").plain}), RAN),
    Skipped(AT, Goal.UNDO, 2, Statement("changed", "Somebody changed it.")),
    Ended(AT, RunState.ATTENTION, (refusals.NothingToDo("tank"),), cannot_be_undone(PLAN)),
)
THINGS: list[tuple[Any, Any]] = [
    (Plan, PLAN),
    (Plan, ATTACH),
    (PlanRequest, MIRROR_AND_CACHES),
    (Inventory, attach_to_log()[0]),
    (Run, fold(RECORDS, "nas")),
    *((Record, record) for record in RECORDS),
    *((UndoAction, step) for step in UNDO),
    *((type(record), record) for record in RECORDS),
]
DOCUMENTS = [(kind, to_document(thing)) for kind, thing in THINGS]
NAMES = [type(thing).__name__ for _, thing in THINGS]


@pytest.mark.parametrize(("kind", "thing"), THINGS, ids=NAMES)
def test_what_goes_out_comes_back_equal(kind: Any, thing: object) -> None:
    assert from_document(kind, to_document(thing)) == thing
    assert from_document(kind, json.loads(json.dumps(to_document(thing)))) == thing
    back = from_json(kind, to_json(thing))
    assert back == thing
    assert type(back) is type(thing)


@pytest.mark.parametrize(("kind", "thing"), THINGS, ids=NAMES)
def test_a_document_is_of_json_types_only_and_one_line_of_ascii(kind: Any, thing: object) -> None:
    del kind
    assert {type(value) for value in values_of(to_document(thing))} <= {dict, list, str, int, float, bool, type(None)}
    text = to_json(thing)
    assert text.isascii()
    assert "\n" not in text


def values_of(document: Any) -> Iterator[Any]:
    """The document and every value in it."""
    yield document
    children = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for child in children:
        yield from values_of(child)


def places_of(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document where a value stands: its object or list, and the key or index there."""
    keys = document.keys() if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield document, key
        yield from places_of(document[key])


WRONG: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1.5,
    float("nan"),
    float("inf"),
    10**30,
    "",
    "x",
    [],
    [1],
    [[]],
    {},
    {"a": "b"},
    {1: 2},
)


@UNHURRIED
@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_value_of_another_type_is_refused(case: tuple[Any, Json], data: st.DataObject) -> None:
    kind, document = case[0], copy.deepcopy(case[1])
    parent, key = data.draw(st.sampled_from(list(places_of(document))))
    before = parent[key]
    wrong = data.draw(st.sampled_from([value for value in WRONG if not could_stand_for(value, before)]))
    parent[key] = wrong
    with pytest.raises(DocumentError, match="not a valid"):
        from_document(kind, document)


def could_stand_for(value: object, before: object) -> bool:
    """Whether a value may be right where another one was: of its type, or a choice that the field leaves."""
    if value in (0, -1) and type(value) is int:
        return type(before) in (int, float, type(None))
    if isinstance(value, float) and value == 1.5:
        return isinstance(before, float)
    if type(value) is str:
        return isinstance(before, str) or (isinstance(before, dict) and "template" in before)  # inside a sentence
    if value is None:
        return isinstance(before, dict | int | None)  # an image or a size that is left open
    return type(value) is type(before) and (isinstance(value, bool) or value == [] or isinstance(value, dict))


@UNHURRIED
@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_missing_or_unknown_field_is_refused(case: tuple[Any, Json], data: st.DataObject) -> None:
    kind, document = case[0], copy.deepcopy(case[1])
    objects = [value for value in values_of(document) if isinstance(value, dict) and "template" not in value]
    objects = [value for value in objects if not is_statement_values(value, document)]
    chosen = data.draw(st.sampled_from(objects))
    if data.draw(st.booleans()):
        del chosen[data.draw(st.sampled_from(sorted(chosen)))]
    else:
        chosen["surprise"] = 1
    with pytest.raises(DocumentError, match=r"missing|unknown|expected str, found NoneType"):
        from_document(kind, document)


def is_statement_values(value: object, document: Json) -> bool:
    """The values of a sentence are the one place where any key may stand."""
    return any(value is each.get("values") for each in values_of(document) if isinstance(each, dict))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@UNHURRIED
@given(st.sampled_from(DOCUMENTS), JSON_VALUES, st.data())
def test_whatever_stands_anywhere_is_read_or_refused_and_nothing_else(
    case: tuple[Any, Json], value: object, data: st.DataObject
) -> None:
    kind, document = case[0], copy.deepcopy(case[1])
    parent, key = data.draw(st.sampled_from(list(places_of(document))))
    parent[key] = value
    for found in (document, value):
        try:
            thing = from_document(kind, found)
        except DocumentError:
            continue  # that nothing else is raised is what this test is about
        assert from_document(kind, to_document(thing)) == thing


@UNHURRIED
@given(st.text())
def test_text_that_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        from_json(Plan, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nul",
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 5000,
        '"\\ud800',
        to_json(PLAN)[:-1],
        to_json(PLAN) * 2,
        to_json(PLAN).replace('"reserve_percent": 10', '"reserve_percent": NaN'),
        to_json(PLAN).replace('"reserve_percent": 10', f'"reserve_percent": {10**40}'),
        to_json(PLAN).replace('"reserve_percent": 10', '"reserve_percent": 10.0'),
        to_json(PLAN).replace('"by-partuuid"', '"by-label"'),
        to_json(PLAN).replace('"add-log"', '"add-data"'),
        to_json(PLAN).replace('"add-log"', '"remove-vdev"'),
        to_json(PLAN).replace(PLAN.id, "../../etc/cron.d/x"),
        to_json(PLAN).replace(PLAN.ids.uuids[0], "$(reboot)"),
    ],
    ids=range(16),
)
def test_odd_json_is_refused(text: str) -> None:
    with pytest.raises(DocumentError) as error:
        from_json(Plan, text)
    assert len(str(error.value)) < 5000


def nested(depth: int) -> Json:
    leaf = to_document(Vdev("1", "disk", "x", "ONLINE"))
    document = leaf
    for _ in range(depth):
        document = {**leaf, "children": [document]}
    return document


def test_a_tree_deeper_than_any_pool_is_read_and_an_endless_one_refused() -> None:
    assert sum(1 for _ in from_document(Vdev, nested(20)).walk()) == 21
    for depth in (500, 900, 1100, 50_000):
        with pytest.raises(DocumentError) as error:
            from_document(Vdev, nested(depth))
        assert len(str(error.value)) < 5000


def test_the_faults_are_told_with_their_places_but_not_without_end() -> None:
    document = to_document(PLAN)
    document["request"]["log_size_bytes"] = "4G"
    document["actions"][0]["table_uuid"] = None
    with pytest.raises(DocumentError) as error:
        from_document(Plan, document)
    assert "not a valid plan document" in str(error.value)
    assert "expected int, found str @ $.request.log_size_bytes" in str(error.value)
    assert "expected str, found NoneType @ $.actions[0].table_uuid" in str(error.value)
    document["actions"] = [{}] * 5000
    with pytest.raises(DocumentError, match="and 4991 more"):
        from_document(Plan, document)


@pytest.mark.parametrize(
    "change",
    [
        lambda request: request.update(log_disks="abc"),
        lambda request: request.update(log_disks={"a": 1}),
        lambda request: request.update(log_size_bytes=True),
        lambda request: request.update(log_size_bytes="5"),
        lambda request: request.update(use_free_extents=1),
        lambda request: request.update(naming="by-label"),
        lambda request: request.update(naming=["by-id"]),
        lambda request: request.update(log_size_bytes=2**63),
    ],
)
def test_nothing_is_coerced(change: Callable[[Json], None]) -> None:
    document = to_document(MIRROR_AND_CACHES)
    change(document)
    with pytest.raises(DocumentError):
        from_document(PlanRequest, document)


def test_a_whole_number_may_stand_for_a_fraction_and_the_largest_one_is_read() -> None:
    assert from_document(CommandRan, {**to_document(RAN[0]), "seconds": 3}).seconds == 3
    request = {**to_document(MIRROR_AND_CACHES), "log_size_bytes": 2**63 - 1}
    assert from_document(PlanRequest, request).log_size_bytes == 2**63 - 1


@pytest.mark.parametrize("kind", [Record, UndoAction])
@pytest.mark.parametrize(
    "document", [None, [], "started", 1, {}, {"record": 1, "action": 1}, {"record": "x", "action": []}]
)
def test_one_of_several_kinds_must_say_which(kind: Any, document: object) -> None:
    with pytest.raises(DocumentError, match="not a valid record document"):
        from_document(kind, document)


def test_a_kind_is_not_taken_for_its_neighbour() -> None:
    log = next(action for action in PLAN.actions if isinstance(action, AddLog))
    with pytest.raises(DocumentError):
        from_document(AddCache, to_document(log))
    with pytest.raises(DocumentError):
        from_document(UndoAction, to_document(log))  # type: ignore[arg-type]


@given(st.text())
def test_a_packed_text_comes_back_as_it_was(text: str) -> None:
    assert unpack(pack(text)) == text


@pytest.mark.parametrize(
    "damaged", ["x", "not base85 \u00e4", pack("a" * 1000)[:20], pack("0" * (MAX_PACKED_BYTES + 1))]
)
def test_a_damaged_or_endless_text_is_refused(damaged: str) -> None:
    with pytest.raises(DocumentError, match="packed text"):
        unpack(damaged)


@pytest.mark.parametrize("template", ["{gone}", "{", "{0}", "{pool.name}", "{pool[x]}"])
def test_a_sentence_whose_template_does_not_fit_its_values_is_refused_before_any_page_says_it(template: str) -> None:
    document = {**to_document(Statement("x", "Pool {pool}", {"pool": "tank"})), "template": template}
    with pytest.raises(DocumentError, match="does not fit its values"):
        from_document(Statement, document)


@pytest.mark.parametrize(
    ("kind", "thing"),
    [(Plan, PLAN), (Run, fold(RECORDS, "nas")), (Record, RECORDS[0]), (Statement, Statement("x", "It broke."))],
)
def test_a_document_of_a_newer_release_is_told_from_a_damaged_one(kind: Any, thing: object) -> None:
    stored = kind_of(kind)
    assert stored
    with pytest.raises(NewerForm, match="written by a newer release of NAS Advisor"):
        from_document(kind, {**to_document(thing), "version": stored.number + 1, "surprise": 1})


@pytest.mark.parametrize("version", [None, "1", True, 1.0, 0, -1])
def test_a_version_that_is_no_number_is_damage(version: object) -> None:
    with pytest.raises(DocumentError) as error:
        from_document(Plan, {**to_document(PLAN), "version": version})
    assert not isinstance(error.value, NewerForm)


@pytest.mark.parametrize("sentence", ["It broke.", None, {}, {"code": "x", "template": "It broke."}])
def test_a_record_says_what_failed_in_a_whole_statement(sentence: object) -> None:
    document = {**to_document(RECORDS[5]), "sentence": sentence}
    with pytest.raises(DocumentError):
        from_document(Record, document)  # type: ignore[arg-type]
