"""A cache out of service and back on real OpenZFS."""

import pytest

from tests.integration.product import Product, product
from tests.integration.test_cli import PLAN, plan
from tests.integration.test_stories import CHECK, PHOTOS

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_guest")]
__all__ = ["product"]

OUT = "/root/out.json"


def cache_states(product: Product) -> list[str]:
    pools = product.json("inventory")["pools"]
    (pool,) = [pool for pool in pools if pool["name"] == "tank"]
    return [cache["state"] for cache in pool["caches"]]


def with_caches(product: Product) -> str:
    """A mirrored log and two caches; the guid of the first cache."""
    plan(product)
    assert product.json("apply", PLAN, "--yes")["state"] == "applied"
    pools = product.json("inventory")["pools"]
    (pool,) = [pool for pool in pools if pool["name"] == "tank"]
    return str(pool["caches"][0]["guid"])


def test_a_cache_is_out_of_service_over_an_import_until_its_undo_and_nothing_is_lost(product: Product) -> None:
    """Proves: `zpool offline` takes a cache out of use and leaves it in an ONLINE pool, an export and import keep it
    so, the undo puts it back ONLINE, and every byte of the pool is there."""
    guest = product.guest
    guid = with_caches(product)
    guest.run(PHOTOS + "sync; zpool sync tank")
    product.json("plan", "--pool", "tank", "--offline-cache", guid, "--output", OUT)
    run = product.json("apply", OUT, "--yes")
    assert run["state"] == "applied"
    assert sorted(cache_states(product)) == ["OFFLINE", "ONLINE"]
    guest.run("zpool export tank; zpool import tank")
    assert sorted(cache_states(product)) == ["OFFLINE", "ONLINE"]
    assert product.cli("undo", run["run"], "--yes").code == 0
    assert cache_states(product) == ["ONLINE", "ONLINE"]
    guest.run(CHECK)


@pytest.mark.long
def test_with_autoexpand_nothing_is_taken_out_for_openzfs_would_not_put_it_back(product: Product) -> None:
    """Proves: OpenZFS itself refuses `zpool online` of a cache in a pool with autoexpand=on, and the product refuses
    `zpool offline` there before anything is changed."""
    guest = product.guest
    guid = with_caches(product)
    product.json("plan", "--pool", "tank", "--offline-cache", guid, "--output", OUT)
    guest.run("zpool set autoexpand=on tank")
    refused = product.cli("apply", OUT, "--yes")
    assert refused.code == 3
    assert "autoexpand=on" in refused.stdout + refused.stderr
    assert cache_states(product) == ["ONLINE", "ONLINE"]
    guest.run(f"zpool offline tank {guid}")
    answer = guest.run(["zpool", "online", "tank", guid], check=False)
    assert "cannot expand cache devices" in answer.stdout + answer.stderr
    guest.run(f"zpool set autoexpand=off tank; zpool online tank {guid}")
    assert cache_states(product) == ["ONLINE", "ONLINE"]
