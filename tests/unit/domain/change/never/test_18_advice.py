"""Never advice that leads to harm when it is followed word for word in the state in which it is given."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change.refusals import CacheOverwritten, PoolNotOnline
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory, Vdev
from tests.unit.machines import home_server, with_pool

PRODUCT = Path(__file__).parents[5]
SOURCES = [path for part in ("nasadvisor", "plugins") for path in (PRODUCT / part).rglob("*.py")]
MARKS = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop"})

CHANGING = re.compile(r"zpool (destroy|import|labelclear|remove|detach|offline|online|attach|replace|add|export) ")
"""What changes a pool or a label, with what it is to act on; a verb alone is only spoken of."""

SAFE = (
    # A vdev by its guid, for its path may lead to another one by now.
    r"zpool (remove|detach|online) \{pool\} \{guids?\}",
    r"zpool offline (-f )?\{pool\} \{guids?\}",
    # The same, where the reader fills in the guid that the sentence speaks of.
    r"zpool (remove|detach|online) (\{pool\}|POOL) GUID",
    r"zpool offline -f",  # spoken of: with nothing to act on zpool only prints its usage
    # A pool that is away by its guid. One that is to be destroyed under a name that nothing else has: `zpool import` of
    # a name that is taken fails, and what is destroyed by that name afterwards is the pool that is there.
    r"zpool import \{guid\}",
    r"zpool import -N \{guid\} old-\{guid\}",
    r"zpool import -F \{guid\}",
    # An imported pool has its name alone.
    r"zpool export \{pool\}",
    r"zpool import -m( \{pool\})?",
    r"zpool destroy old-\{guid\}",
    # A label by the path of the very device that carries it.
    r"zpool labelclear (-f )?\{(path|slice)\}",
)


def commands_in(path: Path) -> set[str]:
    """Every command that a sentence of a source file names."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    marks = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in MARKS and call.args)
    texts = (mark.args[0].value for mark in marks if isinstance(mark.args[0], ast.Constant))
    return {command for text in texts for command in re.findall("`([^`]+)`", str(text))}


def is_safe(command: str) -> bool:
    return not CHANGING.match(command) or any(re.fullmatch(shape, command) for shape in SAFE)


def test_what_changes_a_pool_is_named_by_guid_or_by_a_name_that_nothing_else_has() -> None:
    named = {command for path in SOURCES for command in commands_in(path)}
    assert len([command for command in named if CHANGING.match(command)]) >= len(SAFE) - 1
    assert {command for command in named if not is_safe(command)} == set()


@pytest.mark.parametrize(
    "harmful",
    [
        "zpool destroy {pool}",
        "zpool destroy {what}",
        "zpool import {pool}",
        "zpool import -N {guid} {what}",
        "zpool remove {pool} {path}",
        "zpool detach {pool} {name}",
        "zpool labelclear /dev/sdb1",
        "zpool labelclear -f {kernel}",
    ],
)
def test_what_can_meet_another_pool_or_device_would_be_seen(harmful: str) -> None:
    assert not is_safe(harmful)


@pytest.mark.parametrize("spoken_of", ["zpool import", "zpool remove", "zpool status {pool}", "zpool clear {pool}"])
def test_what_is_only_spoken_of_or_reads_is_no_matter(spoken_of: str) -> None:
    assert is_safe(spoken_of)


def ill(checkpoint: str) -> Inventory:
    """A pool with a dead log, a mirrored log of which one side is broken, and a cache that is gone."""
    dead = Vdev("31", "disk", "a", "FAULTED", path="/dev/a", write_errors=9)
    half = (Vdev("33", "disk", "b", "ONLINE", path="/dev/b"), Vdev("34", "disk", "c", "UNAVAIL", path="/dev/c"))
    mirror = Vdev("32", "mirror", "mirror-4", "DEGRADED", children=half)
    cache = Vdev("35", "disk", "d", "UNAVAIL", path="/dev/d")
    vdevs = {"logs": (dead, mirror), "caches": (cache,)}
    return with_pool(home_server(), state="DEGRADED", checkpoint=checkpoint, **vdevs)


def what_takes_out(inventory: Inventory) -> list[Statement]:
    """What is said of the pool that names a command which takes a device out of it."""
    pool = inventory.pools[0]
    refusals = (
        *(PoolNotOnline(replace(pool, logs=(log,))) for log in pool.logs),
        CacheOverwritten(pool, pool.caches[0], "ext4"),
    )
    said: list[Statement] = [*findings_of(replace(inventory, pools=(pool,))), *refusals]
    return [each for each in said if re.search("`zpool (remove|detach) ", str(each))]


def test_nothing_is_said_to_be_taken_out_of_a_pool_with_a_checkpoint_before_that_is_discarded() -> None:
    """OpenZFS refuses it until then."""
    said = what_takes_out(ill(checkpoint="180K"))
    assert {each.code for each in said} == {
        "log-missing",
        "log-one-side",
        "cache-missing",
        "pool-not-online",
        "cache-overwritten",
    }
    assert len(said) == len(what_takes_out(ill(checkpoint=""))) == 6
    assert all("`zpool checkpoint -d tank`" in str(each) for each in said)
    assert not any("checkpoint" in str(each) for each in what_takes_out(ill(checkpoint="")))
