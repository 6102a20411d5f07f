"""What holds a disk or a partition, concluded from everything that was read of the machine.

Pure functions. Whoever is in doubt here says "held": a disk that is wrongly offered costs data, one that is wrongly
held costs a question.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.storage.gpt import BIOS_BOOT_TYPE, EFI_SYSTEM_TYPE
from nasadvisor.domain.storage.inventory import NAMELESS_POOL, Hold, HoldKind, Pool, Vdev, ZfsLabel
from nasadvisor.host.adapters.procfs import Mount
from nasadvisor.host.adapters.udev import BlockDevice

BOOT_TARGETS: Final = frozenset({"/", "/boot", "/boot/efi", "/boot/firmware", "/efi", "/usr"})

BOOT_TYPES: Final = {
    EFI_SYSTEM_TYPE: "EFI system partition",
    BIOS_BOOT_TYPE: "BIOS boot partition",
    "bc13c2ff-59e6-4262-a352-b275fd6f7172": "extended boot loader partition",
    "9e1a2d38-c612-4316-aa26-8b49521e5a8b": "PReP boot partition",
}
"""GPT types of partitions from which a machine boots (uapi-group.org, Discoverable Partitions Specification)."""

CLAIMED_TYPES: Final = {
    "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f": Hold(HoldKind.SIGNATURE, "swap partition type"),
    "e6d6d379-f507-44c2-a23c-238f2a3df928": Hold(HoldKind.LVM, "LVM partition type"),
    "a19d880f-05fc-4d3b-a006-743f0f84911e": Hold(HoldKind.RAID, "RAID partition type"),
    "4fbd7e29-9d25-41b8-afd0-062c0ceff05d": Hold(HoldKind.CEPH, "Ceph OSD partition type"),
    "6a945a3b-1dd2-11b2-99a6-080020736631": Hold(HoldKind.SIGNATURE, "Solaris reserved partition type"),
}
"""GPT types that claim a partition even while nothing is written in it."""

EXAMINE_AGAIN: Final = "`udevadm trigger --subsystem-match=block && udevadm settle` has everything examined again"
"""Not with `trigger --settle`: that waits for an event of each device, and never returns where the kernel hides one, as
it does with the paths of an NVMe SSD with native multipath."""

STALE: Final = f"udev and the kernel disagree about a partition; {EXAMINE_AGAIN}"

_ORDER: Final = tuple(HoldKind)
_MULTI_DEVICE: Final = frozenset({"btrfs", "bcachefs"})
_ENCODED: Final = re.compile(r"\\x([0-9a-fA-F]{2})")


@dataclass(frozen=True)
class Surroundings:
    """What is around the devices. Mount points and pools stand by the kernel name of the device they use.

    `imported` are the names of the imported pools, by guid.
    """

    devices: Mapping[str, BlockDevice]
    mounts: Mapping[str, tuple[str, ...]]
    swaps: frozenset[str]
    members: Mapping[str, tuple[str, ...]]
    boot_pools: frozenset[str]
    imported: Mapping[str, str]


class _Paths:
    """Which devices a path leads to. More than one, where udev gave several the same link: then all are meant."""

    def __init__(self, devices: Iterable[BlockDevice], real_paths: Mapping[str, str]) -> None:
        self._real_paths = real_paths
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        for device in devices:
            for path in (device.node, *device.links):
                self._names[path].add(device.name)

    def names_at(self, path: str) -> set[str]:
        """The kernel names of the devices at a path."""
        none: set[str] = set()
        return self._names.get(path, none) | self._names.get(self._real_paths.get(path, ""), none)


def surroundings(
    devices: Iterable[BlockDevice],
    mounts: Iterable[Mount],
    swaps: Iterable[str],
    pools: Iterable[Pool],
    real_paths: Mapping[str, str],
) -> Surroundings:
    """Put together what was read. `real_paths` resolves paths that udev did not make, such as somebody's own links."""
    by_name = {device.name: device for device in devices}
    paths = _Paths(by_name.values(), real_paths)
    mounts, pools = tuple(mounts), tuple(pools)
    return Surroundings(
        devices=by_name,
        mounts=_mounts_by_name(by_name, mounts, paths),
        swaps=frozenset(name for path in swaps for name in paths.names_at(path)),
        members=_members_by_name(by_name, pools, paths),
        boot_pools=frozenset(
            mount.source.split("/")[0] for mount in mounts if mount.kind == "zfs" and mount.target in BOOT_TARGETS
        ),
        imported={pool.guid: pool.name for pool in pools},
    )


def _mounts_by_name(
    devices: Mapping[str, BlockDevice], mounts: Iterable[Mount], paths: _Paths
) -> dict[str, tuple[str, ...]]:
    by_number = {device.number: device.name for device in devices.values()}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for mount in mounts:
        names = {by_number[mount.number]} if mount.number in by_number else set()
        for source in mount.source.split(":") if mount.kind == "bcachefs" else (mount.source,):
            names |= paths.names_at(source)
        for name in names:
            found[name].add(mount.target)
    return {name: tuple(sorted(targets)) for name, targets in _with_siblings(devices, found).items()}


def _with_siblings(devices: Mapping[str, BlockDevice], mounts: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """A filesystem on several devices is mounted by naming one of them: the others share its UUID."""
    targets = {device.get("ID_FS_UUID"): mounts[name] for name, device in devices.items() if name in mounts}
    shared = {
        name: targets[device.get("ID_FS_UUID")]
        for name, device in devices.items()
        if device.get("ID_FS_TYPE") in _MULTI_DEVICE and device.get("ID_FS_UUID") in targets
    }
    return {**mounts, **shared}


def _members_by_name(
    devices: Mapping[str, BlockDevice], pools: Iterable[Pool], paths: _Paths
) -> dict[str, tuple[str, ...]]:
    """By the guid in the label, and by path: udev does not see every label, as of vdevs added a moment ago."""
    labels = {name: label for name, device in devices.items() if (label := zfs_label_of(device))}
    by_guid: defaultdict[str, set[str]] = defaultdict(set)
    for name, label in labels.items():
        by_guid[label.vdev_guid].add(name)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for pool in pools:
        names = {name for leaf in pool.vdevs() for name in by_guid.get(leaf.guid, ())}
        names |= {
            name
            for leaf in pool.vdevs()
            if leaf.path
            for name in paths.names_at(leaf.path)
            if leaf.is_open or _can_be(leaf, devices[name])
        }
        if pool.problem:  # its leaves are not all known, and the labels of caches and spares name no pool
            names |= {name for name, label in labels.items() if label.pool_guid in (pool.guid, "")}
        for name in names:
            found[name].add(pool.name)
    return {name: tuple(sorted(names)) for name, names in found.items()}


def _can_be(leaf: Vdev, device: BlockDevice) -> bool:
    """Whether a device can be that of a leaf that is not open, of which only the path is known.

    Not one that has something else on it, nor one that merely has the kernel name that the leaf's had.
    """
    return leaf.path != device.node and not device.get("ID_FS_TYPE") and not device.get("ID_FS_USAGE")


def zfs_label_of(device: BlockDevice) -> ZfsLabel | None:
    """The label that udev's blkid found on a device."""
    if device.get("ID_FS_TYPE") != "zfs_member":
        return None
    name = decoded(device.get("ID_FS_LABEL_ENC"))
    return ZfsLabel(name, device.get("ID_FS_UUID"), device.get("ID_FS_UUID_SUB"))


def holds_of(device: BlockDevice, around: Surroundings) -> tuple[Hold, ...]:
    """Everything that holds one disk or partition, with what lies on top of it, but without its partitions.

    Each once, in the order of HoldKind: what is going on before what is merely written on it.
    """
    return tuple(sorted(dict.fromkeys(_holds(device, around)), key=lambda hold: _ORDER.index(hold.kind)))


def boot_holds_of(devices: Iterable[BlockDevice], around: Surroundings) -> tuple[Hold, ...]:
    """Why a disk is one that the machine boots from; `devices` are the disk and its partitions."""
    found: list[str] = []
    for device in devices:
        found += filter(None, [BOOT_TYPES.get(device.get("ID_PART_ENTRY_TYPE"))])
        for each in (device, *_above(device, around)):
            found += [target for target in around.mounts.get(each.name, ()) if target in BOOT_TARGETS]
            found += [pool for pool in around.members.get(each.name, ()) if pool in around.boot_pools]
    return tuple(Hold(HoldKind.BOOT, what) for what in dict.fromkeys(found))


def decoded(text: str) -> str:
    """A value that udev wrote with escapes, as in "WDC\\x20WD60" (udev's `ID_…_ENC` properties)."""
    return _ENCODED.sub(lambda found: chr(int(found[1], 16)), text)


def _holds(device: BlockDevice, around: Surroundings) -> Iterator[Hold]:
    if device.unread:
        yield Hold(HoldKind.UNREADABLE, device.unread)
    if device.disk and _is_stale(device):
        yield Hold(HoldKind.UNREADABLE, STALE)
    yield from _uses(device, around)
    if device.name not in around.members and device.name not in around.swaps:
        yield from _content(device, around.imported)
    for above in _above(device, around):
        yield from _holder(above)
        yield from _uses(above, around)
    if device.get("DM_MULTIPATH_DEVICE_PATH") == "1":
        yield Hold(HoldKind.HOLDER, "multipath")
    if device.read_only:
        yield Hold(HoldKind.READ_ONLY, "read-only")
    if device.zoned:
        yield Hold(HoldKind.ZONED, device.zoned)
    if not (device.size_bytes or device.disk or device.unread):
        yield Hold(HoldKind.NO_SIZE, device.node)


def _is_stale(part: BlockDevice) -> bool:
    """Whether udev's entry is not about the partition that the kernel has now; both count in 512 bytes."""
    told = part.get("ID_PART_ENTRY_OFFSET"), part.get("ID_PART_ENTRY_SIZE")
    return told != (str(part.start_bytes // 512), str(part.size_bytes // 512))


def _uses(device: BlockDevice, around: Surroundings) -> Iterator[Hold]:
    """What is going on with a device right now."""
    for target in around.mounts.get(device.name, ()):
        yield Hold(HoldKind.MOUNT, target)
    if device.name in around.swaps:
        yield Hold(HoldKind.SWAP, "swap")
    for pool in around.members.get(device.name, ()):
        yield Hold(HoldKind.POOL, pool)


def _holder(above: BlockDevice) -> Iterator[Hold]:
    yield Hold(HoldKind.HOLDER, decoded(above.get("DM_NAME")) or above.name)
    group = decoded(above.get("DM_VG_NAME"))
    if group:
        yield Hold(HoldKind.CEPH if group.startswith("ceph-") else HoldKind.LVM, group)


def _above(device: BlockDevice, around: Surroundings) -> Iterator[BlockDevice]:
    """What is built on a device (device-mapper, md, bcache), and on that, and so on."""
    waiting, seen = list(device.holders), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        above = around.devices.get(name) or BlockDevice(name, "", "")
        waiting += above.holders
        yield above


def _content(device: BlockDevice, imported: Mapping[str, str]) -> Iterator[Hold]:
    """What udev's blkid recognised on a device, else what the partition's type says. `imported` are pools, by guid."""
    kind, usage, label = device.get("ID_FS_TYPE"), device.get("ID_FS_USAGE"), zfs_label_of(device)
    if device.get("ID_FS_AMBIVALENT"):
        yield Hold(HoldKind.SIGNATURE, "more than one signature")
    if label:
        name = imported.get(label.pool_guid)
        exported = Hold(HoldKind.EXPORTED_POOL, label.pool_name or NAMELESS_POOL)
        yield Hold(HoldKind.LEFTOVER_LABEL, name) if name else exported
    elif kind == "swap":
        yield Hold(HoldKind.SWAP, "swap that is not in use")
    elif kind == "LVM2_member":
        yield Hold(HoldKind.LVM, kind)
    elif kind.startswith("ceph"):
        yield Hold(HoldKind.CEPH, kind)
    elif usage == "raid" or kind.endswith("raid_member"):
        yield Hold(HoldKind.RAID, kind)
    elif usage == "filesystem":
        yield Hold(HoldKind.FILESYSTEM, kind)
    elif kind or usage:
        yield Hold(HoldKind.SIGNATURE, kind or usage)
    elif device.get("ID_PART_ENTRY_TYPE") in CLAIMED_TYPES:
        yield CLAIMED_TYPES[device.get("ID_PART_ENTRY_TYPE")]
