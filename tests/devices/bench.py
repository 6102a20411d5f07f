"""Runs of the product on a machine of loop disks, which can be cut off anywhere."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from uuid import uuid4

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Command
from nasadvisor.host.change.executor import MachineExecutor
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, show_run, undo_run
from nasadvisor.host.storage.machine import read_inventory
from tests.devices.loops import LoopDisk
from tests.devices.machine import TANK, LoopMachine
from tests.devices.runner import Hook, Killed

LOG_BYTES = 64 * MIB
CACHE_BYTES = 80 * MIB


def nobody(_run: Run) -> None:
    """Watches nothing."""


@dataclass
class Bench:
    """A run host over the real executor."""

    machine: LoopMachine
    root: Path

    @property
    def host(self) -> RunHost:
        machine = self.machine.machine
        return RunHost(
            node="nas",
            journals=self.root / "runs",
            locks=(self.root / "host.lock",),
            executor=lambda held: MachineExecutor(machine.with_runner(machine.runner.holding(held))),
            clock=lambda: datetime.now(UTC),
        )

    def inventory(self) -> Inventory:
        return read_inventory(self.machine.machine)

    def plan(self, wish: PlanRequest, plan_id: str = "run-1") -> Plan:
        uuids = tuple(str(uuid4()) for _ in range(PlanIds.uuids_needed(wish)))
        plan = make_plan(wish, self.inventory(), PlanIds(plan_id, "2026-08-25T20:00:00+00:00", uuids))
        assert isinstance(plan, Plan), plan
        return plan

    def apply(self, plan: Plan, observe: Observer = nobody) -> Run:
        return apply_plan(self.host, plan, "root", observe)

    def finish(self, plan: Plan, observe: Observer = nobody) -> Run:
        return finish_run(self.host, plan.id, "root", observe)

    def undo(self, plan: Plan, observe: Observer = nobody) -> Run:
        return undo_run(self.host, plan.id, "root", observe)

    def show(self, plan: Plan) -> Run:
        return show_run(self.host, plan.id)


def log_and_cache(*disks: LoopDisk, use_free_extents: bool = False) -> PlanRequest:
    """A log, mirrored if there is more than one SSD, and a cache beside it."""
    keys = tuple(disk.key for disk in disks)
    return PlanRequest(str(TANK), keys, LOG_BYTES, keys, CACHE_BYTES, use_free_extents=use_free_extents)


def log_alone(*disks: LoopDisk) -> PlanRequest:
    """A log and no cache."""
    return PlanRequest(str(TANK), tuple(disk.key for disk in disks), LOG_BYTES)


def codes(run: Run) -> set[str]:
    """The codes of the findings and refusals of a run's last stretch."""
    return {finding.code for finding in run.findings} | {refusal.code for refusal in run.refusals}


def told(run: Run) -> str:
    """Every sentence of a run, for the message of a test that failed."""
    notes = [step.note for step in (*run.steps, *run.undo_steps) if step.note]
    return "; ".join([run.state, *map(str, (*run.refusals, *run.findings, *notes))])


def killer(after_records: int) -> Observer:
    """An observer that ends everything once so many records are durable."""

    def observe(run: Run) -> None:
        if run.seq >= after_records:
            raise Killed

    return observe


def kill_at(number: int, start: str = "") -> Hook:
    """A hook that ends everything at the so-manieth changing command, of those that begin so."""
    left = count(1)

    def hook(command: Command) -> None:
        if command.mutates and str(command).startswith(start) and next(left) == number:
            raise Killed

    return hook


def kill_after(start: str) -> Hook:
    """A hook that ends everything at the first changing command that begins so."""
    return kill_at(1, start)
