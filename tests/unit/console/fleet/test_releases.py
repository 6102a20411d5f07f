"""A console and hosts of other releases: what each reads of the other, and what the pages say about it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.fleet.schema_versions import Age, SchemaVersions, age_of
from nasadvisor.stored import kinds
from nasadvisor.stored.documents import Json, NewerForm, from_document, to_document
from nasadvisor.stored.kinds import Kind, kind_of, own_schema_versions
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.machines import TANK, home_server

GOLDEN = Path(__file__).parents[3] / "golden"
NODE = home_server().host.node


def golden(kind: str) -> list[Json]:
    """Documents of a kind in the form of this release."""
    newest = max((GOLDEN / kind).glob("*.json"), key=lambda file: int(file.stem))
    documents: list[Json] = json.loads(newest.read_text(encoding="utf-8"))
    return documents


def moved_on(kind: Kind, **renamed: str) -> Kind:
    """The same kind one release later: these fields had other names until then."""

    def rename(document: Json) -> Json:
        return {renamed.get(name, name): value for name, value in document.items()}

    return replace(kind, upgrades=(*kind.upgrades, rename))


def before(document: Json, **renamed: str) -> Json:
    """A document as it was with the other names."""
    return {{new: old for old, new in renamed.items()}.get(name, name): value for name, value in document.items()}


CHANGES: Mapping[str, Mapping[str, str]] = {
    "inventory": {"pool_list": "pools"},
    "run": {"who": "by"},
    "reading": {"intervals": "samples"},
    "pool-facts": {"called": "name"},
}
"""What a pretended next release calls otherwise."""


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """This console is one release ahead of every host."""
    monkeypatch.setattr(kinds, "_registry", dict(kinds._registry))
    for name, changes in CHANGES.items():
        [kind] = [kind for kind in kinds.all_kinds() if kind.name == name]
        kinds.register(moved_on(kind, **changes))
    monkeypatch.setattr("nasadvisor.console.fleet.nodes.INVENTORY", kind_of(type(home_server())))


def of_this_release(kind: str, number: int = 0) -> Json:
    """What a host that has not been updated sends: the golden document, with the names of then."""
    return before(golden(kind)[number], **CHANGES[kind])


@pytest.mark.usefixtures("next_release")
def test_a_host_one_release_behind_is_read_sampled_and_undone(operator: Client, sent: list[Sent]) -> None:
    inventory = of_this_release("inventory")
    take_answer(NODE, "inventory", inventory)
    node = Node.objects.get()
    assert node.inventory == home_server()

    take_answer(NODE, "reading", of_this_release("reading"))
    pool = SampledPool.objects.get(guid="pool_guid")
    assert len(list(series.whole_samples_of(pool, Resolution.RAW, -1, 2**40))) == 1

    run = {**of_this_release("run"), "state": "applied", "seq": 18, "node": NODE, "trial": None}
    take_answer(NODE, "run", run)
    stored = StoredRun.objects.get()
    sent.clear()
    page = operator.get(f"/runs/{stored.pk}/").content.decode()
    assert f"/runs/{stored.pk}/undo/" in page
    operator.post(f"/runs/{stored.pk}/undo/", {"password": PASSWORD})
    assert [(order.task, order.args) for order in sent] == [("host.undo", [str(stored.pk), "operator"])]
    for path in ("/", "/storage/", "/disks/", "/settings/", "/runs/", f"/pools/{TANK}/evidence/"):
        assert operator.get(path).status_code == 200
    assert home_server().host.os_name in operator.get("/settings/").content.decode()


@pytest.mark.usefixtures("next_release")
def test_what_was_stored_before_an_update_of_the_console_is_still_there(viewer: Client) -> None:
    Node.objects.create(name=NODE, inventory_document=of_this_release("inventory"))
    facts = of_this_release("pool-facts")
    node = Node.objects.get()
    pool = SampledPool.objects.create(node=node, guid="1", name="tank", facts_document=facts)
    assert pool.facts.name == golden("pool-facts")[0]["name"]
    assert viewer.get("/settings/").status_code == 200


@pytest.mark.usefixtures("next_release")
def test_the_overview_says_that_a_host_is_older_and_what_to_do(viewer: Client) -> None:
    take_answer(NODE, "inventory", of_this_release("inventory"))
    take_answer(NODE, "schema-versions", golden_schema_versions(NODE))
    page = " ".join(viewer.get("/").content.decode().split())
    assert f"{NODE} has an older release of NAS Advisor (0.1.0) than this console" in page
    assert "Update the package nasadvisor there" in page


def golden_schema_versions(node: str) -> Json:
    return to_document(SchemaVersions(node, "0.1.0", dict.fromkeys(CHANGES, 1)))


def test_the_overview_says_that_the_console_is_older_and_what_to_do(viewer: Client) -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    ours = own_schema_versions()
    newer = replace(ours, node=NODE, release="9.9", forms={**ours.forms, "inventory": ours.forms["inventory"] + 1})
    take_answer(NODE, "schema-versions", to_document(newer))
    page = " ".join(viewer.get("/").content.decode().split())
    assert f"{NODE} has a newer release of NAS Advisor (9.9) than this console" in page
    assert "Update NAS Advisor on the console" in page


def test_a_host_whose_inventory_is_newer_than_ours_has_been_heard_from() -> None:
    with pytest.raises(NewerForm):
        take_answer(NODE, "inventory", {**to_document(home_server()), "version": 99})
    assert Node.objects.get().last_contact


def test_a_host_of_the_same_release_is_not_spoken_of(viewer: Client) -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    take_answer(NODE, "schema-versions", to_document(own_schema_versions(NODE)))
    assert "release of NAS Advisor" not in viewer.get("/").content.decode()


def test_a_host_that_tells_what_it_speaks_is_told_what_we_speak(sent: list[Sent]) -> None:
    take_answer(NODE, "schema-versions", to_document(own_schema_versions(NODE)))
    [order] = [each for each in sent if each.task == "host.hear_forms"]
    assert from_document(SchemaVersions, order.args[0]) == own_schema_versions()


def test_it_takes_no_word_for_another_node() -> None:
    with pytest.raises(ValueError, match="came from other"):
        take_answer("other", "schema-versions", to_document(own_schema_versions(NODE)))


@pytest.mark.parametrize(
    "document", [None, [], {}, {"forms": {"run": "1"}}, {"node": "nas", "release": "", "forms": []}]
)
def test_what_does_not_say_which_versions_it_has_is_refused(document: Any) -> None:
    with pytest.raises(ValueError, match="not a valid schemaversions document"):
        take_answer(NODE, "schema-versions", document)


@pytest.mark.parametrize(
    ("theirs", "age"),
    [
        ({"run": 2, "plan": 1}, Age.SAME),
        ({"run": 2}, Age.SAME),
        ({"run": 1}, Age.OLDER),
        ({}, Age.OLDER),
        (None, Age.OLDER),
        ({"run": 3}, Age.NEWER),
        ({"run": 2, "unheard-of": 2}, Age.NEWER),
        ({"run": 2, "unheard-of": 1}, Age.SAME),
        ({"run": 1, "plan": 2}, Age.NEWER),
    ],
)
def test_which_of_two_is_older(theirs: dict[str, int] | None, age: Age) -> None:
    ours = SchemaVersions("", "2", {"run": 2, "plan": 1})
    assert age_of(None if theirs is None else SchemaVersions("nas", "1", theirs), ours) is age
