"""SSDs that were cleared, and keep bytes that no tool recognises: they are used, and the old table area comes back."""

import random
from collections.abc import Callable

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.storage.gpt import standard_area
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.cuts import no_cut, tear_sgdisk
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed

Clear = Callable[[LoopDisk], None]


def cleared_by_wipefs(ssd: LoopDisk) -> None:
    """An MBR of which wipefs took the two bytes of its signature; disk signature and entries stay."""
    argv = ("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", "--label", "dos", str(ssd.node))
    tool(*argv, answer="4MiB,80MiB\n")
    tool("wipefs", "--all", "--force", str(ssd.node))


def with_a_disk_signature(ssd: LoopDisk) -> None:
    ssd.write(440, b"\xde\xad\xbe\xef\1\2")


def shredded(ssd: LoopDisk) -> None:
    """As after `shred` or with VeraCrypt: nothing tells the two apart."""
    chance = random.Random(4)
    for at in range(0, ssd.size_bytes, MIB):
        ssd.write(at, chance.randbytes(MIB))


def table_area(ssd: LoopDisk) -> tuple[bytes, bytes]:
    start, end = standard_area(ssd.size_bytes, ssd.sector_bytes)
    return ssd.read(0, start), ssd.read(end, ssd.size_bytes - end)


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("clear", [cleared_by_wipefs, with_a_disk_signature, shredded])
def test_a_cleared_ssd_is_used_and_its_first_and_last_sectors_come_back(
    machine: LoopMachine, bench: Bench, clear: Clear, sector_bytes: int
) -> None:
    ssd = machine.add_disk(sector_bytes)
    clear(ssd)
    machine.udev.examine()
    before = table_area(ssd)
    plan = bench.plan(log_and_cache(ssd))
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert "ssds-as-before" in codes(run), told(run)
    assert table_area(ssd) == before


@pytest.mark.parametrize("write", range(1, 6))
@pytest.mark.parametrize("clear", [cleared_by_wipefs, shredded])
def test_a_table_that_was_half_written_over_them_is_taken_back(
    machine: LoopMachine, bench: Bench, clear: Clear, write: int
) -> None:
    ssd = machine.add_disk()
    clear(ssd)
    machine.udev.examine()
    before = table_area(ssd)
    plan = bench.plan(log_and_cache(ssd))
    tear_sgdisk(machine, 1, write)
    with pytest.raises(Killed):
        bench.apply(plan)
    no_cut(machine)
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert table_area(ssd) == before
