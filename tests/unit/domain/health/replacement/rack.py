"""Made-up pools on made-up disks: every leaf has a disk, a label and a path, until a test says otherwise."""

from dataclasses import replace
from itertools import count

from nasadvisor.domain.health.replacement.candidates import partition_bytes
from nasadvisor.domain.statements import Finding, Level
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
    Slot,
    TableKind,
    Vdev,
    ZfsLabel,
)
from nasadvisor.domain.units import MIB, TIB

SIZE = 4 * TIB
POOL_GUID = "9000"
READ_AT = "2026-08-25T20:15:00+00:00"


def disk(number: int, size: int = SIZE, *, rotational: bool = True, controller: int = 0, serial: str = "") -> Disk:
    """A blank disk."""
    wwn = f"0x5000c5000000{number:04x}"
    return Disk(
        DiskIdentity("ST4000VN008-2DR166", serial or f"ZM{number:04}", wwn, size, 512, 4096),
        f"sd{number}",
        f"/dev/disk/by-id/wwn-{wwn}",
        (f"/dev/disk/by-id/wwn-{wwn}", f"/dev/disk/by-path/pci-0000:{controller:02}:00.0-ata-{number}"),
        Bus.SATA,
        rotational,
        removable=False,
        table=TableKind.NONE,
        table_uuid="",
        usable_start_bytes=MIB,
        usable_end_bytes=size - MIB,
        slot=Slot(str(number), "shelf"),
    )


def held(disk: Disk, guid: str) -> Disk:
    """The disk as a member of the pool, which has made a partition on it."""
    path, size = f"{disk.path}-part1", partition_bytes(disk)
    holds, label = (Hold(HoldKind.POOL, "tank"),), ZfsLabel("tank", POOL_GUID, guid)
    part = Partition(1, f"uuid-{guid}", "bf01", "", MIB, size, f"{disk.kernel_name}1", path, (path,), holds, label)
    return replace(disk, table=TableKind.GPT, partitions=(part,))


def leaf(number: int, state: str = "ONLINE", **counters: int) -> Vdev:
    """The vdev on a disk; its guid is the disk's number and 1000."""
    bare = Vdev(str(1000 + number), "disk", f"disk{number}", state, f"{disk(number).path}-part1", 12)
    return replace(bare, **counters)  # type: ignore[arg-type]


_inner = count(5000)


def group(kind: str, *children: Vdev, name: str = "") -> Vdev:
    """A mirror, raidz1 and so on of these."""
    bare = kind.rstrip("123") if kind.startswith("raidz") else kind.partition(":")[0].rstrip("123")
    state = "ONLINE" if all(child.state == "ONLINE" for child in children) else "DEGRADED"
    return Vdev(str(next(_inner)), bare, name or f"{kind}-0", state, ashift=12, children=children)


def pool(*data: Vdev, **changes: object) -> Pool:
    """A pool that is half full, scrubbed in ten hours."""
    state = "ONLINE" if all(top.state == "ONLINE" for top in data) else "DEGRADED"
    scan = Scan("scrub", "2026-08-20T10:00:00+00:00", 0, 36_000, 4 * TIB)
    bare = Pool("tank", POOL_GUID, state, 12, 8 * TIB, 4 * TIB, False, False, "", False, (), last_scan=scan, data=data)
    return replace(bare, **changes)  # type: ignore[arg-type]


def rack(pool: Pool, *free: Disk, without: frozenset[str] = frozenset(), controllers: int = 1) -> Inventory:
    """A host with the disk of each leaf, but for the guids in `without`, and with free disks."""
    guids = dict.fromkeys(each.guid for each in pool.vdevs() if each.path)
    numbers = [(guid, int(guid) - 1000) for guid in guids if guid not in without]
    disks = tuple(held(disk(number, controller=number % controllers), guid) for guid, number in numbers)
    host = Host("nas", "Debian", "6.12", "2.3.9-1", "2.3.9-1", 64 << 30)
    return Inventory(host, (*disks, *free), (pool,), READ_AT)


def said(number: int, *codes: str) -> dict[str, tuple[Finding, ...]]:
    """Warnings about a disk."""
    found = tuple(Finding(code, f"{code} of {{disk}}.", {"disk": "x"}, Level.WARNING) for code in codes)
    return {disk(number).key: found}
