"""The executor on a machine made of stand-ins: what it checks, what it runs, and in which order."""

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.actions import Action, AddCache, AddLog, DeleteSlice, Slice
from nasadvisor.domain.commands import commands, dry_run_argv
from nasadvisor.domain.inventory import Disk, DiskIdentity, Host, Inventory, Pool
from nasadvisor.domain.plan import Plan, PlanRequest
from nasadvisor.domain.undo import planned_outcome, undo_of
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host import executor as executor_module
from nasadvisor.host.adapters.blockdev import DeviceBusy, DeviceChanged, open_disk
from nasadvisor.host.adapters.process import Command, Output, Runner
from nasadvisor.host.adapters.zpool_add import DryRunDiffers, check_dry_run
from nasadvisor.host.executor import MachineExecutor
from nasadvisor.host.machine import Machine, Roots
from tests.unit.machines import NVME1, NVME2, TANK, home_server, plan_for
from tests.unit.permits import permit_for

PLAN = plan_for(PlanRequest(TANK, (NVME1, NVME2), GIB, (NVME1, NVME2), GIB), home_server())


def dry_run_of(action: AddLog | AddCache) -> str:
    """What `zpool add -n` prints, as recorded on OpenZFS 2.3.9."""
    heading, pieces = ("logs", action.legs) if isinstance(action, AddLog) else ("cache", action.slices)
    names = [piece.path.rsplit("/", 1)[1] for piece in pieces]
    mirror = ["\t  mirror"] if len(pieces) > 1 and heading == "logs" else []
    head = ["would update 'tank' to the following configuration:", "", "\ttank", "\t  mirror-0", "\t    ata-WDC_1"]
    return "\n".join([*head, f"\t{heading}", *mirror, *(f"\t    {name}" for name in names)]) + "\n"


@dataclass
class Stage:
    """Records every event: opening, checking, blanking, running."""

    events: list[str] = field(default_factory=list)
    kernel_knows: bool = True

    def run(self, command: Command) -> Output:
        self.events.append(str(command))
        dry = {dry_run_argv(action): action for action in PLAN.actions if isinstance(action, AddLog | AddCache)}
        action = dry.get((str(command.tool), *command.args))
        return Output(dry_run_of(action) if action else "", "", 0, 0.1)

    def has(self, tool: object) -> bool:
        raise AssertionError(tool)

    def holding(self, descriptors: tuple[int, ...]) -> Runner:
        raise AssertionError(descriptors)

    def read(self, pools: tuple[Pool, ...] = ()) -> tuple[Disk, ...]:
        raise AssertionError(pools)

    def identify(self, device_number: int) -> DiskIdentity:
        raise AssertionError(device_number)

    @contextmanager
    def open_disk(self, path: str, disk: Disk, identify: object, flags: int = 0) -> Iterator[int]:
        del disk, identify, flags
        self.events.append(f"check {path}")
        yield -1

    @contextmanager
    def open_slice(self, piece: Slice, sysfs: Path) -> Iterator[int]:
        del sysfs
        self.events.append(f"check {piece.partuuid_path}")
        yield -1

    def blank(self, piece: Slice, sysfs: Path) -> None:
        del sysfs
        self.events.append(f"blank {piece.partuuid_path}")


class NoPools:
    """There is nothing to read on this stage."""

    def read(self) -> tuple[Pool, ...]:
        raise AssertionError


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    monkeypatch.setattr(executor_module, "open_disk", stage.open_disk)
    monkeypatch.setattr(executor_module, "watch_disk", stage.open_disk)
    monkeypatch.setattr(executor_module, "leads_to", lambda path, descriptor: True)
    monkeypatch.setattr(executor_module, "has_partition", lambda descriptor, number, sysfs: stage.kernel_knows)
    monkeypatch.setattr(executor_module, "open_slice", stage.open_slice)
    monkeypatch.setattr(executor_module, "blank_slice", stage.blank)
    monkeypatch.setattr(executor_module, "_exists", lambda path: True)
    monkeypatch.setattr(os.path, "realpath", lambda path: path)
    return stage


def executor(stage: Stage) -> MachineExecutor:
    host = HostStandIn()
    return MachineExecutor(Machine(stage, host, NoPools(), stage, lambda: datetime.now(UTC), Roots()))


class HostStandIn:
    """Tells nothing."""

    def read(self) -> Host:
        raise AssertionError


def done(stage: Stage, action: Action) -> list[str]:
    """The events of one action but for waiting for udev, in the inventory that the steps before leave."""
    stage.events.clear()
    executor(stage).do(permit_for(action, state_before(action)))
    return [event for event in stage.events if not event.startswith("udevadm")]


def without_pools(inventory: Inventory) -> Inventory:
    """The same host once its pool has let go of the slices."""
    disks = tuple(
        replace(disk, partitions=tuple(replace(part, holds=()) for part in disk.partitions)) for disk in inventory.disks
    )
    return replace(inventory, disks=disks, pools=home_server().pools)


def state_before(action: Action) -> Inventory:
    inventory = home_server()
    for earlier in PLAN.actions[: PLAN.actions.index(action)]:
        inventory = earlier.forwards(inventory)
    return inventory


def typed(argv: tuple[str, ...]) -> str:
    return shlex.join(argv)


def test_never_4_identity_is_checked_right_before_every_destructive_command(stage: Stage) -> None:
    for action in PLAN.actions:
        events = done(stage, action)
        for command in map(typed, commands(action)):
            before = events[: events.index(command)]
            targets = [piece.partuuid_path for piece in getattr(action, "legs", getattr(action, "slices", ()))]
            targets = targets or [command.rsplit(" ", 1)[1]]
            assert all(f"check {target}" in before for target in targets)


def test_never_4_a_slice_is_checked_again_before_it_is_cleared(stage: Stage) -> None:
    for action in reversed(PLAN.actions):
        for step in undo_of(action, planned_outcome(action)):
            stage.events.clear()
            if isinstance(step, DeleteSlice):
                stage.kernel_knows = False
                executor(stage).do(permit_for(step, without_pools(PLAN.after(home_server()))))
                first = next(i for i, event in enumerate(stage.events) if not event.startswith(("check", "udevadm")))
                assert f"check {step.slice.partuuid_path}" in stage.events[:first]
                assert f"check {step.slice.disk_path}" in stage.events[:first]


def test_never_2_the_dry_run_comes_before_the_real_add(stage: Stage) -> None:
    for action in PLAN.actions:
        if isinstance(action, AddLog | AddCache):
            events = done(stage, action)
            assert events.index(typed(dry_run_argv(action))) < events.index(typed(commands(action)[0]))


def test_what_runs_is_what_the_preview_shows(stage: Stage) -> None:
    for action in PLAN.actions:
        dry = [typed(dry_run_argv(action))] if isinstance(action, AddLog | AddCache) else []
        ran = [event for event in done(stage, action) if not event.startswith(("check", "blank"))]
        assert ran == [*dry, *map(typed, commands(action))]


def log_action(plan: Plan) -> AddLog:
    return next(action for action in plan.actions if isinstance(action, AddLog))


def test_never_2_a_dry_run_that_shows_the_slice_as_data_stops_the_step() -> None:
    action = log_action(PLAN)
    text = dry_run_of(action).replace("\tlogs\n", "")
    with pytest.raises(DryRunDiffers, match="not changed"):
        check_dry_run(text, action)


@pytest.mark.parametrize("text", ["", "would update", "\ttank\n\tlogs\n", "\ttank\n\tcache\n\t  x\n"])
def test_a_dry_run_that_does_not_show_the_slice_stops_the_step(text: str) -> None:
    with pytest.raises(DryRunDiffers):
        check_dry_run(text, log_action(PLAN))


def test_an_add_whose_dry_run_differs_is_not_run(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate asks OpenZFS itself what it would do: here it would make the slices special vdevs."""
    right = dry_run_of
    wrong = re.compile(r"\t(logs|cache)\n")
    monkeypatch.setitem(globals(), "dry_run_of", lambda action: wrong.sub("\tspecial\n", right(action)))
    for action in PLAN.actions:
        if isinstance(action, AddLog | AddCache):
            stage.events.clear()
            with pytest.raises(DryRunDiffers):
                executor(stage).do(permit_for(action, state_before(action)))
            assert typed(dry_run_argv(action)) in stage.events
            assert typed(commands(action)[0]) not in stage.events


def test_a_pool_called_like_a_class_is_no_heading() -> None:
    action = log_action(PLAN)
    check_dry_run(dry_run_of(action).replace("\ttank", "\tlogs", 1), action)


def opened(disk: Disk, found: DiskIdentity, flags: int = os.O_RDONLY) -> AbstractContextManager[int]:
    """The disk opened by its own name, where this identity is found."""
    return open_disk(disk.path, disk, lambda number: found, flags)


@pytest.fixture
def file_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A file that passes for a block device."""
    path = tmp_path / "disk"
    path.write_bytes(bytes(MIB))
    monkeypatch.setattr(stat, "S_ISBLK", lambda mode: True)
    disk = home_server().disk(NVME1)
    assert disk is not None
    return replace(disk, path=str(path))


def test_a_disk_is_opened_only_if_it_is_the_one(file_disk: Disk) -> None:
    with opened(file_disk, file_disk.identity) as descriptor:
        assert descriptor > 0


@pytest.mark.parametrize("change", [{"serial": "OTHER"}, {"size_bytes": 1}, {"wwn": "eui.1"}, {"model": "Other"}])
def test_never_4_another_disk_under_the_same_name_is_not_touched(file_disk: Disk, change: dict[str, str]) -> None:
    other = replace(file_disk.identity, **change)  # type: ignore[arg-type]
    with (
        pytest.raises(DeviceChanged, match="not written to"),
        opened(file_disk, other, os.O_RDWR),
    ):
        pass


def test_a_name_that_leads_nowhere_or_not_to_a_disk_is_a_sentence(tmp_path: Path) -> None:
    disk = home_server().disk(NVME1)
    assert disk is not None
    (tmp_path / "file").write_text("")
    for name, problem in (("gone", "not there"), ("file", "not a block device")):
        missing = replace(disk, path=str(tmp_path / name))
        with (
            pytest.raises(DeviceChanged, match=problem),
            opened(missing, disk.identity),
        ):
            pass


def test_never_4_a_free_disk_is_opened_exclusively(file_disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(path: str, flags: int) -> int:
        assert flags & os.O_EXCL
        raise OSError(16, "busy")

    monkeypatch.setattr(os, "open", busy)
    with (
        pytest.raises(DeviceBusy),
        opened(file_disk, file_disk.identity),
    ):
        pass
