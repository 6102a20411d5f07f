"""Findings about a host."""

from dataclasses import replace

import pytest

from nasadvisor.domain.findings import findings_of
from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.statements import Level
from tests.unit.machines import home_server, with_pool


def codes_of(inventory: Inventory) -> dict[str, Level]:
    return {finding.code: finding.level for finding in findings_of(only_tank(inventory))}


def only_tank(inventory: Inventory) -> Inventory:
    return replace(inventory, pools=inventory.pools[:1])


def test_it_finds_nothing_about_a_healthy_pool() -> None:
    assert codes_of(home_server()) == {}


@pytest.mark.parametrize(("state", "level"), [("DEGRADED", Level.WARNING), ("FAULTED", Level.CRITICAL)])
def test_it_finds_a_pool_that_is_not_online(state: str, level: Level) -> None:
    assert codes_of(with_pool(home_server(), state=state)) == {"pool-not-online": level}


def test_it_names_the_devices_at_fault() -> None:
    tank = home_server().pools[0]
    legs = tank.data[0].children
    bad = replace(tank.data[0], state="DEGRADED", children=(legs[0], replace(legs[1], state="UNAVAIL")))
    inventory = with_pool(home_server(), state="DEGRADED", data=(bad, tank.data[1]))
    (finding,) = findings_of(only_tank(inventory))
    assert f"{legs[1].path.rpartition('/')[2]} (UNAVAIL)" in str(finding)


def test_it_finds_errors_of_devices_in_a_pool_that_is_online() -> None:
    tank = home_server().pools[0]
    erring = replace(
        tank.data[0], children=(replace(tank.data[0].children[0], checksum_errors=3), tank.data[0].children[1])
    )
    assert codes_of(with_pool(home_server(), data=(erring, tank.data[1]))) == {"device-errors": Level.WARNING}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"suspended": True}, "pool-suspended"),
        ({"read_only": True}, "pool-read-only"),
        ({"checkpoint": "1G"}, "pool-checkpoint"),
    ],
)
def test_it_finds_pools_in_special_states(changes: dict[str, object], code: str) -> None:
    assert list(codes_of(with_pool(home_server(), **changes))) == [code]


def test_it_finds_that_openzfs_is_missing() -> None:
    host = replace(home_server().host, zfs_userland="")
    assert list(codes_of(replace(home_server(), host=host, pools=()))) == ["no-openzfs"]
