"""Putting the real host together from its settings: the one place that knows all parts."""

import time
from dataclasses import replace
from datetime import UTC, datetime

from nasadvisor.host.candidate import CandidateHost
from nasadvisor.host.config import HostConfig
from nasadvisor.host.executor import Executor, MachineExecutor
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.leftovers import Leftovers
from nasadvisor.host.machine import Machine
from nasadvisor.host.measure import MeasureHost
from nasadvisor.host.platforms import extra_locks, tail_bytes
from nasadvisor.host.probe import ProbeHost
from nasadvisor.host.runs import RunHost
from nasadvisor.host.sample import Sampler


def machine_of(config: HostConfig) -> Machine:
    """The machine this process runs on."""
    return replace(Machine.real(config.pool_reader, config.node), tail_bytes=tail_bytes())


def run_host_of(config: HostConfig) -> RunHost:
    """Where this host's runs happen."""

    def executor(descriptors: tuple[int, ...]) -> Executor:
        machine = machine_of(config)
        return MachineExecutor(machine.with_runner(machine.runner.holding(descriptors)))

    locks = (config.lock_path, *extra_locks())
    return RunHost(config.node, config.journals, locks, executor, lambda: datetime.now(UTC))


def measure_host_of(config: HostConfig) -> MeasureHost:
    """Where this host's pools are probed and its SSDs tested."""
    machine = machine_of(config)
    leftovers = Leftovers(config.leftovers)
    lock = config.run_dir / "probe.lock"
    return MeasureHost(
        inventory=lambda: read_inventory(machine_of(config)),
        sampler=lambda: Sampler(machine_of(config)),
        probes=ProbeHost(machine.runner, leftovers, lock, config.run_dir, machine.clock),
        candidates=CandidateHost(run_host_of(config), machine.runner, leftovers),
        wait=time.sleep,
    )
