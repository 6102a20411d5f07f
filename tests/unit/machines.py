"""Made-up machines for tests, in the shape of real ones."""

from dataclasses import replace
from zlib import crc32

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
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
    Scan,
    TableKind,
    Vdev,
)
from nasadvisor.domain.units import GIB, MIB, TIB

TANK = "1234567890123456789"
ARCHIVE = "2234567890123456789"
NVME1_WWN = "eui.0025385c2140105d"
NVME2_WWN = "eui.0025385c2140105e"
SATA_SSD_WWN = "0x5002538e40a6ee00"
SHARED_SSD_WWN = "0x5002538e40a6ee01"
USB_STICK_WWN = "0x5002538e40a6ee03"
NVME1 = f"Samsung_SSD_960_EVO_500GB_N1_{NVME1_WWN}"
NVME2 = f"Samsung_SSD_960_EVO_500GB_N2_{NVME2_WWN}"
SATA_SSD = f"SanDisk_SDSSDH3_S1_{SATA_SSD_WWN}"
SHARED_SSD = f"Crucial_CT500MX500SSD1_C2_{SHARED_SSD_WWN}"
USB_STICK = f"Ultra_Fit_U3_{USB_STICK_WWN}"
READ_AT = "2026-08-25T20:15:00+00:00"


def ssd(wwn: str, model: str, serial: str, size_bytes: int, bus: Bus = Bus.NVME, kernel: str = "nvme0n1") -> Disk:
    """A blank SSD with a persistent name."""
    kind = "nvme" if bus is Bus.NVME else "wwn"
    by_id = (f"/dev/disk/by-id/{kind}-{wwn}", f"/dev/disk/by-id/{bus}-{model.replace(' ', '_')}_{serial}")
    return Disk(
        identity=DiskIdentity(model, serial, wwn, size_bytes, 512, 512),
        kernel_name=kernel,
        path=f"/dev/disk/by-id/{kind}-{wwn}",
        links=(*by_id, slot_link(wwn)),
        bus=bus,
        rotational=False,
        removable=False,
        table=TableKind.NONE,
        table_uuid="",
        usable_start_bytes=MIB,
        usable_end_bytes=size_bytes - MIB,
    )


def slot_link(wwn: str) -> str:
    """The link by the slot of a disk, whose number is made from its WWN."""
    return f"/dev/disk/by-path/pci-0000:00:17.0-ata-{crc32(wwn.encode()) % 1000}.0"


def partition(disk: Disk, number: int, start_bytes: int, size_bytes: int, *holds: Hold) -> Partition:
    """A partition of a disk, with a PARTUUID made from the disk's number.

    Below its slot it has the links that Debian 13's udev makes, whose last parts are words of our sentences.
    """
    partuuid = f"00000000-0000-4000-8000-{crc32(f'{disk.key} {number}'.encode()):012d}"
    below = f"{slot_link(disk.identity.wwn)}-part"
    slot = (f"{below}{number}", f"{below}/by-partnum/{number}", f"{below}/by-partuuid/{partuuid}")
    labels = tuple(f"{below}/by-label/{hold.what}" for hold in holds if hold.kind is HoldKind.POOL)
    return Partition(
        number=number,
        partuuid=partuuid,
        type_uuid=SOLARIS_ZFS_TYPE,
        name="",
        start_bytes=start_bytes,
        size_bytes=size_bytes,
        kernel_name=f"{disk.kernel_name}p{number}",
        path=f"/dev/disk/by-partuuid/{partuuid}",
        links=(f"/dev/disk/by-partuuid/{partuuid}", f"{disk.path}-part{number}", *slot, *labels),
        holds=holds,
    )


def with_partitions(disk: Disk, *partitions: Partition) -> Disk:
    """The disk with a GPT and these partitions."""
    return replace(disk, table=TableKind.GPT, table_uuid="5d0e7c9e-0000-4000-8000-000000000001", partitions=partitions)


def hard_disk(number: int, pool: str) -> Disk:
    """A 4 TB hard disk that is part of a pool."""
    disk = ssd(f"0x50014ee2b0{number:06d}", "WDC WD40EFRX", f"WD-{number}", 4 * TIB, Bus.SATA, f"sd{chr(97 + number)}")
    part = partition(disk, 1, MIB, disk.identity.size_bytes - 10 * MIB, Hold(HoldKind.POOL, pool))
    return replace(with_partitions(disk, part), rotational=True)


def leaf_on(disk: Disk, guid: str, number: int = 1) -> Vdev:
    """The vdev on a partition of a disk."""
    path = disk.partitions[number - 1].path if disk.partitions else disk.path
    return Vdev(guid, "disk", path, "ONLINE", path=path, ashift=12)


def home_server() -> Inventory:
    """A home server: pool tank on two mirrors of hard disks, pool archive degraded, and SSDs of every sort."""
    hdds = tuple(hard_disk(number, "tank" if number < 5 else "archive") for number in range(1, 6))
    boot = ssd("0x5002538e40a6ee02", "Samsung SSD 870 EVO", "S0", 250 * GIB, Bus.SATA, "sda")
    boot = with_partitions(boot, partition(boot, 1, MIB, 249 * GIB, Hold(HoldKind.BOOT, "/boot/efi")))
    exported = ssd(SATA_SSD_WWN, "SanDisk SDSSDH3", "S1", 512 * GIB, Bus.SATA, "sdg")
    exported = replace(exported, holds=(Hold(HoldKind.EXPORTED_POOL, "backup"),))
    shared = ssd(SHARED_SSD_WWN, "Crucial CT500MX500SSD1", "C2", 500 * GIB, Bus.SATA, "sdh")
    shared = with_partitions(shared, partition(shared, 1, MIB, 100 * GIB, Hold(HoldKind.FILESYSTEM, "ext4")))
    stick = replace(ssd(USB_STICK_WWN, "Ultra Fit", "U3", 64 * GIB, Bus.USB, "sdi"), removable=True)
    nvme1 = ssd(NVME1_WWN, "Samsung SSD 960 EVO 500GB", "N1", 500 * 10**9)
    nvme2 = ssd(NVME2_WWN, "Samsung SSD 960 EVO 500GB", "N2", 500 * 10**9, kernel="nvme1n1")
    return Inventory(
        host=Host("nas", "Debian GNU/Linux 12", "6.1.0", "2.3.9-1", "2.3.9-1", 32 * GIB),
        disks=(boot, *hdds, exported, shared, stick, nvme1, nvme2),
        pools=(_tank(hdds), _archive(hdds)),
        read_at=READ_AT,
    )


def _tank(hdds: tuple[Disk, ...]) -> Pool:
    mirrors = tuple(
        Vdev(
            f"1{index}",
            "mirror",
            f"mirror-{index}",
            "ONLINE",
            ashift=12,
            children=(leaf_on(hdds[2 * index], f"1{index}1"), leaf_on(hdds[2 * index + 1], f"1{index}2")),
        )
        for index in range(2)
    )
    return Pool(
        name="tank",
        guid=TANK,
        state="ONLINE",
        ashift=12,
        size_bytes=8 * TIB,
        allocated_bytes=3 * TIB,
        read_only=False,
        suspended=False,
        checkpoint="",
        multihost=False,
        features=("allocation_classes", "async_destroy"),
        last_scan=Scan("scrub", "2026-08-09T04:10:00+00:00", 0),
        data=mirrors,
    )


def _archive(hdds: tuple[Disk, ...]) -> Pool:
    return replace(
        _tank(hdds),
        name="archive",
        guid=ARCHIVE,
        state="DEGRADED",
        size_bytes=4 * TIB,
        data=(replace(leaf_on(hdds[4], "21"), state="DEGRADED"),),
    )


def with_pool(inventory: Inventory, **changes: object) -> Inventory:
    """The same machine with its pool tank changed."""
    pools = tuple(
        replace(pool, **changes) if pool.guid == TANK else pool  # type: ignore[arg-type]
        for pool in inventory.pools
    )
    return replace(inventory, pools=pools)


def with_disk(inventory: Inventory, key: str, **changes: object) -> Inventory:
    """The same machine with one disk changed."""
    disks = tuple(
        replace(disk, **changes) if disk.key == key else disk  # type: ignore[arg-type]
        for disk in inventory.disks
    )
    return replace(inventory, disks=disks)


def with_single_log() -> Inventory:
    """The home server with a single log of 4 GiB for tank on the first NVMe SSD."""
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk is not None
    disk = with_partitions(disk, partition(disk, 1, MIB, 4 * GIB, Hold(HoldKind.POOL, "tank")))
    disks = tuple(disk if each.key == NVME1 else each for each in inventory.disks)
    return with_pool(replace(inventory, disks=disks), logs=(leaf_on(disk, "31"),))


CACHE_GUID = "41"


def with_cache(state: str = "ONLINE") -> Inventory:
    """The home server with a cache of 100 GiB for tank on the first NVMe SSD."""
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk is not None
    disk = with_partitions(disk, partition(disk, 1, MIB, 100 * GIB, Hold(HoldKind.POOL, "tank")))
    disks = tuple(disk if each.key == NVME1 else each for each in inventory.disks)
    cache = replace(leaf_on(disk, CACHE_GUID), state=state)
    return with_pool(replace(inventory, disks=disks), caches=(cache,))


def with_broken_log() -> Inventory:
    """The home server whose mirrored log stands on the first NVMe SSD alone, for the disk of the other side died."""
    inventory = with_single_log()
    pool = inventory.pool(TANK)
    assert pool is not None
    path = "/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead"
    broken = Vdev("32", "disk", path, "UNAVAIL", path=path, ashift=12)
    mirror = Vdev("30", "mirror", "mirror-2", "DEGRADED", ashift=12, children=(*pool.logs, broken))
    return with_pool(inventory, logs=(mirror,), state="DEGRADED")


def with_dead_log(*states: str) -> Inventory:
    """The home server whose log is dead, all else well: a single one, or a mirror of as many sides as states."""
    leaves = []
    for number, state in enumerate(states or ("FAULTED",)):
        path = f"/dev/disk/by-partuuid/00000000-0000-4000-8000-{number:08d}dead"
        leaves.append(Vdev(str(61 + number), "disk", path, state, path=path, ashift=12))
    top = leaves[0] if len(leaves) == 1 else Vdev("60", "mirror", "mirror-2", "UNAVAIL", ashift=12, children=(*leaves,))
    return with_pool(home_server(), logs=(top,), state="DEGRADED")


MIRROR_AND_CACHES = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB, (NVME1, NVME2))


def plan_ids(request: PlanRequest, plan_id: str = "7f0c2a4e-0000-4000-8000-000000000001") -> PlanIds:
    """Identifiers that are the same each time."""
    count = PlanIds.uuids_needed(request)
    return PlanIds(plan_id, READ_AT, tuple(f"aaaaaaaa-0000-4000-8000-{number:012d}" for number in range(count)))


def plan_for(request: PlanRequest, inventory: Inventory) -> Plan:
    """The plan for a request that is not refused."""
    plan = make_plan(request, inventory, plan_ids(request))
    assert isinstance(plan, Plan), str(plan)
    return plan
