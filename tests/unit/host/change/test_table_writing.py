"""Writing an old partition table back, on a file that passes for a disk: all of it, and read again before it counts."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import RestoreTable, RewindTable
from nasadvisor.domain.change.device_scan import DeviceScan
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Inventory, Pool
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.blockdev import DeviceChanged, DeviceUnusable
from nasadvisor.host.adapters.process import Command, Output, Runner
from nasadvisor.host.change import executor as executor_module
from nasadvisor.host.change import gate as gate_module
from nasadvisor.host.change.executor import MachineExecutor
from nasadvisor.host.change.gate import Permit, PermitMisused
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.machines import NVME1, home_server, with_disk

HEAD_BYTES, TAIL_BYTES = 34 * 512, 33 * 512
BEFORE = Area(b"h" * HEAD_BYTES, b"t" * TAIL_BYTES)
LAST = Area(b"H" * HEAD_BYTES, b"T" * TAIL_BYTES)
MIDDLE = b"m" * (MIB - HEAD_BYTES - TAIL_BYTES)


class OneDisk:
    """A machine with one disk, on which no command does anything."""

    def __init__(self, identity: DiskIdentity) -> None:
        self.identity = identity

    def identify(self, device_number: int) -> DiskIdentity:
        return self.identity

    def run(self, command: Command) -> Output:
        return Output("", "", 0, 0.1)

    def has(self, tool: object) -> bool:
        raise AssertionError(tool)

    def holding(self, descriptors: tuple[int, ...]) -> Runner:
        raise AssertionError(descriptors)

    def read(self, pools: tuple[Pool, ...] = ()) -> tuple[Disk, ...]:
        raise AssertionError


class Unread:
    """Nothing else is read here."""

    def read(self) -> Host:
        raise AssertionError


class NoPools:
    """Nor are pools."""

    def read(self) -> tuple[Pool, ...]:
        raise AssertionError


class OnFile:
    """The disk in a file of 1 MiB, and the executor for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.write_bytes(bytes(HEAD_BYTES) + MIDDLE + bytes(TAIL_BYTES))
        disk = home_server().disk(NVME1)
        assert disk
        self.identity = DiskIdentity(disk.identity.model, disk.identity.serial, disk.identity.wwn, MIB, 512, 512)
        self.inventory: Inventory = with_disk(home_server(), NVME1, identity=self.identity)

    def write(self, step: RestoreTable | RewindTable, own: OwnTable | None) -> None:
        machine = OneDisk(self.identity)
        executor = MachineExecutor(Machine(machine, Unread(), NoPools(), machine, lambda: datetime.now(UTC), Roots()))
        look = DeviceScan(table=own.last if own else None)
        executor.do(Permit(step, self.inventory, look, own, gate_module._SEAL))

    @property
    def restore(self) -> RestoreTable:
        return RestoreTable(NVME1, str(self.path), "", ())


OWN = OwnTable(BEFORE, LAST, (BEFORE, LAST))


@pytest.fixture
def on_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OnFile:
    monkeypatch.setattr(stat, "S_ISBLK", lambda mode: True)
    return OnFile(tmp_path / "disk")


def test_the_head_and_the_tail_of_a_table_are_restored_and_nothing_between(on_file: OnFile) -> None:
    on_file.write(on_file.restore, OWN)
    assert on_file.path.read_bytes() == BEFORE.head + MIDDLE + BEFORE.tail


def test_a_table_is_rewound_to_what_the_last_finished_step_left(on_file: OnFile) -> None:
    on_file.write(RewindTable(NVME1, str(on_file.path)), OWN)
    assert on_file.path.read_bytes() == LAST.head + MIDDLE + LAST.tail


@pytest.mark.parametrize("place", [0, HEAD_BYTES - 1, MIB - TAIL_BYTES, MIB - 1])
def test_a_table_that_reads_back_differently_is_not_called_restored(
    on_file: OnFile, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """The SSD acknowledges every write, and loses one byte."""
    monkeypatch.setattr(executor_module, "forget_buffers", lambda descriptor: lose(on_file.path, place))
    with pytest.raises(DeviceChanged, match=f"^{on_file.path} .*read back differently"):
        on_file.write(on_file.restore, OWN)


def test_a_restored_table_is_on_the_disk_before_it_is_read_again(
    on_file: OnFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what is only in memory is gone with the power, and was called restored."""
    done: list[str] = []
    for name in ("pwrite", "fsync", "pread"):
        monkeypatch.setattr(os, name, noted(name, done))
    on_file.write(on_file.restore, OWN)
    assert done == ["pwrite", "pwrite", "fsync", "pread", "pread"]


def noted(name: str, done: list[str]) -> Callable[..., object]:
    """A system call that is written down."""
    call: Callable[..., object] = getattr(os, name)

    def noting(*args: object) -> object:
        done.append(name)
        return call(*args)

    return noting


@pytest.mark.parametrize("call", ["pread", "pwrite"])
def test_a_disk_that_fails_meanwhile_is_named(on_file: OnFile, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*_args: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(DeviceUnusable, match=f"^{on_file.path} "):
        on_file.write(on_file.restore, OWN)


def lose(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_a_disk_of_another_identity_keeps_its_table(on_file: OnFile) -> None:
    before = on_file.path.read_bytes()
    on_file.identity = DiskIdentity("Other", "X", "eui.9", MIB, 512, 512)
    with pytest.raises(DeviceChanged):
        on_file.write(on_file.restore, OWN)
    assert on_file.path.read_bytes() == before


def test_without_the_old_sectors_nothing_is_written(on_file: OnFile) -> None:
    before = on_file.path.read_bytes()
    with pytest.raises(PermitMisused, match="holds no sectors"):
        on_file.write(on_file.restore, None)
    assert on_file.path.read_bytes() == before
