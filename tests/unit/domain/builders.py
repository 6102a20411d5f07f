"""Small parts of made-up machines, and hypothesis strategies for whole ones and for what somebody may want of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from nasadvisor.domain.change.actions import AddCache, AddLog, AttachLog, Naming, Role, Slice
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest
from nasadvisor.domain.statements import Allowed, Answer, Refused
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import (
    Bus,
    Disk,
    Hold,
    HoldKind,
    Host,
    Inventory,
    Partition,
    Pool,
    TableKind,
    Vdev,
)
from nasadvisor.domain.storage.logs import broken_log_sides
from nasadvisor.domain.units import GIB, MIB, TIB
from tests.unit.machines import NVME1, NVME2, TANK, home_server, leaf_on, partition, with_disk

Example = tuple[Inventory, Plan]

IN_TANK = Hold(HoldKind.POOL, "tank")
TABLE_UUID = "5d0e7c9e-0000-4000-8000-000000000001"
LOG_GUID = "31"
MIRROR_GUID = "30"


def disk_of(inventory: Inventory, key: str) -> Disk:
    """The disk that must be there."""
    disk = inventory.disk(key)
    assert disk is not None
    return disk


def tank_of(inventory: Inventory) -> Pool:
    """The pool tank, which must be there."""
    pool = inventory.pool(TANK)
    assert pool is not None
    return pool


def slice_on(disk: Disk, role: Role = Role.LOG, number: int = 1, size_bytes: int = 4 * GIB, **changes: Any) -> Slice:
    """A slice on a disk, behind those of lower numbers if all have the same size."""
    piece = Slice(
        disk_key=disk.key,
        disk_path=disk.path,
        number=number,
        start_bytes=MIB + (number - 1) * size_bytes,
        size_bytes=size_bytes,
        sector_bytes=disk.identity.logical_sector_bytes,
        partuuid=partition(disk, number, MIB, MIB).partuuid,
        role=role,
        naming=Naming.PARTUUID,
    )
    return replace(piece, **changes)


def made(inventory: Inventory, *pieces: Slice, holds: tuple[Hold, ...] = ()) -> Inventory:
    """The machine once these slices are on their disks, with a GPT where there was none."""
    for piece in pieces:
        disk = disk_of(inventory, piece.disk_key)
        parts = (*disk.partitions, replace(piece.as_partition(), holds=holds))
        inventory = with_disk(inventory, piece.disk_key, table=TableKind.GPT, table_uuid=TABLE_UUID, partitions=parts)
    return inventory


def log_on(*keys: str, inventory: Inventory | None = None) -> tuple[Inventory, AddLog]:
    """A machine on which the slices of a log are ready, and the action that would add it to tank."""
    inventory = inventory or home_server()
    sides = tuple(slice_on(disk_of(inventory, key)) for key in keys)
    return made(inventory, *sides), AddLog("tank", TANK, 12, sides)


def cache_on(*keys: str) -> tuple[Inventory, AddCache]:
    """A machine on which the slices of a cache are ready, and the action that would add them to tank."""
    inventory = home_server()
    pieces = tuple(slice_on(disk_of(inventory, key), Role.CACHE) for key in keys)
    return made(inventory, *pieces), AddCache("tank", TANK, 12, pieces)


def attach_to_log() -> tuple[Inventory, AttachLog]:
    """A machine where tank has a single log on the first NVMe SSD, and a slice on the second is ready to join it."""
    inventory, _ = log_on(NVME1)
    inventory = with_log(inventory, leaf_on(disk_of(inventory, NVME1), LOG_GUID))
    side = slice_on(disk_of(inventory, NVME2))
    return made(inventory, side), AttachLog("tank", TANK, 12, LOG_GUID, disk_of(inventory, NVME1).path, side)


def mirrored_log() -> tuple[Inventory, tuple[Slice, ...]]:
    """A machine where tank has a mirrored log on both NVMe SSDs, and the slices it stands on."""
    inventory, action = log_on(NVME1, NVME2)
    sides = (leaf_on(disk_of(inventory, NVME1), LOG_GUID), leaf_on(disk_of(inventory, NVME2), "32"))
    mirror = Vdev(MIRROR_GUID, "mirror", "mirror-2", "ONLINE", ashift=12, children=sides)
    return with_log(inventory, mirror), action.sides


def with_log(inventory: Inventory, *tops: Vdev) -> Inventory:
    """The machine with these log vdevs in tank, their partitions held by it."""
    paths = {leaf.path for top in tops for leaf in top.leaves()}
    pools = tuple(replace(pool, logs=tops) if pool.guid == TANK else pool for pool in inventory.pools)
    disks = tuple(
        replace(
            disk,
            partitions=tuple(
                replace(part, holds=(IN_TANK,)) if paths & {part.path, *part.links} else part
                for part in disk.partitions
            ),
        )
        for disk in inventory.disks
    )
    return replace(inventory, pools=pools, disks=disks)


def change_vdev(inventory: Inventory, guid: str, **changes: Any) -> Inventory:
    """The machine with one vdev of tank's log changed, wherever it stands."""

    def changed(vdev: Vdev) -> Vdev:
        vdev = replace(vdev, children=tuple(map(changed, vdev.children)))
        return replace(vdev, **changes) if vdev.guid == guid else vdev

    pools = tuple(replace(pool, logs=tuple(map(changed, pool.logs))) for pool in inventory.pools)
    return replace(inventory, pools=pools)


def code_of(answer: Answer) -> str:
    """The code of a refusal, which has to name everything that it speaks of; "" where there is none."""
    if isinstance(answer, Refused):
        assert not any(value in (None, "None") for value in answer.values.values()), answer.values
        return answer.code
    assert isinstance(answer, Allowed)
    return ""


# Whole machines for property tests. Most of them are healthy, or few wishes would ever become plans: a disk or a pool
# has at most one flaw. Few choices are drawn for each, because drawing is what takes the time.


def rarely(*flaws: Any) -> st.SearchStrategy[Any]:
    """Mostly None, which is also what failing examples shrink to."""
    return st.sampled_from((None,) * 12 * len(flaws) + flaws)


HOLDS = tuple(Hold(kind, "x") for kind in HoldKind)
DISK_FLAWS = (
    *HOLDS,
    "sectors of 520",
    "shared serial",
    "no serial",
    "no name",
    "kernel name",
    "shell",
    "foreign table",
)
POOL_FLAWS = (
    *({"state": state} for state in ("DEGRADED", "FAULTED")),
    *({"ashift": ashift} for ashift in (0, -1, 9, 10**9)),
    *({flag: True} for flag in ("read_only", "suspended", "multihost")),
    *({"scan": scan} for scan in ("scrub", "resilver")),
    {"checkpoint": "1.2G"},
    {"features": ()},
)
LOG_FLAWS = ({"state": "FAULTED"}, {"state": "OFFLINE"}, {"path": ""}, {"path": "/dev/disk/by-id/gone"})


@st.composite
def partitions(draw: st.DrawFn, disk: Disk) -> tuple[Partition, ...]:
    """Partitions that do not overlap, somewhere on the disk; not aligned, and not numbered in order."""
    sector = disk.identity.logical_sector_bytes
    first, last = disk.usable_start_bytes // sector, disk.usable_end_bytes // sector
    cuts = sorted({first + (last - first) * cut // 1000 for cut in draw(st.lists(st.integers(0, 1000), max_size=6))})
    longest = draw(st.sampled_from((2 * GIB, 2 * TIB))) // sector + 7
    step, hold = draw(st.integers(0, 127)), draw(rarely(*HOLDS))
    return tuple(
        replace(
            partition(disk, (step + index * 53) % 128 + 1, start * sector, min(end - start, longest) * sector),
            name="$(reboot)",
            holds=(hold,) if hold else (),
        )
        for index, (start, end) in enumerate(zip(cuts[::2], cuts[1::2], strict=False))
    )


@st.composite
def disks(draw: st.DrawFn, number: int) -> Disk:
    """A disk: mostly blank or with some partitions, mostly usable."""
    flaw = draw(rarely(*DISK_FLAWS))
    sector = 520 if flaw == "sectors of 520" else draw(st.sampled_from((512, 512, 4096)))
    size = draw(st.sampled_from((8 * MIB, 2 * TIB)) | st.integers(16 * GIB, 600 * GIB)) // 4096 * 4096
    key = "" if flaw == "no name" else f"0x500{number:013d}"
    names = {"no name": "", "kernel name": "/dev/sda", "shell": f"/dev/disk/by-id/wwn-{key}$(x)"}
    path = names.get(str(flaw), f"/dev/disk/by-id/wwn-{key}\\x20#+.:=@é")  # whatever udev lets into a name
    serials = {"shared serial": " s0", "no serial": ""}
    disk = Disk(
        identity=DiskIdentity("SSD 9;rm -rf /", serials.get(str(flaw), f"S{number}"), key, size, sector, sector),
        kernel_name=f"sd{chr(97 + number)}",
        path=path,
        links=(path,),
        bus=Bus.SATA,
        rotational=False,
        removable=False,
        table=TableKind.OTHER if flaw == "foreign table" else TableKind.NONE,
        table_uuid="",
        usable_start_bytes=draw(st.sampled_from((34 * sector, MIB))),
        usable_end_bytes=(size // sector - 33) * sector,
        holds=(flaw,) if isinstance(flaw, Hold) else (),
    )
    if flaw == "foreign table" or draw(st.booleans()):
        return disk
    return replace(disk, table=TableKind.GPT, table_uuid=TABLE_UUID, partitions=draw(partitions(disk)))


def with_broken_side(side: Vdev) -> Vdev:
    """A mirrored log of which only this side works."""
    path = "/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead"
    broken = Vdev(f"{side.guid}8", "disk", path, "UNAVAIL", path=path, ashift=12)
    return Vdev(f"{side.guid}9", "mirror", "mirror-2", "DEGRADED", ashift=12, children=(side, broken))


@st.composite
def pools(draw: st.DrawFn, name: str, guid: str, on: tuple[Disk, ...]) -> Pool:
    """A pool, mostly ONLINE; its logs stand on some partitions of these disks."""
    parts = [part for disk in on for part in disk.partitions]
    chosen = draw(st.lists(st.sampled_from(parts), max_size=2)) if parts else []
    tops = tuple(
        replace(Vdev(f"{guid}{index}", "disk", "log", "ONLINE", path=part.path, ashift=12), **flaw)
        for index, part in enumerate(dict.fromkeys(chosen))
        for flaw in (draw(rarely(*LOG_FLAWS)) or {},)
    )
    is_broken = bool(tops) and draw(st.sampled_from((False,) * 5 + (True,)))
    healthy = Pool(
        name=name,
        guid=guid,
        state="DEGRADED" if is_broken else "ONLINE",
        ashift=12,
        size_bytes=8 * TIB,
        allocated_bytes=TIB,
        read_only=False,
        suspended=False,
        checkpoint="",
        multihost=False,
        features=("allocation_classes",),
        logs=(with_broken_side(tops[0]), *tops[1:]) if is_broken else tops,
    )
    return replace(healthy, **(draw(rarely(*POOL_FLAWS)) or {}))


@st.composite
def inventories(draw: st.DrawFn) -> Inventory:
    """A machine with some disks and two pools, one of which has a space in its name."""
    found = tuple(draw(disks(number)) for number in range(draw(st.integers(1, 4))))
    flaw = draw(rarely("twins", "buggy", "unknown"))
    version = {"buggy": "2.3.7", "unknown": ""}.get(str(flaw), "2.3.9")
    tail = draw(st.sampled_from((MIB, 2 * GIB + MIB)))
    host = Host("nas", "Debian", "6.1", "2.3.9", version, 32 * GIB, tail)
    both = (draw(pools("tank", "10", found)), draw(pools("my pool", "20", found)))
    return Inventory(host, (*found, found[0]) if flaw == "twins" else found, both, "2026-08-25T20:15:00+00:00")


NUMBERS = st.one_of(
    st.integers(-2, 3),
    st.sampled_from((64 * MIB, 64 * MIB - 1, GIB, 2 * GIB, 5 * GIB, 10**400, -(10**400))),
    st.integers(-(2**70), 2**70),
)
"""Sizes as somebody types them, and as nobody should."""

SIZES = st.integers(64 * MIB, 4 * GIB)


@st.composite
def requests(draw: st.DrawFn, inventory: Inventory, numbers: st.SearchStrategy[int] = SIZES) -> PlanRequest:
    """A wish for this machine that could come true."""
    keys = st.sampled_from([disk.key for disk in inventory.disks])
    pool = draw(st.sampled_from(inventory.pools))
    attach = bool(pool.logs) and draw(st.booleans())
    logs = dict.fromkeys(draw(st.lists(keys, min_size=1 if attach else 0, max_size=1 if attach else 3)))
    caches = dict.fromkeys(draw(st.lists(keys, min_size=0 if logs else 1, max_size=3)))
    side = draw(st.sampled_from([leaf.guid for top in pool.logs for leaf in top.leaves()])) if attach else ""
    broken = [each.side.guid for each in broken_log_sides(pool) if each.partner.guid == side]
    return PlanRequest(
        pool_guid=pool.guid,
        log_disks=tuple(logs),
        log_size_bytes=draw(numbers),
        cache_disks=tuple(caches),
        cache_size_bytes=draw(st.one_of(st.none(), numbers)),
        reserve_percent=draw(st.integers(0, 40)),
        naming=draw(st.sampled_from(Naming)),
        use_free_extents=draw(st.sampled_from((True,) * 5 + (False,))),
        attach_to=side,
        replaces=broken[0] if broken else "",
    )


@st.composite
def wild_requests(draw: st.DrawFn, inventory: Inventory) -> PlanRequest:
    """A wish that nobody checked: unknown disks, disks named twice, any numbers."""
    keys = st.lists(st.one_of(st.sampled_from([disk.key for disk in inventory.disks]), st.text()), max_size=4)
    guids = [pool.guid for pool in inventory.pools] + [vdev.guid for pool in inventory.pools for vdev in pool.vdevs()]
    return PlanRequest(
        pool_guid=draw(st.one_of(st.sampled_from(guids), st.text())),
        log_disks=tuple(draw(keys)),
        log_size_bytes=draw(NUMBERS),
        cache_disks=tuple(draw(keys)),
        cache_size_bytes=draw(st.one_of(st.none(), NUMBERS)),
        reserve_percent=draw(st.one_of(st.integers(-5, 120), NUMBERS)),
        naming=draw(st.sampled_from(Naming)),
        use_free_extents=draw(st.booleans()),
        attach_to=draw(st.one_of(st.just(""), st.sampled_from(guids), st.text())),
        replaces=draw(st.one_of(st.just(""), st.sampled_from(guids), st.text())),
    )


def ids_for(request: PlanRequest, make: Callable[[int], str] | None = None) -> PlanIds:
    """As many identifiers as a plan can need."""
    name = make or (lambda number: f"aaaaaaaa-0000-4000-8000-{number:012d}")
    return PlanIds("plan-1", "2026-08-25T20:15:00+00:00", tuple(map(name, range(PlanIds.uuids_needed(request)))))
