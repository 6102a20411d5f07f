"""Small parts of made-up machines, and hypothesis strategies for whole ones and for what somebody may want of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from nasadvisor.domain.actions import AddCache, AddLog, AttachLog, Naming, Role, Slice
from nasadvisor.domain.inventory import (
    Bus,
    Disk,
    DiskIdentity,
    Hold,
    HoldKind,
    Host,
    Inventory,
    Partition,
    Pool,
    TableKind,
    Vdev,
)
from nasadvisor.domain.plan import PlanIds, PlanRequest
from nasadvisor.domain.statements import Answer, Refused
from nasadvisor.domain.units import GIB, MIB, TIB
from tests.unit.machines import NVME1, NVME2, TANK, home_server, leaf_on, partition, with_disk

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
    legs = tuple(slice_on(disk_of(inventory, key)) for key in keys)
    return made(inventory, *legs), AddLog("tank", TANK, 12, legs)


def cache_on(*keys: str) -> tuple[Inventory, AddCache]:
    """A machine on which the slices of a cache are ready, and the action that would add them to tank."""
    inventory = home_server()
    pieces = tuple(slice_on(disk_of(inventory, key), Role.CACHE) for key in keys)
    return made(inventory, *pieces), AddCache("tank", TANK, 12, pieces)


def attach_to_log() -> tuple[Inventory, AttachLog]:
    """A machine where tank has a single log on the first NVMe SSD, and a slice on the second is ready to join it."""
    inventory, _ = log_on(NVME1)
    inventory = with_log(inventory, leaf_on(disk_of(inventory, NVME1), LOG_GUID))
    leg = slice_on(disk_of(inventory, NVME2))
    return made(inventory, leg), AttachLog("tank", TANK, 12, LOG_GUID, disk_of(inventory, NVME1).path, leg)


def mirrored_log() -> tuple[Inventory, tuple[Slice, ...]]:
    """A machine where tank has a mirrored log on both NVMe SSDs, and the slices it stands on."""
    inventory, action = log_on(NVME1, NVME2)
    legs = (leaf_on(disk_of(inventory, NVME1), LOG_GUID), leaf_on(disk_of(inventory, NVME2), "32"))
    mirror = Vdev(MIRROR_GUID, "mirror", "mirror-2", "ONLINE", ashift=12, children=legs)
    return with_log(inventory, mirror), action.legs


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
    """The code of a refusal; "" where there is none."""
    return answer.code if isinstance(answer, Refused) else ""


# Whole machines for property tests. Most of them are healthy, or few requests would ever become plans.


def rarely(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Nearly always the first value, which is also the one that failing examples shrink to."""
    return st.sampled_from((usual,) * 15 + others)


def uuid_texts() -> st.SearchStrategy[str]:
    """UUIDs as udev writes them."""
    return st.uuids().map(str)


@st.composite
def partitions(draw: st.DrawFn, size_bytes: int, sector: int, name: str) -> tuple[Partition, ...]:
    """Partitions that do not overlap, somewhere on a disk of this size; not aligned, not numbered in order."""
    last = size_bytes // sector - 40
    cuts = sorted(draw(st.sets(st.integers(40, last), max_size=6)))
    bounds = list(zip(cuts[::2], cuts[1::2], strict=False))
    numbers = draw(st.lists(st.integers(1, 128), min_size=len(bounds), max_size=len(bounds), unique=True))
    holds = rarely((), (Hold(HoldKind.FILESYSTEM, "ext4"),), (Hold(HoldKind.BOOT, "/"),), (IN_TANK,))
    found = []
    for number, (start, end) in zip(numbers, bounds, strict=True):
        partuuid = draw(uuid_texts())
        found.append(
            Partition(
                number=number,
                partuuid=partuuid,
                type_uuid=draw(uuid_texts()),
                name=draw(st.sampled_from(("", "data", "$(reboot)"))),
                start_bytes=start * sector,
                size_bytes=(end - start) * sector,
                kernel_name=f"{name}{number}",
                path=f"/dev/disk/by-partuuid/{partuuid}",
                links=(f"/dev/disk/by-partuuid/{partuuid}",),
                holds=draw(holds),
            )
        )
    return tuple(found)


@st.composite
def disks(draw: st.DrawFn, number: int) -> Disk:
    """A disk: mostly blank or with some partitions, mostly usable. Some share a serial, as namespaces do."""
    sector = draw(rarely(512, 4096, 4096, 520))
    size = draw(st.one_of(st.integers(1 * GIB, 2 * TIB), st.integers(8 * MIB, 4 * GIB))) // 512 * 512
    kernel = f"sd{chr(97 + number)}"
    table = draw(st.sampled_from((TableKind.NONE, TableKind.GPT, TableKind.GPT, TableKind.NONE, TableKind.OTHER)))
    parts = draw(partitions(size, sector, kernel)) if table is TableKind.GPT else ()
    key = f"0x500{number:013d}" if draw(rarely(True, False)) else ""
    path = (
        f"/dev/disk/by-id/wwn-{key or number}\\x20$(x)" if draw(rarely(True, False)) else draw(rarely("", "/dev/sda"))
    )
    return Disk(
        identity=DiskIdentity("SSD 9;rm -rf /", draw(rarely(f"S{number}", "S0", "s0 ", "")), key, size, sector, sector),
        kernel_name=kernel,
        path=path,
        links=(path,),
        bus=draw(st.sampled_from(Bus)),
        rotational=draw(st.booleans()),
        removable=False,
        table=table,
        table_uuid=draw(uuid_texts()) if table is TableKind.GPT else "",
        usable_start_bytes=draw(st.sampled_from((34 * sector, MIB, 6 * sector))),
        usable_end_bytes=max(size // sector - 33, 40) * sector,
        partitions=parts,
        holds=draw(st.one_of(st.just(()), rarely((), *((Hold(kind, "x"),) for kind in HoldKind)))),
    )


@st.composite
def pools(draw: st.DrawFn, name: str, guid: str, on: tuple[Disk, ...]) -> Pool:
    """A pool, mostly ONLINE; its logs stand on some partitions of these disks."""
    parts = [part for disk in on for part in disk.partitions]
    tops = []
    for index, part in enumerate(draw(st.lists(st.sampled_from(parts), max_size=2, unique=True)) if parts else ()):
        state = draw(rarely("ONLINE", "FAULTED", "OFFLINE"))
        tops.append(Vdev(f"{guid}{index}", "disk", part.path, state, path=draw(rarely(part.path, "")), ashift=12))
    return Pool(
        name=name,
        guid=guid,
        state=draw(rarely("ONLINE", "DEGRADED", "FAULTED")),
        ashift=draw(rarely(12, 9, 13, 0, -1, 10**9)),
        size_bytes=8 * TIB,
        allocated_bytes=TIB,
        read_only=draw(rarely(False, True)),
        suspended=draw(rarely(False, True)),
        checkpoint=draw(rarely("", "1.2G")),
        multihost=draw(rarely(False, True)),
        features=draw(rarely(("allocation_classes",), ())),
        scan=draw(rarely("", "scrub", "resilver")),
        logs=tuple(tops),
    )


@st.composite
def inventories(draw: st.DrawFn) -> Inventory:
    """A machine with some disks and a pool or two."""
    found = tuple(draw(disks(number)) for number in range(draw(st.integers(1, 4))))
    if draw(rarely(False, True)):
        found = (*found, found[0])  # two devices that claim to be the same disk
    names = draw(st.sampled_from((("tank",), ("tank", "my pool"))))
    host = Host("nas", "Debian", "6.1", "2.3.9", draw(rarely("2.3.9", "2.3.7", "")), 32 * GIB)
    tail = draw(st.sampled_from((MIB, 2 * GIB + MIB)))
    all_pools = tuple(draw(pools(name, str(10 + index), found)) for index, name in enumerate(names))
    return Inventory(replace(host, tail_bytes=tail), found, all_pools, "2026-08-25T20:15:00+00:00")


NUMBERS = st.one_of(
    st.integers(-2, 3),
    st.sampled_from((64 * MIB, 64 * MIB - 1, GIB, 2 * GIB, 5 * GIB, 10**400, -(10**400))),
    st.integers(-(2**70), 2**70),
)
"""Sizes as somebody types them, and as nobody should."""

SIZES = st.integers(64 * MIB, 8 * GIB)


@st.composite
def requests(draw: st.DrawFn, inventory: Inventory, numbers: st.SearchStrategy[int] = SIZES) -> PlanRequest:
    """A wish for this machine that could come true."""
    keys = st.sampled_from([disk.key for disk in inventory.disks])
    pool = draw(st.sampled_from(inventory.pools))
    attach = draw(rarely(False, True, True, True, True, True)) and bool(pool.logs)
    logs = draw(st.lists(keys, min_size=1 if attach else 0, max_size=1 if attach else 3, unique=True))
    caches = draw(st.lists(keys, min_size=0 if logs else 1, max_size=3, unique=True))
    return PlanRequest(
        pool_guid=pool.guid,
        log_disks=tuple(logs),
        log_size_bytes=draw(numbers),
        cache_disks=tuple(caches),
        cache_size_bytes=draw(st.one_of(st.none(), numbers)),
        reserve_percent=draw(st.integers(0, 60)),
        naming=draw(st.sampled_from(Naming)),
        use_free_extents=draw(st.sampled_from((True, True, False))),
        attach_to=draw(st.sampled_from([top.guid for top in pool.logs])) if attach else "",
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
    )


def ids_for(request: PlanRequest, make: Callable[[int], str] | None = None) -> PlanIds:
    """As many identifiers as a plan can need."""
    name = make or (lambda number: f"aaaaaaaa-0000-4000-8000-{number:012d}")
    return PlanIds("plan-1", "2026-08-25T20:15:00+00:00", tuple(map(name, range(PlanIds.uuids_needed(request)))))


@st.composite
def guids(draw: st.DrawFn, count: int) -> tuple[str, ...]:
    """As many guids as OpenZFS would make."""
    numbers = st.integers(2**60, 2**64 - 1)
    return tuple(map(str, draw(st.lists(numbers, min_size=count, max_size=count, unique=True))))
