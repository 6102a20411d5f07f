"""What each Never (docs/explanation/safety.md) says of a step is asked at the gate, of the host as it is by then."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DeleteSlice, DropLog, RemoveVdev, Role
from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.device_scan import DeviceScan, Signature, Step
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.change.gate import Gate, Permit
from tests.unit.domain.builders import (
    LOG_GUID,
    MIRROR_GUID,
    cache_on,
    change_vdev,
    code_of,
    disk_of,
    log_on,
    made,
    mirrored_log,
)
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    partition,
    plan_for,
    with_dead_log,
    with_disk,
    with_pool,
)
from tests.unit.permits import AREA, OWN, InOrder

MACHINE = home_server()
PLAN = plan_for(MIRROR_AND_CACHES, MACHINE)
TABLE = next(step for step in PLAN.actions if isinstance(step, CreateTable))
SLICE = next(step for step in PLAN.actions if isinstance(step, CreateSlice))
WITH_TABLE = TABLE.forwards(MACHINE)
LOG_READY, LOG = log_on(NVME1, NVME2)
CACHE_READY, CACHE = cache_on(NVME1)
MIRRORED, SIDES = mirrored_log()
REMOVAL = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, SIDES)
DELETION = DeleteSlice(SIDES[0], TANK)
FREED = made(MACHINE, *SIDES)
SHORT = replace(LOG.sides[1], size_bytes=GIB)
KERNEL_NAME = "/dev/nvme0n1"
TWIN = replace(disk_of(MACHINE, NVME2).identity, serial=disk_of(MACHINE, NVME1).identity.serial)
LOG_ON_TWIN = replace(LOG, sides=(LOG.sides[0], replace(LOG.sides[1], disk_key=TWIN.key)))
UNTOLD_BEFORE = TABLE.disk_key
UNTOLD_IDENTITY = replace(disk_of(MACHINE, UNTOLD_BEFORE).identity, serial="", wwn="")
UNTOLD = replace(TABLE, disk_key=UNTOLD_IDENTITY.key)

IN_ORDER: tuple[tuple[Step, Inventory], ...] = (
    (TABLE, MACHINE),
    (SLICE, WITH_TABLE),
    (LOG, LOG_READY),
    (CACHE, CACHE_READY),
    (REMOVAL, MIRRORED),
    (DELETION, FREED),
)


def moved(piece_at: int) -> Inventory:
    """The partition with the PARTUUID of the slice begins elsewhere now."""
    part = replace(SIDES[0].as_partition(), start_bytes=piece_at)
    return with_disk(FREED, NVME1, partitions=(part,))


def theirs(inventory: Inventory) -> Inventory:
    """Somebody made a partition where the slice is to be."""
    disk = disk_of(inventory, SLICE.slice.disk_key)
    there = replace(partition(disk, 9, SLICE.slice.start_bytes + MIB, GIB), partuuid="theirs")
    return with_disk(inventory, disk.key, partitions=(*disk.partitions, there))


DROP = DropLog("tank", TANK, "61", ("/dev/dead",))

CASES: tuple[tuple[int, str, Step, Inventory], ...] = (
    (
        1,
        "no-persistent-name",
        replace(TABLE, disk_path=KERNEL_NAME),
        with_disk(MACHINE, TABLE.disk_key, path=KERNEL_NAME),
    ),
    (2, "nothing-to-do", replace(LOG, sides=()), LOG_READY),
    (2, "plan-foreign", replace(LOG, sides=CACHE.slices), CACHE_READY),
    (2, "plan-foreign", replace(CACHE, slices=LOG.sides), LOG_READY),
    (3, "disk-filesystem", TABLE, with_disk(MACHINE, TABLE.disk_key, holds=(Hold(HoldKind.FILESYSTEM, "ext4"),))),
    (3, "disk-boot", SLICE, with_disk(WITH_TABLE, SLICE.slice.disk_key, holds=(Hold(HoldKind.BOOT, "/"),))),
    (4, "disk-gone", TABLE, replace(MACHINE, disks=())),
    (4, "disk-changed", TABLE, with_disk(MACHINE, TABLE.disk_key, path="/dev/disk/by-id/nvme-other", links=())),
    (4, "disk-changed", DELETION, with_disk(FREED, NVME1, path="/dev/disk/by-id/nvme-other", links=())),
    (
        5,
        "same-disk",
        LOG_ON_TWIN,
        with_disk(LOG_READY, NVME2, identity=TWIN),
    ),
    (5, "sizes-differ", replace(LOG, sides=(LOG.sides[0], SHORT)), made(MACHINE, LOG.sides[0], SHORT)),
    (6, "pool-checkpoint", LOG, with_pool(LOG_READY, checkpoint="1G")),
    (6, "pool-not-online", LOG, with_pool(LOG_READY, state="DEGRADED")),
    (6, "feature-missing", LOG, with_pool(LOG_READY, features=frozenset())),
    (6, "pool-suspended", CACHE, with_pool(CACHE_READY, suspended=True)),
    (6, "pool-read-only", CACHE, with_pool(CACHE_READY, read_only=True)),
    (7, "wrong-ashift", LOG, with_pool(LOG_READY, ashift=13)),
    (7, "wrong-ashift", CACHE, with_pool(CACHE_READY, ashift=13)),
    (8, "extent-taken", SLICE, theirs(WITH_TABLE)),
    (8, "not-aligned", replace(SLICE, slice=replace(SLICE.slice, start_bytes=MIB + 4096)), WITH_TABLE),
    (8, "extent-taken", SLICE, SLICE.forwards(WITH_TABLE)),
    (10, "slice-gone", DELETION, moved(2 * MIB)),
    (10, "slice-held", DELETION, MIRRORED),
    (10, "vdev-gone", replace(REMOVAL, vdev_guid="99"), MIRRORED),
    (10, "vdev-changed", replace(REMOVAL, slices=SIDES[:1]), MIRRORED),
    (17, "disk-duplicate", TABLE, with_disk(MACHINE, TABLE.disk_key, holds=(Hold(HoldKind.DUPLICATE, "sdx"),))),
    (17, "disk-path", SLICE, with_disk(WITH_TABLE, SLICE.slice.disk_key, holds=(Hold(HoldKind.PATH, "sdx"),))),
    (17, "disk-gone", TABLE, with_disk(MACHINE, TABLE.disk_key, place="pci-1-usb-0:3")),
    (17, "slice-gone", DELETION, with_disk(FREED, NVME1, place="pci-1-usb-0:3")),
    (17, "no-identity", UNTOLD, with_disk(MACHINE, UNTOLD_BEFORE, identity=UNTOLD_IDENTITY)),
    (11, "log-has-errors", REMOVAL, change_vdev(MIRRORED, LOG_GUID, write_errors=1)),
    (6, "pool-not-online", DROP, with_pool(with_dead_log(), state="FAULTED")),
    (6, "log-works", DROP, with_dead_log("ONLINE")),
    (11, "log-has-errors", DROP, with_dead_log("DEGRADED")),
)
"""The number of the Never, the code of the refusal, the step, and the host as it is by then."""


@pytest.mark.parametrize(("step", "now"), IN_ORDER, ids=lambda value: getattr(value, "action", ""))
def test_the_gate_lets_each_of_these_steps_through_where_nothing_is_wrong(step: Step, now: Inventory) -> None:
    assert isinstance(Gate(InOrder(now)).ask(step, now, OWN), Permit)


@pytest.mark.parametrize(("never", "code", "step", "now"), CASES, ids=[f"{never}-{code}" for never, code, *_ in CASES])
def test_the_gate_asks_what_each_never_says_of_a_step(never: int, code: str, step: Step, now: Inventory) -> None:
    refused = Gate(InOrder(now)).ask(step, now, OWN)
    assert isinstance(refused, Refused), f"Never {never} is not asked at the gate"
    assert code_of(refused) == code


@pytest.mark.parametrize(("step", "now"), [(DROP, with_dead_log()), (REMOVAL, MIRRORED)])
def test_the_gate_asks_never_11_of_what_waits_in_the_log_as_well(step: Step, now: Inventory) -> None:
    look = DeviceScan(waiting=(WaitingDataset("tank/be"),))
    refused = Gate(InOrder(now, look)).ask(step, now, OWN)
    assert isinstance(refused, Refused)
    assert code_of(refused) == "log-holds-writes"


def test_the_gate_asks_never_3_of_bytes_that_nobody_recognises_as_well() -> None:
    """A console that knows of nothing has a plan that says nothing of them."""
    look = DeviceScan(table=AREA, unrecognised_at=8 * MIB)
    refused = Gate(InOrder(MACHINE, look)).ask(TABLE, MACHINE, OWN)
    assert isinstance(refused, Refused)
    assert code_of(refused) == "erasure-not-agreed"
    assert isinstance(Gate(InOrder(MACHINE, look)).ask(replace(TABLE, unrecognised_at=8 * MIB), MACHINE, OWN), Permit)


@pytest.mark.parametrize(
    ("step", "now", "code"), [(TABLE, MACHINE, "disk-not-empty"), (SLICE, WITH_TABLE, "hidden-content")]
)
def test_the_gate_asks_never_3_of_the_bytes_as_well(step: Step, now: Inventory, code: str) -> None:
    """udev and the kernel know of nothing; libblkid does."""
    at = SLICE.slice.start_bytes if step is SLICE else 0
    refused = Gate(InOrder(now, DeviceScan((Signature("ext4", at),), table=AREA))).ask(step, now, OWN)
    assert isinstance(refused, Refused)
    assert code_of(refused) == code
