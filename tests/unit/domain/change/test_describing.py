"""Each step says in one sentence what it does and where, and its code is the step's own name."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    AttachLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLog,
    DropLogSide,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    SaveTable,
)
from nasadvisor.domain.change.device_scan import Step
from tests.unit.domain.builders import disk_of, slice_on
from tests.unit.machines import NVME1, NVME2, TANK, home_server

ONE, TWO = (slice_on(disk_of(home_server(), key)) for key in (NVME1, NVME2))
CACHE = replace(ONE, role=Role.CACHE, number=2)
DISK = ONE.disk_path

SAID = [
    (CreateTable(NVME1, DISK, "t", 0, 0), "create-table", f"Write an empty GPT on {DISK}"),
    (SaveTable(NVME1, DISK, "t", ()), "save-table", f"Save the partition table of {DISK}"),
    (
        RestoreTable(NVME1, DISK, "t", ()),
        "restore-table",
        f"Restore the original partition table sectors of {DISK}",
    ),
    (
        RewindTable(NVME1, DISK),
        "rewind-table",
        f"Restore the partition table of {DISK} to its state before the interrupted step",
    ),
    (CreateSlice(ONE, TANK), "create-slice", f"Create a 4 GiB log slice (partition 1) on {DISK}"),
    (CreateSlice(CACHE, TANK), "create-slice", f"Create a 4 GiB cache slice (partition 2) on {DISK}"),
    (DeleteSlice(ONE, TANK), "delete-slice", f"Clear and delete the log slice (partition 1) on {DISK}"),
    (DeleteSlice(CACHE, TANK), "delete-slice", f"Clear and delete the cache slice (partition 2) on {DISK}"),
    (
        ClearSlice(CACHE, "tank", TANK),
        "clear-slice",
        f"Clear the remains of an interrupted step from partition 2 on {DISK}",
    ),
    (AddLog("tank", TANK, 12, (ONE,)), "add-log", "Add one slice as log to pool tank"),
    (AddLog("tank", TANK, 12, (ONE, TWO)), "add-log", "Add a mirror of 2 slices as log to pool tank"),
    (AddCache("tank", TANK, 12, (ONE,)), "add-cache", "Add 1 cache slice to pool tank"),
    (AddCache("tank", TANK, 12, (ONE, TWO)), "add-cache", "Add 2 cache slices to pool tank"),
    (
        AttachLog("tank", TANK, 12, "31", "/dev/old", TWO),
        "attach-log",
        f"Mirror the log of pool tank: attach a slice on {TWO.disk_path} to /dev/old",
    ),
    (DetachLog("tank", TANK, "32", TWO), "detach-log", f"Detach the side on {TWO.path} from the log of pool tank"),
    (
        DropLogSide("tank", TANK, "32", "/dev/dead"),
        "drop-log-side",
        "Remove the failed side /dev/dead from the log of pool tank",
    ),
    (
        DropLog("tank", TANK, "61", ("/dev/a", "/dev/b")),
        "drop-log",
        "Remove the failed log /dev/a, /dev/b from pool tank",
    ),
    (DropLog("tank", TANK, "61", ()), "drop-log", "Remove the failed log 61 from pool tank"),
    (DropLogSide("tank", TANK, "32", ""), "drop-log-side", "Remove the failed side 32 from the log of pool tank"),
    (
        RemoveVdev("tank", TANK, Role.LOG, "30", (ONE, TWO)),
        "remove-vdev",
        f"Remove the log on {ONE.path}, {TWO.path} from pool tank",
    ),
    (
        RemoveVdev("tank", TANK, Role.CACHE, "41", (ONE,)),
        "remove-vdev",
        f"Remove the cache on {ONE.path} from pool tank",
    ),
    (
        RemoveVdev("tank", TANK, Role.CACHE, "41", (ONE, TWO)),
        "remove-vdev",
        f"Remove cache 41 from pool tank, one of those on {ONE.path}, {TWO.path}",
    ),
    (
        OfflineCache("tank", TANK, "41", "/dev/cache"),
        "offline-cache",
        "Take the cache /dev/cache of pool tank out of service; it stays in the pool",
    ),
    (
        OfflineCache("tank", TANK, "41", ""),
        "offline-cache",
        "Take the cache 41 of pool tank out of service; it stays in the pool",
    ),
    (
        OnlineCache("tank", TANK, "41", "/dev/cache"),
        "online-cache",
        "Put the cache /dev/cache of pool tank back into service",
    ),
    (OnlineCache("tank", TANK, "41", ""), "online-cache", "Put the cache 41 of pool tank back into service"),
]


@pytest.mark.parametrize(("step", "code", "sentence"), SAID, ids=[sentence for _, _, sentence in SAID])
def test_a_step_says_what_it_does_and_where(step: Step, code: str, sentence: str) -> None:
    said = step.describe()
    assert (said.code, str(said)) == (code, sentence)


def test_every_step_there_is_says_what_it_does() -> None:
    assert {type(step) for step, _, _ in SAID} == set(Step.__args__)


def test_who_takes_a_side_of_a_log_out_is_told_which_vdev_that_is() -> None:
    values = {"guid": "32", "device": TWO.path, "pool": "tank"}
    assert DetachLog("tank", TANK, "32", TWO).describe().values == values
