"""A run from beginning to end on real devices: what was planned is there, and an undo brings every byte back."""

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import KIB
from nasadvisor.host.change.journal import RunExists
from tests.devices.bench import Bench, log_and_cache
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine


def noise(length: int) -> bytes:
    """Bytes that nothing recognises and that differ everywhere."""
    return b"".join(number.to_bytes(8, "little") for number in range(10**9, 10**9 + length // 8))


@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_a_mirrored_log_and_two_caches_come_and_go_and_every_byte_is_as_before(
    machine: LoopMachine, bench: Bench, sector_bytes: int
) -> None:
    ssds = [machine.add_disk(sector_bytes) for _ in range(2)]
    for ssd in ssds:  # what nobody recognises, where the table goes
        ssd.write(100 * KIB, noise(100 * KIB))
        ssd.write(ssd.size_bytes - 16 * KIB, noise(16 * KIB))
    before = [ssd.digest() for ssd in ssds]
    plan = bench.plan(log_and_cache(*ssds))
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, (run.refusals, run.steps)
    assert [len(log.leaves) for log in machine.tank.logs] == [2]
    assert len(machine.tank.caches) == 2
    inventory = bench.inventory()
    assert all(piece.is_on(*found) for piece in plan.slices if (found := inventory.partition(piece.partuuid)))
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, (run.refusals, run.undo_steps)
    assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]
    assert {finding.code for finding in run.findings} == {"ssds-as-before", "hole-stays"}


def test_slices_beside_a_mounted_partition_come_and_go_and_no_phantom_stays(machine: LoopMachine, bench: Bench) -> None:
    ssds = [machine.add_disk() for _ in range(2)]
    for ssd in ssds:
        ssd.write(0, noise(440))  # boot code
        machine.sgdisk(ssd, "--new=3:204800:+50M", "--change-name=3:data", "--attributes=3:set:2")
        machine.mkfs(ssd.part_node(3))
    with machine.mounted(ssds[0].part_node(3)):
        before = [ssd.digest() for ssd in ssds]
        plan = bench.plan(log_and_cache(*ssds, use_free_extents=True))
        run = bench.apply(plan)
        assert run.state is RunState.APPLIED, (run.refusals, run.steps)
        assert ssds[0].shown() == ssds[0].written()
        run = bench.undo(plan)
        assert ssds[0].shown() == ssds[0].written()
        assert run.state is RunState.UNDONE, (run.refusals, run.undo_steps)
        assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]
        assert {finding.code for finding in run.findings} == {"ssds-as-before", "hole-stays"}


def test_a_plan_runs_once(bench: Bench, ssds: tuple[LoopDisk, LoopDisk]) -> None:
    plan = bench.plan(log_and_cache(*ssds))
    assert bench.apply(plan).state is RunState.APPLIED
    with pytest.raises(RunExists):
        bench.apply(plan)
