"""Doing one step on the real machine: the commands of `domain.change.actions`, and the few bytes we write ourselves.

An executor decides nothing: the gate asked the rules and looked at the bytes right before, and what happened is read
off a fresh inventory afterwards.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    Argv,
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
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.runs import CommandRan
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.adapters.blockdev import (
    NOT_THERE,
    DeviceChanged,
    blank_slice,
    forget_buffers,
    has_partition,
    leads_to,
    open_disk,
    open_slice,
    read_all,
    reread_table,
    watch_disk,
    write_all,
)
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.adapters.zpool_questions import check_dry_run
from nasadvisor.host.change.device_scan import scan_devices
from nasadvisor.host.change.gate import Permit, PermitMisused, Ran
from nasadvisor.host.storage.machine import Machine, read_inventory

TIMEOUTS_S: Final = {Tool.ZPOOL: 900.0, Tool.SGDISK: 60.0, Tool.BLKDISCARD: 600.0}
"""`zpool remove` of a cache evicts every header of it first and was seen to take 5 minutes (OpenZFS issue 3358)."""

TOLERATED: Final = {
    ("zpool", "labelclear"): frozenset({0, 1, 255}),  # not 0: there was no label to clear
    ("blkdiscard",): frozenset({0, 1}),  # 1: the device cannot discard; its wear suffers, its data do not
}

SETTLE_S: Final = 60


@dataclass(frozen=True)
class MachineExecutor:
    """The executor of a real machine."""

    machine: Machine

    def inventory(self) -> Inventory:
        """See `Executor.inventory`."""
        return read_inventory(self.machine)

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        """See `Executor.look`."""
        return scan_devices(self.machine, step, inventory, own)

    def do(self, permit: Permit) -> Ran:
        """See `Executor.do`."""
        step = permit.spend()
        ran: Ran = ()
        match step:
            case SaveTable():
                return ran
            case CreateTable():
                ran = self._on_disk(step.disk_key, step.disk_path, permit.inventory, step.commands())
            case CreateSlice():
                ran = self._create(step, permit.inventory)
            case AddLog() | AddCache() | AttachLog():
                ran = self._add(step)
            case DropLogSide() | DropLog() | RemoveVdev() | DetachLog() | OfflineCache() | OnlineCache():
                ran = self._run(step.commands())
            case DeleteSlice():
                ran = self._delete(step, permit.inventory)
            case ClearSlice():
                blank_slice(step.slice, self.machine.roots.sys)
            case RestoreTable() | RewindTable():
                self._write_table(step, permit.inventory, permit.area)
        self._settle()
        return ran

    def _create(self, step: CreateSlice, inventory: Inventory) -> Ran:
        piece = step.slice
        ran = self._on_disk(piece.disk_key, piece.disk_path, inventory, step.commands())
        self._tell_kernel(piece, inventory, "--add")
        blank_slice(piece, self.machine.roots.sys)
        return ran

    def _add(self, step: AddLog | AddCache | AttachLog) -> Ran:
        for piece in step.pieces:
            with open_slice(piece, self.machine.roots.sys):
                pass  # it is ours, and nobody else has it
            # The name given to OpenZFS must lead to the same device as the PARTUUID that only this slice has.
            if not _exists(piece.path) or os.path.realpath(piece.path) != os.path.realpath(piece.partuuid_path):
                raise DeviceChanged(piece.path, _("it does not lead to the created slice"))
        self._settle()
        ran: Ran = ()
        if not isinstance(step, AttachLog):
            ran = (self._command(step.dry_run()),)
            check_dry_run(ran[0].stdout, step)
        return (*ran, *self._run(step.commands()))

    def _delete(self, step: DeleteSlice, inventory: Inventory) -> Ran:
        piece = step.slice
        if not inventory.partitions(piece.partuuid):  # only the kernel still has it
            self._tell_kernel(piece, inventory, "--delete")
            return ()
        disk = _known(piece.disk_key, inventory)
        with open_disk(piece.disk_path, disk, self.machine.disks.identify, os.O_RDONLY):
            pass  # it is the disk that is meant
        with open_slice(piece, self.machine.roots.sys):
            pass  # it is ours, and nobody else has it
        *clearing, deleting = step.commands()
        ran = self._run(tuple(clearing))
        blank_slice(piece, self.machine.roots.sys)
        self._settle()
        ran = (*ran, *self._on_disk(piece.disk_key, piece.disk_path, inventory, (deleting,)))
        self._tell_kernel(piece, inventory, "--delete")
        return ran

    def _write_table(self, step: RestoreTable | RewindTable, inventory: Inventory, area: Area | None) -> None:
        if area is None:
            raise PermitMisused(f"the permit for {step.action} holds no sectors")
        disk, path = _known(step.disk_key, inventory), step.disk_path
        parts = ((area.head, 0), (area.tail, disk.identity.size_bytes - len(area.tail)))
        with open_disk(path, disk, self.machine.disks.identify, os.O_RDWR) as descriptor:
            for data, offset in parts:
                write_all(descriptor, data, offset, path)
            os.fsync(descriptor)
            forget_buffers(descriptor)
            for data, offset in parts:
                if read_all(descriptor, len(data), offset, path) != data:
                    raise DeviceChanged(path, _("the restored sectors read back differently"))
            reread_table(descriptor)

    def _on_disk(self, key: str, path: str, inventory: Inventory, argvs: tuple[Argv, ...]) -> Ran:
        """Run commands that are given this name of a disk, the disk held open meanwhile.

        First with a claim: nobody else has it. The claim is given up again, for a program needs its own, and one of
        ours would keep the kernel from reading the new table. That the name led to the disk all the time is seen on
        the descriptor.
        """
        disk, identify = _known(key, inventory), self.machine.disks.identify
        with open_disk(path, disk, identify, os.O_RDONLY):
            pass
        with watch_disk(path, disk, identify) as descriptor:
            ran = self._run(argvs)
            if not leads_to(path, descriptor):
                raise DeviceChanged(path, _("the name was assigned to another device while a command used it"))
        return ran

    def _run(self, argvs: tuple[Argv, ...]) -> Ran:
        return tuple(map(self._command, argvs))

    def _command(self, argv: Argv) -> CommandRan:
        tool = Tool(argv[0])
        expected = next((codes for head, codes in TOLERATED.items() if argv[: len(head)] == head), frozenset({0}))
        output = self.machine.runner.run(Command(tool, argv[1:], TIMEOUTS_S[tool], expected))
        return CommandRan(argv, output.code, output.stdout, output.stderr, round(output.seconds, 3))

    def _tell_kernel(self, piece: Slice, inventory: Inventory, change: str) -> None:
        """Tell the kernel of one partition where it could not read the whole table, because another is in use.

        partx(8) with `--add` or `--delete`; it fails if the kernel knows already, which is as good. What the kernel
        knows is read from sysfs: udev takes away a partition's names before the kernel lets go of the partition.
        """
        self._settle()
        disk = _known(piece.disk_key, inventory)
        with watch_disk(piece.disk_path, disk, self.machine.disks.identify) as descriptor:
            known = has_partition(descriptor, piece.number, self.machine.roots.sys)
        if known == (change == "--add"):
            return
        args = (change, "--nr", str(piece.number), piece.disk_path)
        self.machine.runner.run(Command(Tool.PARTX, args, SETTLE_S, frozenset({0, 1})))
        self._settle()

    def _settle(self) -> None:
        args = ("settle", f"--timeout={SETTLE_S}")
        self.machine.runner.run(Command(Tool.UDEVADM, args, SETTLE_S + 10, frozenset({0, 1})))


def _known(key: str, inventory: Inventory) -> Disk:
    disk = inventory.disk(key)
    if disk is None:
        raise DeviceChanged(key, NOT_THERE)
    return disk


def _exists(path: str) -> bool:
    return Path(path).exists()
