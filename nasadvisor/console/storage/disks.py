"""What disks are used for, and which of them could be used."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from nasadvisor.console.storage.diagrams import TITLES
from nasadvisor.console.storage.disk_uses import Index, PoolUse, is_system
from nasadvisor.domain.change.plan import room_on
from nasadvisor.domain.change.targets import can_have_slice
from nasadvisor.domain.health.pool_findings import GOOD_STATES
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Host, Inventory

HOLD_WORDS: Final[dict[HoldKind, str | Promise]] = {
    HoldKind.BOOT: gettext_lazy("Boots this host ({what})"),
    HoldKind.MOUNT: gettext_lazy("Mounted at {what}"),
    HoldKind.SWAP: gettext_lazy("Swap space"),
    HoldKind.HOLDER: gettext_lazy("Used by {what}"),
    HoldKind.LVM: gettext_lazy("LVM {what}"),
    HoldKind.RAID: gettext_lazy("RAID {what}"),
    HoldKind.CEPH: gettext_lazy("Ceph {what}"),
    HoldKind.FILESYSTEM: gettext_lazy("Filesystem {what}"),
    HoldKind.POOL: gettext_lazy("Pool {what}"),
    HoldKind.EXPORTED_POOL: gettext_lazy("Exported pool {what}"),
    HoldKind.LEFTOVER_LABEL: gettext_lazy("Leftover label of pool {what}"),
    HoldKind.SIGNATURE: gettext_lazy("Contains {what} data"),
    HoldKind.READ_ONLY: gettext_lazy("Read-only"),
    HoldKind.ZONED: gettext_lazy("Zoned ({what})"),
    HoldKind.NO_SIZE: gettext_lazy("Linux reports no size"),
    HoldKind.PATH: gettext_lazy("Reachable via several paths, also as {what}"),
    HoldKind.DUPLICATE: gettext_lazy("Indistinguishable from {what}"),
    HoldKind.COPY: gettext_lazy("Same PARTUUID on another disk"),
    HoldKind.UNREADABLE: gettext_lazy("Could not be examined: {what}"),
}


@dataclass(frozen=True)
class PoolIssue:
    """What a pool says against a disk: a state other than `GOOD_STATES`, else "", and errors since the last clear."""

    state: str
    errors: int


@dataclass(frozen=True)
class Usage:
    """What a disk is used for, its unpartitioned room beside that, and why it cannot be used where it serves nobody.

    `issue` is what its pools say against it.
    """

    uses: tuple[str, ...]
    is_free: bool
    room_bytes: int
    refusal: Refused | None
    issue: PoolIssue | None


def is_free(disk: Disk, host: Host) -> bool:
    """Whether nothing is on it, and nothing forbids its use."""
    return disk.is_blank and reason_against(disk, host) is None


def reason_against(disk: Disk, host: Host) -> Refused | None:
    """Why a disk cannot be a target; None if it can, be it only in the room beside its partitions."""
    answer = can_have_slice(disk, host)
    return answer if isinstance(answer, Refused) else None


def free_ssds(inventory: Inventory) -> tuple[Disk, ...]:
    """The SSDs with nothing on them."""
    return tuple(disk for disk in inventory.disks if not disk.rotational and is_free(disk, inventory.host))


def usage_of(disk: Disk, index: Index) -> Usage:
    """What a disk is used for. A disk of a pool cannot be used otherwise: that goes without saying."""
    host = index.inventory.host
    answer = reason_against(disk, host)
    uses = uses_of(disk, index)
    shown = answer if is_system(disk) or not index.pool_uses_of(disk) else None
    room_bytes = room_on(disk, host, 0).size_bytes if disk.partitions and answer is None else 0
    return Usage(uses, not uses and is_free(disk, host), room_bytes, shown, issue_of(index.pool_uses_of(disk)))


def issue_of(uses: Iterable[PoolUse]) -> PoolIssue | None:
    """What the pools that a disk serves say against it."""
    vdevs = [use.vdev for use in uses]
    state = next((vdev.state for vdev in vdevs if vdev.state not in GOOD_STATES), "")
    errors = sum(vdev.errors for vdev in vdevs)
    return PoolIssue(state, errors) if state or errors else None


def issues_by_key(index: Index) -> Mapping[str, PoolIssue]:
    """What the pools say against disks, by the keys of those."""
    found: dict[str, list[PoolUse]] = {}
    for (key, _), uses in index.pool_uses.items():
        found.setdefault(key, []).extend(uses)
    return {key: issue for key, uses in found.items() if (issue := issue_of(uses))}


def uses_of(disk: Disk, index: Index) -> tuple[str, ...]:
    """What a disk is used for, in words: its pools and classes, then everything else that holds it."""
    pools = [f"{use.pool.name}: {TITLES[use.vdev_class]}" for use in index.pool_uses_of(disk)]
    known = {use.pool.name for use in index.pool_uses_of(disk)}
    others = [hold for hold in disk.all_holds if hold.kind is not HoldKind.POOL or hold.what not in known]
    unrecognised = [] if disk.unrecognised_at is None else [gettext("Unrecognised data")]
    return tuple(dict.fromkeys(pools + [hold_words(hold) for hold in _one_of_each_kind(others)] + unrecognised))


def _one_of_each_kind(holds: Iterable[Hold]) -> Iterator[Hold]:
    """Each kind once, with all that it is about: a disk boots a machine once, by however many partitions."""
    by_kind: dict[HoldKind, list[str]] = {}
    for hold in holds:
        by_kind.setdefault(hold.kind, []).append(hold.what)
    for kind, what in by_kind.items():
        yield Hold(kind, ", ".join(dict.fromkeys(what)))


def hold_words(hold: Hold) -> str:
    """What holds a disk or partition, in a few words."""
    return str(HOLD_WORDS[hold.kind]).format(what=hold.what)
