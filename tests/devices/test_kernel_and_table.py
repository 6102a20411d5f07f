"""The table on a disk against what the kernel knows, on real devices; each command that a sentence names helps."""

import re
import shlex

import pytest

from nasadvisor.domain.change.plan import Plan, PlanRefused, make_plan
from nasadvisor.domain.storage.inventory import HoldKind
from tests.devices.bench import Bench, log_and_cache
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine
from tests.devices.udev import _blkid
from tests.unit.domain.builders import ids_for


def holds_of(bench: Bench, ssd: LoopDisk) -> list[str]:
    """What the disk itself is held for: that nothing about it may be assumed."""
    (disk,) = [disk for disk in bench.inventory().disks if disk.key == ssd.key]
    assert {hold.kind for hold in disk.holds} <= {HoldKind.UNREADABLE}
    return [hold.what for hold in disk.holds]


def is_refused(bench: Bench, ssd: LoopDisk) -> bool:
    wish = log_and_cache(ssd, use_free_extents=True)
    made = make_plan(wish, bench.inventory(), ids_for(wish))
    return isinstance(made, PlanRefused) and {refusal.code for refusal in made.refusals} == {"disk-unreadable"}


def do_as_told(machine: LoopMachine, sentence: str) -> None:
    """Run the first command that a sentence names, as somebody does who reads it."""
    tool(*shlex.split(re.findall(r"`([^`]+)`", sentence)[0]))
    _blkid.cache_clear()  # no byte has changed, but where the kernel has the partition
    machine.udev.examine()


@pytest.fixture
def ssd(machine: LoopMachine) -> LoopDisk:
    """An SSD with a partition that is going to be mounted, and one beside it."""
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--new=3:204800:+50M", "--new=4:409600:+50M")
    machine.mkfs(ssd.part_node(3))
    return ssd


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--new=5:614400:+50M",), "the table on the disk lists partition 5, which the kernel does not know"),
        (("--delete=4",), "the kernel still has partition 4, which the table on the disk no longer lists"),
        (("--delete=4", "--new=4:614400:+50M"), "partition 4 lies elsewhere than the kernel has it"),
    ],
    ids=["missed", "phantom", "moved"],
)
def test_what_a_busy_disk_hides_from_the_kernel_is_held_until_it_is_told(
    machine: LoopMachine, bench: Bench, ssd: LoopDisk, change: tuple[str, ...], words: str
) -> None:
    with machine.mounted(ssd.part_node(3)):
        assert holds_of(bench, ssd) == []
        assert not is_refused(bench, ssd)
        machine.sgdisk(ssd, *change)
        assert ssd.shown() != ssd.written()
        (sentence,) = holds_of(bench, ssd)
        assert words in sentence
        assert is_refused(bench, ssd)
        do_as_told(machine, sentence)
        assert ssd.shown() == ssd.written()
        assert holds_of(bench, ssd) == []
        assert not is_refused(bench, ssd)


def test_a_table_that_udev_has_not_heard_of_is_no_blank_disk(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    image = machine.directory / "copied.img"
    with image.open("wb") as opened:
        opened.truncate(ssd.size_bytes)
    tool("sgdisk", "--new=1:2048:+50M", str(image))
    ssd.write(0, image.read_bytes()[: 1 << 20])  # as a copy made by somebody's program does, before udev looks
    (sentence,) = holds_of(bench, ssd)
    assert "do not know the partition table that is on it" in sentence
    assert is_refused(bench, ssd)
    do_as_told(machine, sentence)
    assert ssd.shown() == ssd.written() != frozenset()
    assert holds_of(bench, ssd) == []


@pytest.mark.parametrize("is_partitioned", [True, False])
def test_a_disk_with_a_filesystem_that_is_cleared_as_told_is_free(
    machine: LoopMachine, bench: Bench, is_partitioned: bool
) -> None:
    ssd = machine.add_disk()
    if is_partitioned:
        machine.sgdisk(ssd, "--new=1:204800:+50M", "--new=2:409600:+50M")
    nodes = [ssd.part_node(1), ssd.part_node(2)] if is_partitioned else [ssd.node]
    machine.mkfs(nodes[0])
    wish = log_and_cache(ssd)
    refused = make_plan(wish, bench.inventory(), ids_for(wish))
    assert isinstance(refused, PlanRefused)
    assert "clear its partitions, if any, and then the disk with `wipefs --all`" in str(refused)
    for node in dict.fromkeys([*nodes, ssd.node]):
        tool("wipefs", "--all", str(node))
    machine.udev.examine()
    assert isinstance(make_plan(wish, bench.inventory(), ids_for(wish)), Plan)
