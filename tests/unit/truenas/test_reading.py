"""Pools and disks by the API, in the domain's terms; against a stand-in."""

import copy
from typing import Any

import pytest

from nasadvisor.domain.storage.inventory import Bus, Hold, HoldKind
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.errors import OutputUnreadable
from plugins.truenas.api.access import TrueNasAccess
from plugins.truenas.api.connection import session_with
from plugins.truenas.api.reading import Picture, read_picture
from tests.unit.truenas.standin import POOL_GUID, StandIn, identifier, leaf, mirror, stats


def picture_by(access: TrueNasAccess) -> Picture:
    with session_with(access) as session:
        return read_picture(session)


def test_a_pool_comes_with_its_vdevs_by_class(truenas: StandIn, access: TrueNasAccess) -> None:
    sides = (leaf("112", "sdb", "sdb1", "b1"), leaf("113", "sdc", "sdc1", "c1"))
    sides[1]["stats"] = stats(write_errors=2)
    truenas.pools[0]["topology"]["log"] = [mirror("111", 1, *sides)]
    truenas.pools[0]["topology"]["cache"] = [leaf("121", "sdd", "sdd1", "d1")]
    picture = picture_by(access)
    pool = picture.inventory.pool(POOL_GUID)
    assert pool is not None
    assert (pool.name, pool.state, pool.ashift, pool.size_bytes) == ("tank", "ONLINE", 12, 4000 * GIB)
    assert [(top.guid, top.kind) for top in pool.logs] == [("111", "mirror")]
    assert [(side.guid, side.path, side.write_errors) for side in pool.logs[0].children] == [
        ("112", "/dev/disk/by-partuuid/b1", 0),
        ("113", "/dev/disk/by-partuuid/c1", 2),
    ]
    assert [top.guid for top in pool.caches] == ["121"]
    assert picture.pool_ids == {POOL_GUID: 3}
    assert picture.inventory.host.os_name == "TrueNAS 25.10.1"


def test_a_disk_comes_with_what_it_is_and_what_holds_it(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.disk("sdc").update(exported_zpool="old", duplicate_serial=["sdx"], bus="NVME")
    picture = picture_by(access)
    by_name = {disk.kernel_name: disk for disk in picture.inventory.disks}
    assert by_name["sdb"].holds == ()
    assert by_name["sdb"].identity.logical_sector_bytes == 512
    assert not by_name["sdb"].rotational
    assert by_name["sda"].rotational
    assert by_name["sda"].holds == (Hold(HoldKind.POOL, "tank"),)
    assert by_name["sde"].holds == (Hold(HoldKind.BOOT, "boot-pool"),)
    assert by_name["sdc"].holds == (Hold(HoldKind.EXPORTED_POOL, "old"), Hold(HoldKind.DUPLICATE, "sdx"))
    assert by_name["sdc"].bus is Bus.NVME
    part = by_name["sda"].partitions[0]
    assert (part.start_bytes, part.size_bytes, part.kernel_name) == (MIB, 4000 * GIB - MIB, "sda1")


@pytest.mark.parametrize(
    "odd",
    [{"duplicate_serial": 1.5}, {"duplicate_serial": "sdx"}, {"imported_zpool": ["tank"]}, {"exported_zpool": {}}],
)
def test_what_holds_a_disk_is_not_guessed_from_an_answer_of_another_shape(
    truenas: StandIn, access: TrueNasAccess, odd: dict[str, Any]
) -> None:
    truenas.disk("sdc").update(odd)
    with pytest.raises(OutputUnreadable, match=next(iter(odd))):
        picture_by(access)


def test_disks_are_known_by_the_name_that_lasts(truenas: StandIn, access: TrueNasAccess) -> None:
    picture = picture_by(access)
    disk = picture.disk_named(identifier("SSD2"))
    assert disk is not None
    assert disk.kernel_name == "sdc"
    assert picture.disk_named("{serial_lunid}nobody") is None


def test_two_disks_of_one_name_are_nobody(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.disks.append({**copy.deepcopy(truenas.disk("sdb")), "name": "sdx"})
    assert picture_by(access).disk_named(identifier("SSD1")) is None


def test_a_pool_that_is_offline_has_no_topology_and_is_read_all_the_same(
    truenas: StandIn, access: TrueNasAccess
) -> None:
    truenas.pools[0].update(status="OFFLINE", topology=None, size=None, allocated=None)
    pool = picture_by(access).inventory.pools[0]
    assert (pool.state, pool.data, pool.logs, pool.size_bytes) == ("OFFLINE", (), (), 0)


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("pool.query", {"tank": {}}),
        ("pool.query", ["tank"]),
        ("pool.query", [{"id": 3, "name": "tank"}]),
        ("pool.query", [{"id": "x", "name": "tank", "guid": "1", "status": "ONLINE", "topology": {}}]),
        ("disk.details", ["sda"]),
        ("disk.details", {"used": []}),
        ("disk.details", {"used": [], "unused": ["sda"]}),
        ("disk.details", {"used": [], "unused": [{"name": "sda", "partitions": []}]}),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_its_place(
    truenas: StandIn, access: TrueNasAccess, method: str, result: Any
) -> None:
    truenas.results[method] = result
    with pytest.raises(OutputUnreadable, match=f"TrueNAS .{method}"):
        picture_by(access)
