"""A sweep over all disks of a machine."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Barrier, Lock

import pytest

from nasadvisor.domain.health.sweep import DiskAnswer, SelfTest
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Bus, Disk, Host, Inventory, Pool
from nasadvisor.host.adapters.process import Command, Output, Runner, Tool
from nasadvisor.host.errors import DiskUnknown, ToolMissing
from nasadvisor.host.health.sweep import AT_A_TIME, PART, start_test, sweep
from nasadvisor.host.storage.machine import Machine
from nasadvisor.stored.documents import unpack
from tests.fixtures.machines.build import large
from tests.unit.fakes import FakeRunner
from tests.unit.machines import SATA_SSD, SATA_SSD_WWN, home_server


@dataclass
class Recorded:
    """The parts of a machine, from an inventory."""

    inventory: Inventory

    def host(self) -> Host:
        return self.inventory.host

    def identify(self, device_number: int) -> DiskIdentity:
        raise NotImplementedError

    def read(self, pools: tuple[Pool, ...] = ()) -> tuple[Disk, ...]:
        return self.inventory.disks


@dataclass
class Answering:
    """Every smartctl answers; `together` calls must be under way at once, or the test fails."""

    together: Barrier | None = None
    asked: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def has(self, tool: Tool) -> bool:
        return tool is Tool.SMARTCTL

    def holding(self, descriptors: tuple[int, ...]) -> Runner:
        return self

    def run(self, command: Command) -> Output:
        if self.together:
            self.together.wait(timeout=20)
        with self.lock:
            self.asked.append(str(command))
        return Output('{"smartctl": {}}', "", 0, 0.0)


def machine(inventory: Inventory, runner: Runner) -> Machine:
    class Hosts:
        def read(self) -> Host:
            return inventory.host

    class Pools:
        def read(self) -> tuple[Pool, ...]:
            return inventory.pools

    return Machine(runner, Hosts(), Pools(), Recorded(inventory), lambda: datetime(2026, 8, 25, tzinfo=UTC))


def test_it_asks_every_disk_once_and_hands_over_in_parts() -> None:
    runner, parts = Answering(), list[tuple[DiskAnswer, ...]]()
    report = sweep(machine(large(), runner), parts.append)
    assert report is not None
    assert (len(runner.asked), report.read, report.failed) == (200, 200, 0)
    assert [len(part) for part in parts] == [PART] * 12 + [8]
    assert {answer.disk_key for part in parts for answer in part} == {disk.key for disk in large().disks}
    assert unpack(parts[0][0].smartctl) == '{"smartctl": {}}'


def test_it_asks_many_disks_at_a_time() -> None:
    disks = large().disks[:AT_A_TIME]
    report = sweep(machine(replace(large(), disks=disks), Answering(Barrier(len(disks)))), lambda _: None)
    assert report is not None
    assert report.read == AT_A_TIME


def test_it_asks_a_disk_with_two_paths_once() -> None:
    disk = home_server().disks[0]
    runner = Answering()
    sweep(machine(replace(home_server(), disks=(disk, replace(disk, kernel_name="sdz"))), runner), lambda _: None)
    assert len(runner.asked) == 1


def test_it_asks_each_of_the_disks_that_nothing_tells_apart() -> None:
    disk = replace(home_server().disks[0], path="", links=())
    bays = tuple(replace(disk, kernel_name=f"sd{letter}", place=f"usb-0:{letter}") for letter in "xyz")
    runner, answers = Answering(), list[DiskAnswer]()
    report = sweep(machine(replace(home_server(), disks=bays), runner), answers.extend)
    assert sorted(asked.split()[-1] for asked in runner.asked) == ["/dev/sdx", "/dev/sdy", "/dev/sdz"]
    assert {answer.disk_key for answer in answers} == {bay.key for bay in bays}
    assert report is not None
    assert report.read == 3


def test_a_second_sweep_does_not_begin_while_one_runs() -> None:
    again: list[object] = []
    one_disk = machine(replace(home_server(), disks=home_server().disks[:1]), Answering())
    sweep(one_disk, lambda _: again.append(sweep(one_disk, lambda _: None)))
    assert again == [None]
    assert sweep(one_disk, lambda _: None) is not None


def test_without_smartctl_it_says_so() -> None:
    with pytest.raises(ToolMissing):
        sweep(machine(home_server(), FakeRunner(missing=frozenset({Tool.SMARTCTL}))), lambda _: None)


def test_a_virtual_disk_counts_as_one_without_health() -> None:
    virtual = replace(home_server(), disks=(replace(home_server().disks[0], bus=Bus.VIRTIO),))
    report = sweep(machine(virtual, Answering()), lambda _: None)
    assert report is not None
    assert (report.unsupported, report.read) == (1, 0)


def test_an_emmc_chip_is_not_asked_and_that_is_said() -> None:
    chip = replace(home_server(), disks=(replace(home_server().disks[0], bus=Bus.MMC),))
    runner, answers = Answering(), list[DiskAnswer]()
    sweep(machine(chip, runner), answers.extend)
    assert runner.asked == []
    assert [answer.problem.code for answer in answers if answer.problem] == ["card"]


def test_a_test_of_a_disk_that_is_gone_is_refused() -> None:
    with pytest.raises(DiskUnknown):
        start_test(machine(home_server(), Answering()), "0xdead", SelfTest.SHORT)


def test_a_test_begins_on_the_disk_that_was_named() -> None:
    runner = Answering()
    start_test(machine(home_server(), runner), SATA_SSD, SelfTest.SHORT)
    assert runner.asked[-1] == f"smartctl -t short -j -d sat /dev/disk/by-id/wwn-{SATA_SSD_WWN}"
