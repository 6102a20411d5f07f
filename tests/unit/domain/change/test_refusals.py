"""Every refusal can be reached by a wish or a rule, has its code, names what it is about and says what to do."""

import inspect
import string
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from nasadvisor.domain.change import refusals
from nasadvisor.domain.change.actions import (
    AddLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLog,
    OfflineCache,
    RemoveVdev,
    RestoreTable,
    Role,
    SaveTable,
)
from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.checks import can, can_use_disk
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.statements import Level, Refused, Statement
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Inventory, Pool, TableKind, Vdev
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    LOG_GUID,
    MIRROR_GUID,
    TABLE_UUID,
    attach_to_log,
    cache_on,
    change_vdev,
    disk_of,
    log_on,
    made,
    mirrored_log,
    slice_on,
    tank_of,
)
from tests.unit.machines import (
    ARCHIVE,
    CACHE_GUID,
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    SHARED_SSD,
    TANK,
    home_server,
    partition,
    plan_ids,
    with_broken_log,
    with_cache,
    with_dead_log,
    with_disk,
    with_partitions,
    with_pool,
    with_single_log,
)

DISK = "Samsung SSD 960 EVO 500GB (N1)"
OTHER_DISK = "Samsung SSD 960 EVO 500GB (N2)"
SINGLE = PlanRequest(TANK, (NVME1,), 4 * GIB)
CACHE = PlanRequest(TANK, cache_disks=(NVME1,))
SECOND = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID)
REPLACE = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, replaces="32")
ON_FREE_SPACE = replace(SINGLE, use_free_extents=True)


def wish(request: PlanRequest, inventory: Inventory) -> list[Refused]:
    """Why a wish does not become a plan."""
    made_plan = make_plan(request, inventory, plan_ids(request))
    return list(made_plan.refusals) if isinstance(made_plan, PlanRefused) else []


def on_pool(**changes: object) -> list[Refused]:
    return wish(SINGLE, with_pool(home_server(), **changes))


def on_disk(**changes: object) -> list[Refused]:
    return wish(SINGLE, with_disk(home_server(), NVME1, **changes))


def rule(answer: object) -> list[Refused]:
    return [answer] if isinstance(answer, Refused) else []


def slice_rule(**changes: object) -> list[Refused]:
    """The rule for one slice on the first NVMe SSD, which has an empty GPT."""
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    piece = slice_on(disk_of(inventory, NVME1))
    return rule(can(CreateSlice(replace(piece, **changes), TANK), inventory))  # type: ignore[arg-type]


def log_rule(
    change: Callable[[Inventory], Inventory] = lambda inventory: inventory, **changes: object
) -> list[Refused]:
    inventory, action = log_on(NVME1, NVME2)
    return rule(can(replace(action, **changes), change(inventory)))  # type: ignore[arg-type]


def remove_rule(inventory: Inventory, **changes: object) -> list[Refused]:
    """The rule for removing tank's mirrored log."""
    action = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, mirrored_log()[1])
    return rule(can_undo(replace(action, **changes), inventory))  # type: ignore[arg-type]


def gpt_with(*parts: tuple[int, int, int]) -> Disk:
    """The first NVMe SSD with partitions of these numbers, offsets and sizes."""
    disk = disk_of(home_server(), NVME1)
    return with_partitions(disk, *(partition(disk, *part) for part in parts))


def on_gpt_with(*parts: tuple[int, int, int]) -> list[Refused]:
    inventory = home_server()
    disks = tuple(gpt_with(*parts) if disk.key == NVME1 else disk for disk in inventory.disks)
    return wish(ON_FREE_SPACE, replace(inventory, disks=disks))


def held(kind: HoldKind) -> Callable[[], list[Refused]]:
    return lambda: on_disk(holds=(Hold(kind, "something"),))


def too_few_ids() -> list[Refused]:
    found = make_plan(SINGLE, home_server(), PlanIds("plan-1", "", ()))
    return list(found.refusals) if isinstance(found, PlanRefused) else []


def full_table() -> list[Refused]:
    return on_gpt_with(*((number, number * MIB, MIB) for number in range(1, 129)))


def number_taken() -> list[Refused]:
    inventory = made(home_server(), slice_on(disk_of(home_server(), NVME1)))
    piece = slice_on(disk_of(inventory, NVME1), start_bytes=100 * GIB)
    return rule(can(CreateSlice(piece, TANK), inventory))


def partuuid_taken() -> list[Refused]:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    taken = disk_of(inventory, SHARED_SSD).partitions[0].partuuid
    return rule(can(CreateSlice(slice_on(disk_of(inventory, NVME1), partuuid=taken), TANK), inventory))


def not_blank() -> list[Refused]:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    path = disk_of(inventory, NVME1).path
    return rule(can(CreateTable(NVME1, path, TABLE_UUID, MIB, 500 * GIB), inventory))


def table_missing() -> list[Refused]:
    inventory = home_server()
    return rule(can(SaveTable(NVME1, disk_of(inventory, NVME1).path, TABLE_UUID, ()), inventory))


def slice_held() -> list[Refused]:
    inventory, action = cache_on(NVME1)
    part = disk_of(inventory, NVME1).partitions[0]
    mounted = replace(part, holds=(Hold(HoldKind.MOUNT, "/srv"),))
    return rule(can(action, with_disk(inventory, NVME1, partitions=(mounted,))))


def log_twice_on_one_disk() -> list[Refused]:
    return wish(ON_FREE_SPACE, with_single_log())


def sick_side(**changes: object) -> list[Refused]:
    inventory, action = attach_to_log()
    return rule(can(action, change_vdev(inventory, LOG_GUID, **changes)))


def wrong_size_side() -> list[Refused]:
    inventory, action = attach_to_log()
    piece = replace(action.side, size_bytes=5 * GIB)
    bare = with_disk(inventory, NVME2, partitions=())
    return rule(can(replace(action, side=piece), made(bare, piece)))


def further_side_of(size_bytes: int) -> list[Refused]:
    inventory = with_single_log()
    part = replace(disk_of(inventory, NVME1).partitions[0], size_bytes=size_bytes)
    return wish(SECOND, with_disk(inventory, NVME1, partitions=(part,)))


def last_side() -> list[Refused]:
    inventory, sides = mirrored_log()
    sick = change_vdev(inventory, LOG_GUID, state="FAULTED")
    return rule(can_undo(DetachLog("tank", TANK, "32", sides[1]), sick))


def foreign_side() -> list[Refused]:
    inventory, sides = mirrored_log()
    return remove_rule(inventory, slices=sides[:1])


def table_changed() -> list[Refused]:
    inventory = made(home_server(), slice_on(disk_of(home_server(), NVME1)))
    return rule(can_undo(RestoreTable(NVME1, disk_of(inventory, NVME1).path, TABLE_UUID, ()), inventory))


def disk_changed() -> list[Refused]:
    inventory = home_server()
    other = disk_of(inventory, NVME2).path
    return rule(can(CreateTable(NVME1, other, TABLE_UUID, MIB, GIB), inventory))


def hidden_content() -> list[Refused]:
    disk = disk_of(home_server(), NVME1)
    return [refusals.HiddenContent(disk, slice_on(disk), "ext4", MIB)]


def resilvering() -> list[Refused]:
    inventory, action = attach_to_log()
    return rule(can(action, with_pool(inventory, scan="resilver")))


def with_zfs(inventory: Inventory, version: str) -> Inventory:
    return replace(inventory, host=replace(inventory.host, zfs_kernel=version))


def same_serial() -> list[Refused]:
    identity = replace(disk_of(home_server(), NVME2).identity, serial="n1 ")
    inventory, action = log_on(NVME1, NVME2)
    sides = (action.sides[0], replace(action.sides[1], disk_key=identity.key))
    return rule(can(replace(action, sides=sides), with_disk(inventory, NVME2, identity=identity)))


def untold() -> list[Refused]:
    disk = disk_of(home_server(), NVME1)
    return rule(can_use_disk(replace(disk, identity=replace(disk.identity, serial="", wwn=""))))


def unequal_sides() -> list[Refused]:
    disks = [disk_of(home_server(), key) for key in (NVME1, NVME2)]
    sides = (slice_on(disks[0]), slice_on(disks[1], size_bytes=5 * GIB))
    return rule(can(AddLog("tank", TANK, 12, sides), made(home_server(), *sides)))


def on_sectors_of(sector_bytes: int) -> list[Refused]:
    identity = replace(disk_of(home_server(), NVME1).identity, logical_sector_bytes=sector_bytes)
    return wish(CACHE, with_disk(with_pool(home_server(), ashift=9), NVME1, identity=identity))


# What is asked, the code of the refusal, and words that its sentence must hold: what it is about, and what to do.
CASES: list[tuple[Callable[[], list[Refused]], str, tuple[str, ...]]] = [
    (lambda: wish(replace(SINGLE, pool_guid="99"), home_server()), "pool-gone", ("99", "create a new plan")),
    (lambda: log_rule(pool_name="old"), "pool-renamed", ("old", "tank", "Create a new plan")),
    (lambda: wish(replace(SINGLE, pool_guid=ARCHIVE), home_server()), "pool-not-online", ("archive", "zpool status")),
    (lambda: on_pool(problem="it said nothing"), "pool-unreadable", ("tank", "it said nothing", "zpool status tank")),
    (lambda: on_pool(suspended=True), "pool-suspended", ("tank", "zpool clear tank")),
    (lambda: on_pool(read_only=True), "pool-read-only", ("tank", "import it writable")),
    (lambda: on_pool(checkpoint="1.2G"), "pool-checkpoint", ("tank", "1.2G", "zpool checkpoint -d tank")),
    (resilvering, "pool-resilvers", ("tank", "wait until it is done")),
    (lambda: on_pool(features=()), "feature-missing", ("tank", "zpool set feature@allocation_classes=enabled tank")),
    (
        lambda: on_pool(features=(), compatibility="grub2,openzfs-2.0-linux"),
        "feature-missing",
        ("compatibility=grub2,openzfs-2.0-linux", "boot loader", "zpool set compatibility=off tank"),
    ),
    (lambda: on_pool(ashift=0), "ashift-unknown", ("tank", "zpool get ashift tank all-vdevs")),
    (lambda: log_rule(ashift=9), "wrong-ashift", ("tank", "ashift 9", "ashift 12", "Create a new plan")),
    (
        lambda: wish(SINGLE, with_zfs(with_pool(home_server(), multihost=True), "2.3.7-1")),
        "known-bug",
        ("tank", "2.3.7-1", "Update OpenZFS"),
    ),
    (lambda: wish(replace(SINGLE, log_disks=("eui.9",)), home_server()), "disk-gone", ("eui.9", "plugged in")),
    (disk_changed, "disk-changed", (DISK, "Read the host again")),
    (held(HoldKind.BOOT), "disk-boot", (DISK, "something", "Choose another SSD")),
    (held(HoldKind.MOUNT), "disk-mount", (DISK, "something", "unmount it")),
    (held(HoldKind.SWAP), "disk-swap", (DISK, "something", "swapoff")),
    (held(HoldKind.HOLDER), "disk-holder", (DISK, "something", "Dismantle")),
    (held(HoldKind.LVM), "disk-lvm", (DISK, "something", "Remove it from its volume group")),
    (held(HoldKind.RAID), "disk-raid", (DISK, "something", "Dismantle")),
    (held(HoldKind.CEPH), "disk-ceph", (DISK, "something", "Remove the OSD")),
    (held(HoldKind.FILESYSTEM), "disk-filesystem", (DISK, "something", "wipefs")),
    (held(HoldKind.POOL), "disk-pool", (DISK, "something", "Choose a free disk")),
    (held(HoldKind.EXPORTED_POOL), "disk-exported-pool", (DISK, "something", "not imported")),
    (held(HoldKind.LEFTOVER_LABEL), "disk-leftover-label", (DISK, "something", "no longer uses")),
    (held(HoldKind.SIGNATURE), "disk-signature", (DISK, "something", "wipefs")),
    (held(HoldKind.READ_ONLY), "disk-read-only", (DISK, "write-protect switch")),
    (held(HoldKind.ZONED), "disk-zoned", (DISK, "something", "Choose another SSD")),
    (held(HoldKind.NO_SIZE), "disk-no-size", (DISK, "smartctl -i something", "format it to 512")),
    (held(HoldKind.PATH), "disk-path", (DISK, "something", "Choose another SSD")),
    (held(HoldKind.DUPLICATE), "disk-duplicate", (DISK, "something", "connect it directly", "choose another SSD")),
    (held(HoldKind.COPY), "disk-copy", (DISK, "something", "Remove the copy")),
    (held(HoldKind.UNREADABLE), "disk-unreadable", (DISK, "something", "its state is uncertain")),
    (untold, "no-identity", ("Samsung", "Choose another SSD")),
    (lambda: on_disk(path="/dev/sdz"), "no-persistent-name", (DISK, "nvme0n1", "Choose another SSD")),
    (
        lambda: on_sectors_of(520),
        "strange-sectors",
        (DISK, "520", "Choose another SSD"),
    ),
    (lambda: on_disk(table=TableKind.OTHER), "foreign-table", (DISK, "wipefs")),
    (lambda: on_gpt_with((1, MIB, 2 * GIB), (2, GIB, 2 * GIB)), "broken-table", (DISK, "repair it with sgdisk")),
    (
        lambda: wish(SINGLE, with_single_log()),
        "disk-has-partitions",
        (DISK, "already has partitions (1)", "only if you request it"),
    ),
    (not_blank, "disk-not-blank", (DISK, "create a new plan")),
    (table_missing, "table-missing", (DISK, "create a new plan")),
    (
        lambda: wish(replace(SINGLE, log_size_bytes=900 * GIB), home_server()),
        "too-small",
        (DISK, "log", "419 GiB", "900 GiB", "another SSD"),
    ),
    (
        lambda: wish(replace(CACHE, cache_size_bytes=900 * GIB), home_server()),
        "cache-too-large",
        (DISK, "419 GiB", "900 GiB", "10 %", "smaller size"),
    ),
    (lambda: slice_rule(start_bytes=600 * GIB), "extent-taken", (DISK, "create a new plan")),
    (lambda: slice_rule(start_bytes=MIB + 512), "not-aligned", (DISK, "1 MiB", "Create a new plan")),
    (lambda: slice_rule(sector_bytes=4096), "sectors-differ", (DISK, "4096", "512", "Create a new plan")),
    (full_table, "table-full", (DISK, "129", "choose another SSD")),
    (number_taken, "number-taken", (DISK, "1", "Create a new plan")),
    (partuuid_taken, "partuuid-taken", ("00000000-0000-4000-8000-", "Create a new plan")),
    (lambda: log_rule(lambda _: home_server()), "slice-gone", ("by-id/nvme-", "Read the host again")),
    (slice_held, "slice-held", ("by-id/nvme-", "mount: /srv", "remove it first")),
    (same_serial, "same-disk", ("960 EVO", "Choose two different SSDs")),
    (wrong_size_side, "sizes-differ", ("tank", "Create a new plan")),
    (lambda: further_side_of(440 * GIB), "side-beside-reserve", (OTHER_DISK, "440 GiB", "reserve of 10 %", "is 5 %")),
    (lambda: further_side_of(499 * 10**9 + 999 * MIB), "side-too-large", (OTHER_DISK, "Choose a larger SSD")),
    (unequal_sides, "sizes-differ", ("tank", "Create a new plan")),
    (
        lambda: wish(replace(SINGLE, log_disks=(NVME1, NVME1)), home_server()),
        "disk-twice",
        (NVME1, "log", "Specify each SSD once"),
    ),
    (log_twice_on_one_disk, "disk-in-log", (DISK, "tank", "Choose another SSD")),
    (lambda: wish(replace(SINGLE, reserve_percent=91), home_server()), "impossible-reserve", ("91 %", "0 to 90 %")),
    (
        lambda: on_sectors_of(4096),
        "sector-too-large",
        (DISK, "4096", "512", "tank", "Choose another SSD"),
    ),
    (lambda: wish(replace(SECOND, attach_to="77"), with_single_log()), "log-side-gone", ("tank", "77", "new plan")),
    (lambda: sick_side(state="DEGRADED"), "log-side-not-online", ("tank", "DEGRADED", "Repair it")),
    (
        lambda: wish(SECOND, with_disk(with_single_log(), NVME1, partitions=())),
        "log-side-unknown",
        ("tank", "by-partuuid", "Check that its disk is plugged in"),
    ),
    (
        lambda: wish(REPLACE, change_vdev(with_broken_log(), "32", state="ONLINE")),
        "log-side-works",
        ("tank", "is ONLINE", "Only a failed side is replaced"),
    ),
    (
        lambda: wish(replace(SECOND, log_disks=()), with_single_log()),
        "one-side-for-attach",
        ("specify exactly one SSD",),
    ),
    (lambda: wish(PlanRequest(TANK), home_server()), "nothing-to-do", ("tank", "Choose at least one")),
    (lambda: [refusals.PlanOutdated("tank")], "plan-outdated", ("tank", "create a new plan")),
    (too_few_ids, "plan-foreign", ("Create a new plan",)),
    (
        lambda: remove_rule(mirrored_log()[0], role=Role.CACHE),
        "vdev-gone",
        ("tank", "cache", MIRROR_GUID, "Read the host again"),
    ),
    (foreign_side, "vdev-changed", ("tank", MIRROR_GUID, "by-partuuid", "undo this run")),
    (last_side, "last-good-side", ("tank", "FAULTED", "Repair the remaining side first")),
    (
        lambda: remove_rule(change_vdev(mirrored_log()[0], LOG_GUID, write_errors=3)),
        "log-has-errors",
        ("tank", "I/O errors so far: 3", "Nothing was changed", f"zpool offline -f tank {LOG_GUID}"),
    ),
    (table_changed, "table-changed", (DISK, "not restored")),
    (hidden_content, "hidden-content", (DISK, "ext4", "losetup", "blkdiscard")),
    (
        lambda: [refusals.HostUnreadable(Statement("silent", "udev is silent."))],
        "host-unreadable",
        ("udev is silent", "nothing was changed"),
    ),
    (
        lambda: [refusals.PlatformUntested("Dummy NAS", "3.0", "1.5", "3")],
        "platform-untested",
        ("Dummy NAS 3.0", "from 1.5", "nothing was changed", "Update NAS Advisor"),
    ),
    (
        lambda: [refusals.PlatformVersionUnknown("Dummy NAS")],
        "platform-version-unknown",
        ("Dummy NAS", "nothing was changed", "Repair the installation"),
    ),
    (
        lambda: [refusals.StepNotThere(Statement("step", "Add a log"))],
        "step-not-there",
        ("Add a log", "Undo the run"),
    ),
    (
        lambda: [refusals.TableAreaOdd(disk_of(home_server(), NVME1))],
        "table-area-odd",
        ("another size", "Nothing was changed", "sgdisk --move-second-header /dev/disk/by-id/"),
    ),
    (
        lambda: [refusals.DiskNotEmpty(disk_of(home_server(), NVME1), "ext4", 0)],
        "disk-not-empty",
        ("not blank", "ext4", "byte 0", "read from the disk itself", "Nothing was written"),
    ),
    (
        lambda: [refusals.ErasureNotAgreed(disk_of(home_server(), NVME1), 4096)],
        "erasure-not-agreed",
        ("first at byte 4096", "Nothing was written", "another disk", "`blkdiscard --zeroout /dev/disk/by-id/"),
    ),
    (
        lambda: [refusals.DiskResized(disk_of(home_server(), NVME1))],
        "disk-resized",
        ("The size of", "has changed since the run", "not restored", "slices are gone", "sgdisk --zap-all /dev/"),
    ),
    (
        lambda: [refusals.TableUnprotected(disk_of(home_server(), NVME1))],
        "table-unprotected",
        ("only the protective first sector", "Nothing was written", "gdisk /dev/", "sgdisk --zap-all /dev/"),
    ),
    (
        lambda: [refusals.TableCopy(disk_of(home_server(), NVME1))],
        "table-copy",
        ("at its end", "Nothing was written", "gdisk /dev/", "1, w and y", "sgdisk --zap-all /dev/"),
    ),
    (
        lambda: [refusals.TableCopyElsewhere(disk_of(home_server(), NVME1), 5 * MIB, 4096)],
        "table-copy-elsewhere",
        ("--sector-size 4096 --sizelimit 5242880 /dev/", "Nothing was written", "gdisk", "blkdiscard --zeroout /dev/"),
    ),
    (
        lambda: [refusals.TableNotOurs(disk_of(home_server(), NVME1))],
        "table-not-ours",
        ("someone else wrote there", "left unchanged", "sgdisk --print"),
    ),
    (
        lambda: [refusals.TableUnsound(disk_of(home_server(), NVME1), "the checksum is wrong")],
        "table-unsound",
        ("the checksum is wrong", "Nothing was changed", "sgdisk --verify"),
    ),
    (
        lambda: [refusals.TableImageMissing(disk_of(home_server(), NVME1))],
        "table-image-missing",
        ("no earlier copy", "stays as it is"),
    ),
    (
        lambda: [refusals.TableImageDamaged(disk_of(home_server(), NVME1), "it is not base64")],
        "table-image-damaged",
        ("it is not base64", "not restored", "stays as it is"),
    ),
    (
        lambda: [refusals.SliceNeeded(slice_on(disk_of(home_server(), NVME1)), "tank", "99")],
        "slice-needed",
        (
            "label of pool tank",
            "left unchanged",
            "`zpool import 99`",
            "and only then",
            "zpool labelclear -f /dev/disk/by-",
        ),
    ),
    (
        lambda: [refusals.SliceOfImportedPool(slice_on(disk_of(home_server(), NVME1)), "tank")],
        "slice-needed",
        ("label of pool tank", "is imported", "left unchanged", "zpool labelclear /dev/disk/by-partuuid/"),
    ),
    (
        lambda: [refusals.SliceTwice(slice_on(disk_of(home_server(), NVME1)), "A and B")],
        "slice-twice",
        ("A and B", "nothing was changed", "Remove the copy"),
    ),
    (
        lambda: [refusals.StateUnknown(Statement("silent", "udev is silent."))],
        "state-unknown",
        ("udev is silent", "undo the run"),
    ),
    (
        lambda: [refusals.UndoUncertain()],
        "undo-uncertain",
        ("may not be as before", "Do not restart", "Undo the run again"),
    ),
    (
        lambda: [refusals.RunStillShows("partition 1 on A")],
        "run-still-shows",
        ("partition 1 on A", "does not count as undone", "undo the run again"),
    ),
    (
        lambda: [refusals.LogHoldsLocked(tank_of(home_server()), (WaitingDataset("tank/a/b", key_root="tank/a"),))],
        "log-holds-locked",
        ("tank/a/b", "`zfs load-key tank/a`, `zfs mount tank/a/b`", "Nothing was changed"),
    ),
    (
        lambda: [refusals.LogHoldsWrites(tank_of(home_server()), tuple(WaitingDataset(f"tank/{x}") for x in "abcd"))],
        "log-holds-writes",
        ("tank/a, tank/b, tank/c …", "`zfs mount tank/a`, `zfs mount tank/b`", "Nothing was changed"),
    ),
    (
        lambda: rule(can(DropLog("tank", TANK, "61", ()), with_dead_log("ONLINE"))),
        "log-works",
        ("is ONLINE", "Nothing was changed", "undo the run"),
    ),
    (
        lambda: rule(can(DropLog("tank", TANK, "60", ()), with_dead_log("OFFLINE", "OFFLINE"))),
        "log-out-of-service",
        ("`zpool online tank 61 62`", "Nothing was changed"),
    ),
    (
        lambda: [refusals.PoolAway("tank", "99")],
        "pool-away",
        ("zpool import 99", "Nothing was changed"),
    ),
    (
        lambda: rule(can(OfflineCache("tank", TANK, "7", "x"), with_cache())),
        "cache-gone",
        ("no cache", "guid 7", "Nothing was changed"),
    ),
    (
        lambda: rule(can(OfflineCache("tank", TANK, CACHE_GUID, "x"), with_cache("OFFLINE"))),
        "cache-not-online",
        ("is OFFLINE", "Nothing was changed"),
    ),
    (
        lambda: [refusals.CacheOverwritten(tank_of(with_cache()), tank_of(with_cache()).caches[0], "ext4")],
        "cache-overwritten",
        ("(ext4)", "Nothing was changed", "zpool remove tank", "wipefs --all --types ext4 /dev/"),
    ),
    (
        lambda: [refusals.CacheStaysOut("tank")],
        "cache-stays-out",
        ("autoexpand=on", "Nothing was changed", "zpool set autoexpand=off tank"),
    ),
    (
        lambda: wish(PlanRequest(TANK, cache_disks=(NVME2,), offline_cache=CACHE_GUID), with_cache()),
        "offline-alone",
        ("needs a plan of its own", "separately"),
    ),
    (
        lambda: [refusals.PlatformBroken("nasadvisor_dummy", "no PLATFORM")],
        "platform-broken",
        ("nasadvisor_dummy", "no PLATFORM", "nothing was changed", "remove that package"),
    ),
]


@pytest.mark.parametrize(("ask", "code", "words"), CASES, ids=[code for _, code, _ in CASES])
def test_it_is_refused_with_its_code_and_a_sentence_that_helps(
    ask: Callable[[], list[Refused]], code: str, words: tuple[str, ...]
) -> None:
    found = {refusal.code: str(refusal) for refusal in ask()}
    assert code in found
    assert [word for word in words if word not in found[code]] == []


def test_the_table_above_reaches_every_refusal_there_is() -> None:
    assert {code for _, code, _ in CASES} == {refusal.code for refusal in EVERY_REFUSAL}


def every_refusal() -> Iterator[Refused]:
    """Each function of the module called with something of the right type, DiskHeld once for each kind of hold."""
    inventory, sides = mirrored_log()
    pool = tank_of(inventory)
    samples: dict[object, object] = {
        Disk: disk_of(inventory, NVME1),
        Pool: pool,
        Vdev: pool.logs[0],
        Role: Role.LOG,
        str: "text",
        Statement: Statement("why", "It is so."),
        int: 7,
        type(sides[0]): sides[0],
        tuple[WaitingDataset, ...]: (WaitingDataset("tank/a"),),
    }
    for name, function in inspect.getmembers(refusals, inspect.isfunction):
        if name[0].isupper():
            kinds = inspect.get_annotations(function, eval_str=True)
            kinds.pop("return")
            for kind in HoldKind:
                arguments = {key: samples.get(value, Hold(kind, "x")) for key, value in kinds.items()}
                yield function(**arguments)


EVERY_REFUSAL = tuple({refusal.code: refusal for refusal in every_refusal()}.values())


@pytest.mark.parametrize("refusal", EVERY_REFUSAL, ids=lambda refusal: refusal.code)
def test_a_sentence_uses_all_its_values_and_no_others(refusal: Refused) -> None:
    fields = {field for _, field, _, _ in string.Formatter().parse(refusal.template) if field is not None}
    allowed = {"what"} if refusal.code == "disk-read-only" else set()  # a read-only disk is held by nothing else
    assert fields <= refusal.values.keys() <= fields | allowed
    assert all(isinstance(value, str | Statement) for value in refusal.values.values())
    assert "{" not in str(refusal)


def test_no_sentence_speaks_of_none() -> None:
    for refusal in every_refusal():
        assert "None" not in str(refusal)


@pytest.mark.parametrize(
    "sentence",
    [
        refusals.LastGoodSide,
        refusals.LogHasErrors,
        refusals.LogSideWorks,
        refusals.CacheNotOnline,
        lambda pool, vdev: refusals.CacheOverwritten(pool, vdev, "ext4"),
    ],
)
def test_a_device_is_named_by_its_path_and_by_its_name_where_it_has_none(
    sentence: Callable[[Pool, Vdev], Refused],
) -> None:
    pool = tank_of(with_single_log())
    for path, shown in (("/dev/disk/by-id/x", "/dev/disk/by-id/x"), ("", "mirror-2")):
        assert sentence(pool, Vdev("30", "disk", "mirror-2", "ONLINE", path=path)).values["path"] == shown


def test_errors_of_reads_and_of_writes_are_added_up() -> None:
    sick = Vdev("30", "disk", "x", "ONLINE", read_errors=3, write_errors=4)
    assert refusals.LogHasErrors(tank_of(with_single_log()), sick).values["errors"] == "7"


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        (refusals.PlatformUntested("Some NAS", "9.9", "1.1", "2.2"), ("Some NAS", "9.9", "1.1", "2.2")),
        (refusals.PlatformVersionUnknown("Some NAS"), ("Some NAS",)),
    ],
)
def test_what_only_forbids_new_runs_is_a_warning_with_an_undo(reason: Refused, named: tuple[str, ...]) -> None:
    finding = refusals.said_with_undo(reason)
    assert finding is not None
    assert (finding.code, finding.level) == ("undo-on-untested-platform", Level.WARNING)
    assert all(name in str(finding) for name in named)
    assert "{" not in str(finding)
    assert finding.explanation
    assert refusals.said_with_undo(refusals.PlatformBroken("x", "y")) is None


@pytest.mark.parametrize("refusal", EVERY_REFUSAL, ids=lambda refusal: refusal.code)
def test_a_sentence_is_whole_and_calm(refusal: Refused) -> None:
    assert refusal.template[0].isupper() or refusal.template[0] == "{"
    assert refusal.template.rstrip("}")[-1] in ".y"  # those that end in {why} end in a sentence of their own
    assert "!" not in refusal.template
    assert "safe" not in refusal.template.lower().replace("the pool is safe without it", "")


@pytest.mark.parametrize("kind", HoldKind)
def test_every_kind_of_hold_has_a_sentence_of_its_own(kind: HoldKind) -> None:
    sentences = refusals.HOLD_SENTENCES
    assert list(sentences.values()).count(sentences[kind]) == 1
    assert sentences[kind].startswith("{disk} cannot be used: ")


def test_a_wish_on_a_healthy_machine_is_not_refused() -> None:
    assert wish(MIRROR_AND_CACHES, home_server()) == []
    assert wish(SECOND, with_single_log()) == []


def test_every_reason_is_given_at_once() -> None:
    inventory = with_pool(with_disk(home_server(), NVME1, holds=(Hold(HoldKind.SWAP, "swap"),)), checkpoint="1G")
    assert {refusal.code for refusal in wish(MIRROR_AND_CACHES, inventory)} == {"pool-checkpoint", "disk-swap"}


def test_no_reason_is_given_twice() -> None:
    assert [refusal.code for refusal in wish(MIRROR_AND_CACHES, with_pool(home_server(), checkpoint="1G"))] == [
        "pool-checkpoint"
    ]


def test_an_action_without_slices_is_refused() -> None:
    assert [refusal.code for refusal in rule(can(AddLog("tank", TANK, 12, ()), home_server()))] == ["nothing-to-do"]


def test_a_slice_held_only_by_what_its_vdev_left_behind_may_be_deleted() -> None:
    inventory = made(
        home_server(), slice_on(disk_of(home_server(), NVME1)), holds=(Hold(HoldKind.EXPORTED_POOL, "tank"),)
    )
    assert rule(can_undo(DeleteSlice(slice_on(disk_of(inventory, NVME1)), TANK), inventory)) == []
