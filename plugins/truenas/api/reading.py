"""Pools, disks and versions by the API, in the terms of the domain.

The API does not tell everything that the host itself shows: nothing of checkpoints, features, mounts or signatures
outside a partition. TrueNAS looks at those itself before it changes anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

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
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.errors import OutputUnreadable
from plugins.truenas.api.connection import Session

SUSPENDED: Final = "SUSPENDED"
BUSES: Final = {"ATA": Bus.SATA, "SCSI": Bus.SAS, "NVME": Bus.NVME, "USB": Bus.USB}
BOOT_POOLS: Final = frozenset({"boot-pool", "freenas-boot"})


@dataclass(frozen=True)
class Picture:
    """What the API shows at one moment.

    `pool_ids` are TrueNAS's own numbers by guid; `names` are its identifiers by the disk's key ("{serial_lunid}…"),
    which last, unlike the kernel names that its calls want. `dif` are the keys of disks formatted with protection
    information, which TrueNAS does not take. `unseen` are the guids of pools whose tree is not shown: TrueNAS has them
    in its database, but they are not imported under that name. `places` are the disks of the pools' leaves by the
    leaf's guid, as TrueNAS's identifiers; a leaf whose disk cannot be told, or that two disks may be, has none.
    """

    inventory: Inventory
    pool_ids: Mapping[str, int]
    names: Mapping[str, str]
    dif: frozenset[str]
    unseen: frozenset[str]
    places: Mapping[str, str]

    def disk_named(self, identifier: str) -> Disk | None:
        """The disk with TrueNAS's identifier; None where there is none or more than one."""
        keys = [key for key, name in self.names.items() if name == identifier]
        return self.inventory.disk(keys[0]) if len(keys) == 1 else None


def read_picture(session: Session) -> Picture:
    """Ask for pools and disks. Takes seconds on hosts with many disks, since the partitions are read too.

    Raises:
        HostError: the connection failed, or an answer has not the shape that is documented.
    """
    pools = objects_of("pool.query", session.call("pool.query", [], {}))
    details = listed("disk.details", session.call("disk.details", {"join_partitions": True, "type": "BOTH"}))
    disks = [entry for key in ("used", "unused") for entry in _objects(details, key)]
    inventory = Inventory(
        Host(session.host, f"TrueNAS {session.version}", "", "", "", 0),
        tuple(map(_disk, disks)),
        tuple(map(_pool, pools)),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    names = {_identity(disk).key: disk.text("identifier") for disk in disks}
    return Picture(
        inventory,
        {pool.text("guid"): pool.number("id") for pool in pools},
        names,
        frozenset(_identity(disk).key for disk in disks if disk.fields.get("dif") is True),
        frozenset(pool.text("guid") for pool in pools if pool.fields.get("topology") is None),
        {guid: place for pool in pools for guid, place in _places(pool, inventory, names)},
    )


def _places(pool: Answer, inventory: Inventory, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Where each leaf is: by its partition, else the disk that TrueNAS names, else the one it remembers for it."""
    for leaf in _leaves(pool):
        path = str(leaf.fields.get("path") or "")
        found = [disk for disk in inventory.disks if path and any(part.is_at(path) for part in disk.partitions)]
        found = found or [disk for disk in inventory.disks if disk.kernel_name == leaf.fields.get("disk")]
        if len(found) == 1:
            yield leaf.text("guid"), names[found[0].key]
        elif not found and leaf.fields.get("unavail_disk"):
            yield leaf.text("guid"), leaf.child("unavail_disk").text("identifier")


def _leaves(pool: Answer) -> Iterator[Answer]:
    if pool.fields.get("topology") is None:
        return
    topology = pool.child("topology")
    waiting = [vdev for key in topology.fields for vdev in _objects(topology, key)]
    while waiting:
        vdev = waiting.pop()
        below = _objects(vdev, "children")
        waiting.extend(below)
        if not below:
            yield vdev


def _pool(entry: Answer) -> Pool:
    data = _tops(entry, "data")
    state = entry.text("status")
    return Pool(
        name=entry.text("name"),
        guid=entry.text("guid"),
        state=state,
        ashift=next((leaf.ashift for top in data for leaf in top.walk() if leaf.ashift), 0),
        size_bytes=_number(entry, "size"),
        allocated_bytes=_number(entry, "allocated"),
        read_only=False,
        suspended=state == SUSPENDED,
        checkpoint="",
        multihost=False,
        features=(),
        data=data,
        logs=_tops(entry, "log"),
        caches=_tops(entry, "cache"),
        specials=_tops(entry, "special"),
        dedups=_tops(entry, "dedup"),
        spares=_tops(entry, "spare"),
    )


def _tops(entry: Answer, key: str) -> tuple[Vdev, ...]:
    """The vdevs of a class; none for a pool that TrueNAS knows but has not imported, whose topology is null."""
    if entry.fields.get("topology") is None:
        return ()
    return tuple(map(_vdev, _objects(entry.child("topology"), key)))


def _vdev(entry: Answer) -> Vdev:
    stats = entry.child("stats") if entry.fields.get("stats") else Answer(entry.source, f"{entry.where}/stats", {})
    return Vdev(
        guid=entry.text("guid"),
        kind=entry.text("type").lower(),
        name=entry.text("name"),
        state=entry.text("status"),
        path=str(entry.fields.get("path") or ""),
        ashift=_number(stats, "configured_ashift"),
        children=tuple(map(_vdev, _objects(entry, "children"))),
        read_errors=_number(stats, "read_errors"),
        write_errors=_number(stats, "write_errors"),
        checksum_errors=_number(stats, "checksum_errors"),
    )


def _disk(entry: Answer) -> Disk:
    parts = tuple(map(_partition, _objects(entry, "partitions")))
    return Disk(
        identity=_identity(entry),
        kernel_name=entry.text("name"),
        path="",
        links=(),
        bus=BUSES.get(str(entry.fields.get("bus")), Bus.OTHER),
        rotational=entry.fields.get("type") == "HDD",
        removable=False,
        table=TableKind.GPT if parts else TableKind.NONE,
        table_uuid="",
        usable_start_bytes=MIB,
        usable_end_bytes=_number(entry, "size"),
        partitions=parts,
        holds=tuple(_holds(entry)),
    )


def _identity(entry: Answer) -> DiskIdentity:
    sector = _number(entry, "sectorsize")
    return DiskIdentity(
        model=str(entry.fields.get("model") or ""),
        serial=str(entry.fields.get("serial") or ""),
        wwn=str(entry.fields.get("lunid") or ""),
        size_bytes=_number(entry, "size"),
        logical_sector_bytes=sector,
        physical_sector_bytes=sector,
    )


def _partition(entry: Answer) -> Partition:
    uuid, name = entry.text("partition_uuid").lower(), entry.text("name")
    start = entry.number("start")
    return Partition(
        number=entry.number("partition_number"),
        partuuid=uuid,
        type_uuid=entry.text("partition_type").lower(),
        name="",
        start_bytes=start,
        size_bytes=entry.number("size"),
        kernel_name=name,
        path=f"/dev/disk/by-partuuid/{uuid}",
        links=(f"/dev/disk/by-partuuid/{uuid}",),
    )


def _holds(entry: Answer) -> Iterator[Hold]:
    imported, exported = (
        entry.text(key) if entry.fields.get(key) is not None else None for key in ("imported_zpool", "exported_zpool")
    )
    if imported in BOOT_POOLS:
        yield Hold(HoldKind.BOOT, imported)
    elif imported is not None:
        yield Hold(HoldKind.POOL, imported)
    if exported is not None:
        yield Hold(HoldKind.EXPORTED_POOL, exported)
    twins = entry.fields.get("duplicate_serial") or []
    if not isinstance(twins, list):
        raise OutputUnreadable(entry.source, f"{entry.where}/duplicate_serial is not a list")
    yield from (Hold(HoldKind.DUPLICATE, str(twin)) for twin in twins)


def _number(entry: Answer, key: str) -> int:
    """A whole number; 0 where TrueNAS has none (null)."""
    return 0 if entry.fields.get(key) is None else entry.number(key)


def objects_of(method: str, document: object) -> list[Answer]:
    """The objects in the list that a call answers with.

    Raises:
        OutputUnreadable: it is something else.
    """
    if not isinstance(document, list):
        raise OutputUnreadable(_source(method), "it is not a list")
    return [listed(method, entry) for entry in document]


def listed(method: str, document: object) -> Answer:
    """One object of an answer.

    Raises:
        OutputUnreadable: it is something else.
    """
    if not isinstance(document, dict):
        raise OutputUnreadable(_source(method), "an entry is not an object")
    return Answer(_source(method), "", document)


def _objects(entry: Answer, key: str) -> list[Answer]:
    """The objects in the list under a key, which must be there."""
    found = entry.fields.get(key)
    where = f"{entry.where}/{key}"
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise OutputUnreadable(entry.source, f"{where} is not a list of objects")
    return [Answer(entry.source, f"{where}/{number}", each) for number, each in enumerate(found)]


def _source(method: str) -> str:
    return f"TrueNAS ({method})"
