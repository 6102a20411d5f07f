"""Doing one action on the real machine: the commands of `domain.commands`, and the few bytes we write ourselves.

An executor decides nothing: rules were asked before, and what happened is read off a fresh inventory afterwards.
"""

import base64
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from nasadvisor.domain.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLogLeg,
    RemoveVdev,
    RestoreTable,
    SaveTable,
    Slice,
    UndoAction,
    slices_of,
)
from nasadvisor.domain.commands import Argv, commands, dry_run_argv
from nasadvisor.domain.inventory import Disk, Inventory
from nasadvisor.domain.lifecycle import CommandRan, DiskImage
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.adapters.blockdev import (
    NOT_THERE,
    DeviceChanged,
    blank_slice,
    open_disk,
    open_slice,
    read_all,
    reread_table,
    write_all,
)
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.adapters.zpool_add import check_dry_run
from nasadvisor.host.errors import HostError
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.machine import Machine

Ran = tuple[CommandRan, ...]

TIMEOUTS_S: Final = {Tool.ZPOOL: 900.0, Tool.SGDISK: 60.0, Tool.BLKDISCARD: 600.0}
"""`zpool remove` of a cache evicts every header of it first and was seen to take 5 minutes (OpenZFS issue 3358)."""

TOLERATED: Final = {
    ("zpool", "labelclear"): frozenset({0, 1, 255}),  # not 0: there was no label to clear
    ("blkdiscard",): frozenset({0, 1}),  # 1: the device cannot discard; its wear suffers, its data do not
}

SETTLE_S: Final = 60


class ImageMissing(HostError):  # noqa: N818 - named for what happened
    """The journal holds no copy of the sectors that are to be put back."""

    def __init__(self, path: str) -> None:
        template = _(
            "The journal holds no copy of the partition table sectors of {path}, so they are left as they are. Our "
            "slices are gone from it; `sgdisk --print {path}` shows what is there."
        )
        super().__init__(template, path=path)


class Executor(Protocol):
    """Acts on one host. Every method may raise HostError."""

    def inventory(self) -> Inventory:
        """The host as it is now."""
        ...

    def table_image(self, disk: Disk) -> DiskImage:
        """The sectors that hold the disk's partition table, or would hold one."""
        ...

    def hidden_content(self, piece: Slice) -> str:
        """What is recognised at the place where a slice is to go; "" for nothing."""
        ...

    def do(self, action: Action, inventory: Inventory) -> Ran:
        """Run one action of a plan."""
        ...

    def undo(self, action: UndoAction, inventory: Inventory, image: DiskImage | None) -> Ran:
        """Run one undo action; `image` is that of the disk whose table is restored."""
        ...

    def clear_traces(self, action: Action, inventory: Inventory, image: DiskImage | None) -> None:
        """Clean up what a step left that began but did not get through, so that it can run again."""
        ...


@dataclass(frozen=True)
class MachineExecutor:
    """The executor of a real machine."""

    machine: Machine

    def inventory(self) -> Inventory:
        """See `Executor.inventory`."""
        return read_inventory(self.machine)

    def table_image(self, disk: Disk) -> DiskImage:
        """See `Executor.table_image`."""
        with open_disk(disk, self.machine.disks.identify, os.O_RDONLY) as descriptor:
            size, end = disk.identity.size_bytes, disk.usable_end_bytes
            head = read_all(descriptor, disk.usable_start_bytes, 0, disk.path)
            tail = read_all(descriptor, size - end, end, disk.path)
        return DiskImage(disk.key, disk.table_uuid, base64.b64encode(head).decode(), base64.b64encode(tail).decode())

    def hidden_content(self, piece: Slice) -> str:
        """See `Executor.hidden_content`. blkid(8) exits with 2 where it recognises nothing."""
        place = ("--offset", str(piece.start_bytes), "--size", str(piece.size_bytes))
        args = ("--probe", *place, "--output", "value", "--match-tag", "TYPE", piece.disk_path)
        found = self.machine.runner.run(Command(Tool.BLKID, args, 60, frozenset({0, 2})))
        return found.stdout.strip() if found.code == 0 else ""

    def do(self, action: Action, inventory: Inventory) -> Ran:
        """See `Executor.do`."""
        match action:
            case CreateTable():
                self._check_disk(action.disk_key, inventory)
                ran = self._run(commands(action))
                self._settle()
            case SaveTable():
                ran = ()
            case CreateSlice(slice=piece):
                self._check_disk(piece.disk_key, inventory)
                ran = self._run(commands(action))
                self._show_partition(piece, "--add")
                blank_slice(piece, self.machine.roots.sys)
                self._settle()
            case AddLog() | AddCache():
                self._check_slices(action)
                ran = (self._dry_run(action), *self._run(commands(action)))
            case AttachLog():
                self._check_slices(action)
                ran = self._run(commands(action))
            case DropLogLeg():
                ran = self._run(commands(action))
                self._settle()
        return ran

    def undo(self, action: UndoAction, inventory: Inventory, image: DiskImage | None) -> Ran:
        """See `Executor.undo`."""
        match action:
            case RemoveVdev() | DetachLog():
                ran = self._run(commands(action))
            case DeleteSlice(slice=piece):
                ran = self._delete(action, piece, inventory)
            case RestoreTable():
                ran = ()
                if image is None:
                    raise ImageMissing(action.disk_path)
                self._restore(action.disk_key, inventory, image)
        self._settle()
        return ran

    def clear_traces(self, action: Action, inventory: Inventory, image: DiskImage | None) -> None:
        """See `Executor.clear_traces`."""
        if isinstance(action, CreateTable) and image is not None:
            self._restore(action.disk_key, inventory, image)
        elif isinstance(action, AddLog | AddCache | AttachLog):
            for piece in slices_of(action):
                blank_slice(piece, self.machine.roots.sys)
        self._settle()

    def _delete(self, action: DeleteSlice, piece: Slice, inventory: Inventory) -> Ran:
        self._check_disk(piece.disk_key, inventory)
        with open_slice(piece, self.machine.roots.sys):
            pass  # it is ours, and nobody else has it
        *clearing, deleting = commands(action)
        ran = self._run(tuple(clearing))
        blank_slice(piece, self.machine.roots.sys)
        self._settle()
        ran = (*ran, *self._run((deleting,)))
        self._show_partition(piece, "--delete")
        return ran

    def _restore(self, key: str, inventory: Inventory, image: DiskImage) -> None:
        disk = _known(key, inventory)
        head, tail = base64.b64decode(image.head_base64), base64.b64decode(image.tail_base64)
        with open_disk(disk, self.machine.disks.identify, os.O_RDWR) as descriptor:
            write_all(descriptor, head, 0, disk.path)
            write_all(descriptor, tail, disk.identity.size_bytes - len(tail), disk.path)
            os.fsync(descriptor)
            reread_table(descriptor)
            for data, offset in ((head, 0), (tail, disk.identity.size_bytes - len(tail))):
                if read_all(descriptor, len(data), offset, disk.path) != data:
                    raise DeviceChanged(disk.path, _("the restored sectors read back differently"))

    def _check_disk(self, key: str, inventory: Inventory) -> None:
        """The last look before a program writes to the disk: it is there, it is the one, nobody else has it.

        The claim is given up again before the program starts: it needs its own, and a claim of ours would keep the
        kernel from reading the new table. The program is given a persistent name, which another disk cannot have.
        """
        with open_disk(_known(key, inventory), self.machine.disks.identify, os.O_RDONLY):
            pass

    def _check_slices(self, action: AddLog | AddCache | AttachLog) -> None:
        for piece in slices_of(action):
            with open_slice(piece, self.machine.roots.sys):
                pass
            self._check_path(piece)
        self._settle()

    def _check_path(self, piece: Slice) -> None:
        """The name given to OpenZFS must lead to the same device as the PARTUUID that only this slice has."""
        if not _exists(piece.path) or os.path.realpath(piece.path) != os.path.realpath(piece.partuuid_path):
            raise DeviceChanged(piece.path, _("it does not lead to the slice that was made"))

    def _dry_run(self, action: AddLog | AddCache) -> CommandRan:
        ran = self._command(dry_run_argv(action))
        check_dry_run(ran.stdout, action)
        return ran

    def _run(self, argvs: tuple[Argv, ...]) -> Ran:
        return tuple(map(self._command, argvs))

    def _command(self, argv: Argv) -> CommandRan:
        tool = Tool(argv[0])
        expected = next((codes for head, codes in TOLERATED.items() if argv[: len(head)] == head), frozenset({0}))
        output = self.machine.runner.run(Command(tool, argv[1:], TIMEOUTS_S[tool], expected))
        return CommandRan(argv, output.code, output.stdout, output.stderr, round(output.seconds, 3))

    def _show_partition(self, piece: Slice, change: str) -> None:
        """Tell the kernel of one partition where it could not read the whole table, because another is in use.

        partx(8) with `--add` or `--delete`; it fails if the kernel knows already, which is as good.
        """
        self._settle()
        known = _exists(piece.partuuid_path)
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
