"""What `zpool -j` prints is never trusted: whatever is wrong with it ends in a sentence."""

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.storage.inventory import UNREADABLE
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.zpool import ZpoolJson, parse_status, state_name
from nasadvisor.host.errors import CommandFailed, OutputUnreadable
from tests.unit.fakes import FakeRunner
from tests.unit.host.adapters.recordings import as_printed, recording, runner

STATUS = "zpool status -j -P -p"
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just([]), st.just({}), st.just({"x": {}})
)


def status(shape: str) -> dict[str, Any]:
    document: dict[str, Any] = recording(shape)["commands"][STATUS]
    return copy.deepcopy(document)


def places(node: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Every object of a document with each of its keys."""
    below = [place for child in node.values() if isinstance(child, dict) for place in places(child)]
    return [(node, key) for key in node] + below


@given(st.data())
def test_any_damage_is_survived_or_explained(data: st.DataObject) -> None:
    document = status(data.draw(st.sampled_from(["log-caches", "classes", "replacing", "checkpoint"])))
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places(document) or [(document, "pools")]))
        junk = data.draw(JUNK)
        if data.draw(st.booleans()):
            node[key] = junk
        else:
            node.pop(key, None)
    with suppress(OutputUnreadable):
        parse_status(Answer.of(STATUS, json.dumps(document)))


@given(st.integers(1, 3000))
def test_broken_off_output_is_refused(length: int) -> None:
    text = as_printed(status("log-caches"))
    with pytest.raises(OutputUnreadable, match="it is not JSON"):
        ZpoolJson(FakeRunner({STATUS: text[:length]})).read()


@pytest.mark.parametrize("text", ["", "null", "[]", "7", "no pools available\n", "{" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(OutputUnreadable):
        ZpoolJson(FakeRunner({STATUS: text})).read()


def without_kinds(document: dict[str, Any]) -> dict[str, Any]:
    """As OpenZFS 2.3.2 tells of dRAID vdevs when it is asked by name (OpenZFS issue 18431)."""
    for pool in document["pools"].values():
        for vdev in pool["vdevs"][pool["name"]]["vdevs"].values():
            del vdev["vdev_type"], vdev["state"]
    return document


def by_guid(document: dict[str, Any]) -> dict[str, Any]:
    """The same, asked for with -g."""

    def named(vdevs: dict[str, Any]) -> dict[str, Any]:
        return {each["guid"]: {**each, "vdevs": named(each.get("vdevs", {}))} for each in vdevs.values()}

    pools = {name: {**pool, "vdevs": named(pool["vdevs"])} for name, pool in document["pools"].items()}
    return {**document, "pools": pools}


def test_a_pool_whose_vdevs_are_not_told_by_name_is_read_by_guid() -> None:
    commands = {command: as_printed(answer) for command, answer in recording("draid")["commands"].items()}
    whole = ZpoolJson(FakeRunner(commands)).read()
    commands |= {STATUS: json.dumps(without_kinds(status("draid")))}
    commands |= {"zpool status -j -g -P -p": json.dumps(by_guid(status("draid")))}
    (pool,) = ZpoolJson(FakeRunner(commands)).read()
    assert (pool.problem, pool.ashift) == ("", whole[0].ashift)
    assert [leaf.guid for leaf in pool.vdevs()] == [leaf.guid for leaf in whole[0].vdevs()]


def test_a_pool_that_is_not_understood_hides_no_other_and_is_called_by_its_name() -> None:
    document = without_kinds(status("draid"))
    document["pools"] |= status("mirrors")["pools"]
    odd, tank = parse_status(Answer.of(STATUS, json.dumps(document)))
    assert (odd.name, odd.state, "vdev_type" in odd.problem) == ("inv_a", UNREADABLE, True)
    assert (tank.name, tank.problem, len(tank.data)) == ("tank", "", 2)


@pytest.mark.parametrize(
    ("told", "kept"),
    [("off", ""), ("-", ""), ("legacy", "legacy"), ("grub2,openzfs-2.0", "grub2,openzfs-2.0")],
)
def test_what_a_pool_is_limited_to_is_kept(told: str, kept: str) -> None:
    commands = {command: as_printed(answer) for command, answer in recording("mirrors")["commands"].items()}
    properties = recording("mirrors")["commands"]["zpool get -j -p all tank"]
    properties["pools"]["tank"]["properties"]["compatibility"] = {"value": told}
    (pool,) = ZpoolJson(FakeRunner(commands | {"zpool get -j -p all tank": json.dumps(properties)})).read()
    assert pool.compatibility == kept


def test_no_pools_need_one_command() -> None:
    fake = FakeRunner(
        {STATUS: '{"output_version":{"command":"zpool status","vers_major":0,"vers_minor":1},"pools":{}}'}
    )
    assert ZpoolJson(fake).read() == ()
    assert len(fake.ran) == 1


def test_unknown_kinds_and_fields_are_kept_and_passed_over() -> None:
    document = status("log-caches")
    pool = document["pools"]["inv_a"]
    pool["vdevs"]["inv_a"]["vdevs"]["mirror-0"].update(vdev_type="anyraid", state="SLEEPY", new_field=[1, 2])
    pool["crystals"] = {"a": {}}
    (read,) = parse_status(Answer.of(STATUS, json.dumps(document)))
    assert (read.data[0].kind, read.data[0].state) == ("anyraid", "SLEEPY")
    assert len(read.data[0].children) == 2


def test_guids_keep_every_digit_even_as_numbers() -> None:
    document = status("mirrors")
    document["pools"]["tank"]["pool_guid"] = 18446744073709551615
    (read,) = parse_status(Answer.of(STATUS, json.dumps(document)))
    assert read.guid == "18446744073709551615"


def test_new_checkpoint_without_any_space_yet_counts() -> None:
    document = status("checkpoint")
    document["pools"]["inv_a"]["checkpoint_stats"]["space"] = "0"
    (read,) = parse_status(Answer.of(STATUS, json.dumps(document)))
    assert read.checkpoint == "0 B"


def test_checkpoint_that_is_being_discarded_counts_until_it_is_gone() -> None:
    document = status("checkpoint")
    document["pools"]["inv_a"]["checkpoint_stats"]["state"] = "DISCARDING"
    assert parse_status(Answer.of(STATUS, json.dumps(document)))[0].checkpoint


@pytest.mark.parametrize(("stats", "scan"), [("removal_stats", "removal"), ("raidz_expand_stats", "expansion")])
def test_moving_data_is_something_that_runs(stats: str, scan: str) -> None:
    document = status("mirrors")
    document["pools"]["tank"][stats] = {"name": "x", "state": "SCANNING"}
    assert parse_status(Answer.of(STATUS, json.dumps(document)))[0].scan == scan


@pytest.mark.parametrize(
    ("state", "aux", "shown"),
    [
        ("ONLINE", "", "ONLINE"),
        ("CLOSED", "", "OFFLINE"),
        ("CANT_OPEN", "OPEN_FAILED", "UNAVAIL"),
        ("CANT_OPEN", "", "UNAVAIL"),
        ("CANT_OPEN", "CORRUPT_DATA", "FAULTED"),
        ("CANT_OPEN", "BAD_LOG", "FAULTED"),
        ("CANT_OPEN", "SPLIT_POOL", "SPLIT"),
    ],
)
def test_states_as_openzfs_prints_them(state: str, aux: str, shown: str) -> None:
    assert state_name(state, aux) == shown


def test_a_failing_zpool_is_passed_on() -> None:
    fake = FakeRunner({STATUS: CommandFailed(STATUS, 1, "internal error", mutates=False)})
    with pytest.raises(CommandFailed, match="internal error"):
        ZpoolJson(fake).read()


def test_one_call_each_for_all_pools_and_one_for_the_ashift_of_each() -> None:
    fake = runner("log-caches")
    ZpoolJson(fake).read()
    assert [command.args[:4] for command in fake.ran] == [
        ("status", "-j", "-P", "-p"),
        ("get", "-j", "-p", "all"),
        ("get", "-j", "-p", "ashift"),
    ]
    assert not any(command.mutates for command in fake.ran)
