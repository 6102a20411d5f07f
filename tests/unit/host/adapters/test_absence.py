"""What an answer does not tell is never read as if it were not there: no rule gets looser by it."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from nasadvisor.domain.change.checks import LOG_FEATURE
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.pools import LibzfsPools, with_locked_datasets
from nasadvisor.host.adapters.zpool import ZpoolJson, parse_status, with_properties
from nasadvisor.host.errors import OutputUnreadable
from tests.unit.fakes import FakeRunner
from tests.unit.host.adapters.recordings import SHAPES, as_printed, recording
from tests.unit.host.adapters.standin import module

CLASSES = ("logs", "l2cache", "special", "dedup", "spares")
# OpenZFS leaves these out where there is nothing of the kind, so their absence tells just that. The statistics of a
# checkpoint are not among them: the pool's feature tells of it too.
MAY_BE_ABSENT = frozenset({*CLASSES, "scan_stats", "rebuild_stats", "removal_stats", "raidz_expand_stats"})

STATUS = "zpool status -j -P -p"

Way = tuple[str, ...]
Document = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """What the rules refuse for, so that more of each is never looser."""

    is_bad: frozenset[str]
    errors: int
    paths: frozenset[str]

    def is_at_least(self, other: "Facts") -> bool:
        return self.is_bad >= other.is_bad and self.errors >= other.errors and self.paths >= other.paths


def facts_of(pool: Pool) -> Facts:
    bad = {
        "read-only": pool.read_only,
        "suspended": pool.suspended,
        "checkpoint": bool(pool.checkpoint),
        "multihost": pool.multihost,
        "state": pool.state != "ONLINE",
        "feature": LOG_FEATURE not in pool.features,
        "resilver": pool.scan == "resilver",
        "locked": bool(pool.locked_datasets),
        "data-errors": bool(pool.data_errors),
        **{f"vdev {vdev.guid}": vdev.state != "ONLINE" for vdev in pool.vdevs()},
    }
    return Facts(
        frozenset(what for what, is_so in bad.items() if is_so),
        sum(vdev.read_errors + vdev.write_errors for top in pool.logs for vdev in top.walk()),
        frozenset(vdev.path for vdev in pool.vdevs()),
    )


def ill(commands: Document) -> Document:
    """The same pool with whatever a rule refuses for: read-only, in use by many hosts, errors on every log device."""
    commands = copy.deepcopy(commands)
    for command, answer in commands.items():
        for pool in answer["pools"].values() if isinstance(answer, dict) and "pools" in answer else ():
            if "all" in command:
                pool["properties"]["readonly"]["value"] = pool["properties"]["multihost"]["value"] = "on"
            for vdev in walk(pool.get("logs", {})):
                vdev.update(read_errors="3", write_errors="4")
    return commands


def walk(vdevs: Document) -> Iterator[Document]:
    for vdev in vdevs.values():
        yield vdev
        yield from walk(vdev.get("vdevs", {}))


def ways(node: Document, way: Way = ()) -> Iterator[Way]:
    """The way to every field of an answer; a vdev and what may be absent are no fields, but those in them are."""
    for key, child in node.items():
        is_vdev = isinstance(child, dict) and "vdev_type" in child
        if key not in MAY_BE_ABSENT and not is_vdev:
            yield (*way, key)
        if isinstance(child, dict):
            yield from ways(child, (*way, key))


def without(commands: Document, command: str, way: Way) -> Document:
    damaged = {**commands, command: copy.deepcopy(commands[command])}
    node = damaged[command]
    for key in way[:-1]:
        node = node[key]
    del node[way[-1]]
    return damaged


def read(commands: Document) -> tuple[Pool, ...]:
    runner = FakeRunner({command: as_printed(answer) for command, answer in commands.items()})
    return with_locked_datasets(ZpoolJson(runner).read(), runner)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_ill", [False, True])
def test_no_field_that_is_missing_makes_a_rule_looser(shape: str, is_ill: bool) -> None:
    commands = recording(shape)["commands"]
    commands = ill(commands) if is_ill else commands
    (pool,) = read(commands)
    whole = facts_of(pool)
    tried = 0
    for command in [command for command, answer in commands.items() if isinstance(answer, dict)]:
        for way in ways(commands[command]):
            tried += 1
            try:
                pools = read(without(commands, command, way))
            except (OutputUnreadable, AssertionError):  # or it asks for what nobody recorded
                continue
            assert len(pools) == (0 if command == STATUS and way == ("pools", pool.name) else 1), way
            # Of one that has a problem nothing is allowed at all.
            assert all(found.problem or facts_of(found).is_at_least(whole) for found in pools), (command, way)
    assert tried > 20


def test_an_answer_without_pools_is_not_a_host_without_pools() -> None:
    with pytest.raises(OutputUnreadable, match="/pools is missing"):
        parse_status(Answer.of(STATUS, '{"output_version": {"command": "zpool status"}}'))


@pytest.mark.parametrize("name", ["readonly", "multihost", "version", "feature@zpool_checkpoint", "size"])
def test_a_property_that_decides_must_be_told(name: str) -> None:
    document = copy.deepcopy(recording("mirrors")["commands"])
    del document["zpool get -j -p all tank"]["pools"]["tank"]["properties"][name]
    assert f"{name} is missing" in read(document)[0].problem


@pytest.mark.parametrize("value", ["-", "", "none"])
def test_a_property_that_could_not_be_read_is_not_off(value: str) -> None:
    document = copy.deepcopy(recording("mirrors")["commands"])
    document["zpool get -j -p all tank"]["pools"]["tank"]["properties"]["readonly"]["value"] = value
    assert "instead of on or off" in read(document)[0].problem


def test_a_checkpoint_without_statistics_is_known_by_its_feature() -> None:
    document = copy.deepcopy(recording("checkpoint")["commands"])
    del document[STATUS]["pools"]["inv_a"]["checkpoint_stats"]
    (pool,) = read(document)
    assert pool.checkpoint == "45 KiB"


def test_a_pool_from_before_the_features_has_none_and_no_checkpoint() -> None:
    (pool,) = parse_status(Answer.of(STATUS, json.dumps(recording("mirrors")["commands"][STATUS])))
    told = {"size": "1", "allocated": "1", "readonly": "off", "multihost": "off", "version": "28"}
    told |= {"checkpoint": "-", "fragmentation": "-"}
    properties = Answer("it", "", {name: {"value": value} for name, value in told.items()})
    read = with_properties(pool, properties)
    assert (read.features, read.checkpoint, read.fragmentation_percent) == ((), "", None)


def test_the_ashift_of_a_pool_is_unknown_if_that_of_one_data_vdev_is() -> None:
    document = copy.deepcopy(recording("mirrors")["commands"])
    (command,) = [command for command in document if " ashift " in command]
    first = next(iter(document[command]["vdevs"].values()))
    first["properties"]["ashift"]["value"] = "0"
    (pool,) = read(document)
    assert pool.ashift == 0


@pytest.mark.parametrize("shape", ["checkpoint", "log-caches", "read-only", "multihost"])
def test_the_binding_is_held_to_the_same(shape: str) -> None:
    recorded = recording(shape)["libzfs"]
    (pool,) = LibzfsPools(module(recorded)).read()
    for name in ("readonly", "multihost", "size"):
        damaged = {**recorded, "properties": {key: text for key, text in recorded["properties"].items() if key != name}}
        assert "py-libzfs" in LibzfsPools(module(damaged)).read()[0].problem
    tree = {key: stats for key, stats in recorded["config"]["vdev_tree"].items() if key != "checkpoint_stats"}
    (without_stats,) = LibzfsPools(module({**recorded, "config": {"vdev_tree": tree}})).read()
    assert bool(without_stats.checkpoint) == bool(pool.checkpoint)
    features = [feature for feature in recorded["features"] if feature["name"] != "zpool_checkpoint"]
    assert "zpool_checkpoint" in LibzfsPools(module({**recorded, "features": features})).read()[0].problem
