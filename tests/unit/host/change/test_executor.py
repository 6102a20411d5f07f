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

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    ClearSlice,
    CreateSlice,
    DeleteSlice,
    DetachLog,
    DropLogSide,
    Naming,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import CommandRan
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Inventory, Pool
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.blockdev import DeviceBusy, DeviceChanged, open_disk
from nasadvisor.host.adapters.process import Command, Output, Runner, Tool
from nasadvisor.host.adapters.zpool_questions import DryRunDiffers, check_dry_run
from nasadvisor.host.change import executor as executor_module
from nasadvisor.host.change.executor import MachineExecutor
from nasadvisor.host.change.gate import Permit
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.domain.builders import MIRROR_GUID, attach_to_log, log_on, mirrored_log
from tests.unit.machines import (
    CACHE_GUID,
    NVME1,
    NVME2,
    SHARED_SSD,
    TANK,
    home_server,
    plan_for,
    with_broken_log,
    with_cache,
)
from tests.unit.permits import OWN, permit_for

PLAN = plan_for(PlanRequest(TANK, (NVME1, NVME2), GIB, (NVME1, NVME2), GIB), home_server())


def dry_run_of(action: AddLog | AddCache) -> str:
    """What `zpool add -n` prints, as recorded on OpenZFS 2.3.9."""
    heading, pieces = ("logs", action.sides) if isinstance(action, AddLog) else ("cache", action.slices)
    names = [piece.path.rsplit("/", 1)[1] for piece in pieces]
    mirror = ["\t  mirror"] if len(pieces) > 1 and heading == "logs" else []
    head = ["would update 'tank' to the following configuration:", "", "\ttank", "\t  mirror-0", "\t    ata-WDC_1"]
    return "\n".join([*head, f"\t{heading}", *mirror, *(f"\t    {name}" for name in names)]) + "\n"


@dataclass
class Stage:
    """Records every event: opening, checking, blanking, running."""

    events: list[str] = field(default_factory=list)
    kernel_knows: bool = True
    ran: list[Command] = field(default_factory=list)

    def run(self, command: Command) -> Output:
        self.ran.append(command)
        self.events.append(str(command))
        dry = {action.dry_run(): action for action in PLAN.actions if isinstance(action, AddLog | AddCache)}
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
    def watch_disk(self, path: str, disk: Disk, identify: object) -> Iterator[int]:
        assert disk.is_at(path)
        assert identify == self.identify
        self.events.append(f"check {path}")
        yield -1

    def leads_to(self, path: str, descriptor: int) -> bool:
        assert (path[:16], descriptor) == ("/dev/disk/by-id/", -1)
        return True

    def has_partition(self, descriptor: int, number: int, sysfs: Path) -> bool:
        assert (descriptor, sysfs) == (-1, Path("/sys"))
        assert number in (1, 2)
        return self.kernel_knows

    @contextmanager
    def open_disk(self, path: str, disk: Disk, identify: object, flags: int) -> Iterator[int]:
        assert disk.is_at(path)
        assert identify == self.identify
        assert flags == os.O_RDONLY
        self.events.append(f"check {path}")
        yield -1

    @contextmanager
    def open_slice(self, piece: Slice, sysfs: Path) -> Iterator[int]:
        assert sysfs == Path("/sys")
        self.events.append(f"check {piece.partuuid_path}")
        yield -1

    def blank(self, piece: Slice, sysfs: Path) -> None:
        assert sysfs == Path("/sys")
        self.events.append(f"blank {piece.partuuid_path}")


class NoPools:
    """There is nothing to read on this stage."""

    def read(self) -> tuple[Pool, ...]:
        raise AssertionError


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    monkeypatch.setattr(executor_module, "open_disk", stage.open_disk)
    monkeypatch.setattr(executor_module, "watch_disk", stage.watch_disk)
    monkeypatch.setattr(executor_module, "leads_to", stage.leads_to)
    monkeypatch.setattr(executor_module, "has_partition", stage.has_partition)
    monkeypatch.setattr(executor_module, "open_slice", stage.open_slice)
    monkeypatch.setattr(executor_module, "blank_slice", stage.blank)
    monkeypatch.setattr(executor_module, "_exists", lambda path: True)
    monkeypatch.setattr(os.path, "realpath", lambda path, strict=False: str(path))
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
        for command in map(typed, action.commands()):
            before = events[: events.index(command)]
            targets = [piece.partuuid_path for piece in getattr(action, "sides", getattr(action, "slices", ()))]
            targets = targets or [command.rsplit(" ", 1)[1]]
            assert all(f"check {target}" in before for target in targets)


def test_never_4_a_slice_is_checked_again_before_it_is_cleared(stage: Stage) -> None:
    for action in reversed(PLAN.actions):
        for step in action.undo(action.planned_outcome()):
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
            assert events.index(typed(action.dry_run())) < events.index(typed(action.commands()[0]))


def test_what_runs_is_what_the_preview_shows(stage: Stage) -> None:
    for action in PLAN.actions:
        dry = [typed(action.dry_run())] if isinstance(action, AddLog | AddCache) else []
        ran = [event for event in done(stage, action) if not event.startswith(("check", "blank"))]
        assert ran == [*dry, *map(typed, action.commands())]


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
            assert typed(action.dry_run()) in stage.events
            assert typed(action.commands()[0]) not in stage.events


def test_a_pool_called_like_a_class_is_no_heading() -> None:
    action = log_action(PLAN)
    check_dry_run(dry_run_of(action).replace("\ttank", "\tlogs", 1), action)


SETTLE = "udevadm settle --timeout=60"


def deletion() -> tuple[DeleteSlice, Permit]:
    """The permit to delete the first slice, once its pool has let go of it."""
    step = DeleteSlice(PLAN.slices[0], TANK)
    return step, permit_for(step, without_pools(PLAN.after(home_server())))


def test_a_slice_is_cleared_while_nobody_has_it_and_before_its_partition_goes(stage: Stage) -> None:
    stage.kernel_knows = False
    step, permit = deletion()
    ran = executor(stage).do(permit)
    disk, piece = step.slice.disk_path, step.slice.partuuid_path
    assert stage.events == [
        f"check {disk}",
        f"check {piece}",
        f"zpool labelclear {piece}",
        f"blkdiscard {piece}",
        f"blank {piece}",
        SETTLE,
        f"check {disk}",
        f"check {disk}",
        f"sgdisk --delete=1 {disk}",
        SETTLE,
        f"check {disk}",
        SETTLE,
    ]
    assert [each.argv for each in ran] == list(step.commands())


@pytest.mark.parametrize("knows", [True, False])
def test_the_kernel_is_told_of_a_partition_that_it_could_not_find_out_about(stage: Stage, knows: bool) -> None:
    """A new one that it does not know, and one that is gone and that it still knows."""
    stage.kernel_knows = knows
    _, permit = deletion()
    executor(stage).do(permit)
    disk = PLAN.slices[0].disk_path
    told = [f"partx --delete --nr 1 {disk}", SETTLE] if knows else []
    assert [event for event in stage.events if not event.startswith("check")][-2 - len(told) :] == [
        SETTLE,
        *told,
        SETTLE,
    ]
    stage.events.clear()
    action = next(action for action in PLAN.actions if isinstance(action, CreateSlice))
    executor(stage).do(permit_for(action, state_before(action)))
    told = [] if knows else [f"partx --add --nr 1 {disk}", SETTLE]
    blank = f"blank {action.slice.partuuid_path}"
    said = [event for event in stage.events if not event.startswith("check")]
    assert said == [typed(action.commands()[0]), SETTLE, *told, blank, SETTLE]


def test_of_a_slice_that_only_the_kernel_still_has_the_kernel_alone_is_told(stage: Stage) -> None:
    """Its entry went before the machine died; udev, which reads the table, has no PARTUUID for it any more."""
    piece = PLAN.slices[1]
    step = DeleteSlice(piece, TANK)
    after = without_pools(PLAN.after(home_server()))
    disks = tuple(
        replace(
            disk,
            partitions=tuple(
                replace(part, partuuid="") if part.partuuid == piece.partuuid else part for part in disk.partitions
            ),
        )
        for disk in after.disks
    )
    assert executor(stage).do(permit_for(step, replace(after, disks=disks))) == ()
    told = f"partx --delete --nr {piece.number} {piece.disk_path}"
    assert stage.events == [SETTLE, f"check {piece.disk_path}", told, SETTLE, SETTLE]


def test_every_command_has_its_time_and_the_codes_that_are_no_failure(stage: Stage) -> None:
    for action in PLAN.actions:
        executor(stage).do(permit_for(action, state_before(action)))
    _, permit = deletion()
    executor(stage).do(permit)
    allowed = {
        ("zpool", "labelclear"): (900.0, {0, 1, 255}),
        ("zpool", "add"): (900.0, {0}),
        ("blkdiscard", PLAN.slices[0].partuuid_path): (600.0, {0, 1}),
        ("udevadm", "settle"): (70.0, {0, 1}),
        ("partx", "--delete"): (60.0, {0, 1}),
    }
    seen = {(command.tool.value, command.args[0]): command for command in stage.ran}
    for name, command in seen.items():
        timeout_s, codes = allowed.get(name, (60.0, {0}))
        assert (command.timeout_s, set(command.expected_codes)) == (timeout_s, codes), name
    assert set(allowed) < set(seen)


def test_what_a_command_answered_is_kept(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "run", lambda command: Output("out", "err", 0, 1.23456))
    action = PLAN.actions[0]
    ran = executor(stage).do(permit_for(action, home_server()))
    assert ran == (CommandRan(action.commands()[0], 0, "out", "err", 1.235),)


def test_the_answers_of_an_add_are_kept_in_the_order_in_which_it_ran(stage: Stage) -> None:
    for action in PLAN.actions:
        if isinstance(action, AddLog | AddCache):
            ran = executor(stage).do(permit_for(action, state_before(action)))
            assert [each.argv for each in ran] == [action.dry_run(), *action.commands()]


def test_a_side_is_attached_without_a_dry_run_for_there_is_none(stage: Stage) -> None:
    inventory, step = attach_to_log()
    ran = executor(stage).do(permit_for(step, inventory))
    command = typed(step.commands()[0])
    assert stage.events == [f"check {step.side.partuuid_path}", SETTLE, command, SETTLE]
    assert [each.argv for each in ran] == list(step.commands())


def test_vdevs_are_taken_out_by_the_commands_that_are_shown(stage: Stage) -> None:
    inventory, sides = mirrored_log()
    steps: list[tuple[Step, Inventory]] = [
        (RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides), inventory),
        (DetachLog("tank", TANK, "32", sides[1]), inventory),
        (DropLogSide("tank", TANK, "32", "x"), with_broken_log()),
        (OfflineCache("tank", TANK, CACHE_GUID, "x"), with_cache()),
        (OnlineCache("tank", TANK, CACHE_GUID, "x"), with_cache("OFFLINE")),
    ]
    for step, now in steps:
        stage.events.clear()
        assert not isinstance(step, RewindTable | ClearSlice)
        ran = executor(stage).do(permit_for(step, now))
        assert stage.events == [typed(step.commands()[0]), SETTLE]
        assert [each.argv for each in ran] == list(step.commands())


def test_a_slice_is_cleared_by_zeros_alone(stage: Stage) -> None:
    inventory, log = log_on(NVME1)
    assert executor(stage).do(permit_for(ClearSlice(log.sides[0], "tank", TANK), inventory)) == ()
    assert stage.events == [f"blank {log.sides[0].partuuid_path}", SETTLE]


def test_it_reads_and_looks_at_its_own_machine(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def read(machine: Machine) -> Inventory:
        asked.append(machine)
        return home_server()

    def look(*args: object) -> DeviceScan:
        asked.extend(args)
        return DeviceScan()

    monkeypatch.setattr(executor_module, "read_inventory", read)
    monkeypatch.setattr(executor_module, "scan_devices", look)
    acting, step = executor(stage), PLAN.actions[0]
    assert acting.inventory() == home_server()
    assert acting.look(step, home_server(), OWN) == DeviceScan()
    assert asked == [acting.machine, acting.machine, step, home_server(), OWN]


def test_a_name_is_there_or_not(tmp_path: Path) -> None:
    assert executor_module._exists(str(tmp_path))
    assert not executor_module._exists(str(tmp_path / "gone"))


def test_a_copy_of_a_table_runs_nothing(stage: Stage) -> None:
    disk = home_server().disk(SHARED_SSD)
    assert disk
    step = SaveTable(disk.key, disk.path, disk.table_uuid, disk.places)
    assert executor(stage).do(permit_for(step, home_server())) == ()
    assert stage.events == []


def test_a_name_that_came_to_lead_elsewhere_while_a_command_used_it_fails_the_step(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_module, "leads_to", lambda path, descriptor: descriptor != -1)
    action = PLAN.actions[0]
    with pytest.raises(DeviceChanged, match=f"^{PLAN.slices[0].disk_path} .*assigned to another device"):
        executor(stage).do(permit_for(action, home_server()))


@pytest.mark.parametrize("leads", ["nowhere", "elsewhere"])
def test_openzfs_is_not_given_a_name_that_does_not_lead_to_the_slice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, leads: str
) -> None:
    by_id = replace(PLAN.request, naming=Naming.DISK_ID)
    plan = plan_for(by_id, home_server())
    action = log_action(plan)
    path = action.sides[1].path
    monkeypatch.setattr(executor_module, "_exists", lambda name: leads != "nowhere" or name != path)
    places = {side.path: side.partuuid_path for side in action.sides}
    monkeypatch.setattr(os.path, "realpath", lambda name: "/dev/other" if name == path else places.get(name, name))
    if leads == "nowhere":
        monkeypatch.setattr(os.path, "realpath", lambda name: "/dev/same")
    inventory = home_server()
    for earlier in plan.actions[: plan.actions.index(action)]:
        inventory = earlier.forwards(inventory)
    with pytest.raises(DeviceChanged, match=f"^{path} .*does not lead to the created slice"):
        executor(stage).do(permit_for(action, inventory))
    assert not [command for command in stage.ran if command.tool is Tool.ZPOOL]


def test_a_disk_that_is_gone_by_now_is_a_sentence(stage: Stage) -> None:
    permit = permit_for(PLAN.actions[0], home_server())
    permit.inventory = replace(permit.inventory, disks=())
    with pytest.raises(DeviceChanged, match=f"^{NVME1} .*it was not found"):
        executor(stage).do(permit)


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
        pytest.raises(DeviceChanged, match="Nothing was written to it"),
        opened(file_disk, other, os.O_RDWR),
    ):
        pass


def test_a_name_that_leads_nowhere_or_not_to_a_disk_is_a_sentence(tmp_path: Path) -> None:
    disk = home_server().disk(NVME1)
    assert disk is not None
    (tmp_path / "file").write_text("")
    for name, problem in (("gone", "was not found"), ("file", "not a block device")):
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
    monkeypatch.setattr("nasadvisor.host.adapters.blockdev.BUSY_S", 0.0)
    with (
        pytest.raises(DeviceBusy),
        opened(file_disk, file_disk.identity),
    ):
        pass
