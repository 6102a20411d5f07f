"""A cache out of service and back on real OpenZFS."""

import json

import pytest

from tests.integration.command_line import PLAN, CommandLine, cli
from tests.integration.test_endings import wish
from tests.integration.test_stories import CHECK, PHOTOS

pytestmark = pytest.mark.lab
__all__ = ["cli"]

SSDS = ("nvme0", "nvme1")


def caches(cli: CommandLine) -> list[dict[str, str]]:
    (pool,) = json.loads(cli("inventory", "--json").stdout)["pools"]
    found: list[dict[str, str]] = pool["caches"]
    return found


def states(cli: CommandLine) -> list[str]:
    return sorted(cache["state"] for cache in caches(cli))


def with_caches(cli: CommandLine) -> str:
    """A mirrored log and two caches; the guid of the first cache."""
    cli.apply(*wish(cli.guest, *SSDS, cache=SSDS))
    return caches(cli)[0]["guid"]


def test_a_cache_is_out_of_service_over_an_import_until_its_undo_and_nothing_is_lost(cli: CommandLine) -> None:
    """Proves: `zpool offline` takes a cache out of use and leaves it in an ONLINE pool, an export and import keep it
    so, the undo puts it back ONLINE, and every byte of the pool is there."""
    guest = cli.guest
    guid = with_caches(cli)
    guest.run(PHOTOS + "sync; zpool sync tank")
    run = cli.apply("--offline-cache", guid)
    assert states(cli) == ["OFFLINE", "ONLINE"]
    guest.run("zpool export tank; zpool import tank")
    assert states(cli) == ["OFFLINE", "ONLINE"]
    assert cli.ending("undo", run).state == "undone"
    assert states(cli) == ["ONLINE", "ONLINE"]
    guest.run(CHECK)


@pytest.mark.long
def test_with_autoexpand_nothing_is_taken_out_for_openzfs_would_not_put_it_back(cli: CommandLine) -> None:
    """Proves: OpenZFS itself refuses `zpool online` of a cache in a pool with autoexpand=on, and the product refuses
    `zpool offline` there before anything is changed."""
    guest = cli.guest
    guid = with_caches(cli)
    assert cli("plan", "--pool", "tank", "--offline-cache", guid, "--output", PLAN).code == 0
    guest.run("zpool set autoexpand=on tank")
    refused = cli("apply", PLAN, "--yes")
    assert refused.code == 3
    assert "autoexpand=on" in refused.stdout + refused.stderr
    assert states(cli) == ["ONLINE", "ONLINE"]
    guest.run(f"zpool offline tank {guid}")
    answer = guest.run(["zpool", "online", "tank", guid], check=False)
    assert "cannot expand cache devices" in answer.stdout + answer.stderr
    guest.run(f"zpool set autoexpand=off tank; zpool online tank {guid}")
    assert states(cli) == ["ONLINE", "ONLINE"]
