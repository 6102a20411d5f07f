"""Putting the real host together from its settings: the one place that knows all parts."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.adapters.procfs import read_moment
from nasadvisor.host.change.executor import MachineExecutor
from nasadvisor.host.change.gate import Executor
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import HostConfig
from nasadvisor.host.evidence.measuring.candidate import CandidateHost
from nasadvisor.host.evidence.measuring.measure import MeasureHost
from nasadvisor.host.evidence.measuring.probe import ProbeHost
from nasadvisor.host.evidence.measuring.records import Leftovers
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.fleet.platforms import HostPlatforms, TaskLog, platforms_of
from nasadvisor.host.health.scrub import start_scrub
from nasadvisor.host.health.sweep import HealthServices, start_test, sweep
from nasadvisor.host.storage.machine import Machine, read_inventory


def machine_of(config: HostConfig) -> Machine:
    """The machine this process runs on."""
    platform = this_platform()
    machine = Machine.real(config.pool_reader, config.node)
    return replace(machine, tail_bytes=platform.tail_bytes, unsafe_volumes=platform.unsafe_volumes)


@cache
def this_platform() -> HostPlatforms:
    """The platforms that this machine is of; that does not change while a process lives."""
    return platforms_of(HostRunner())


def run_host_of(config: HostConfig) -> RunHost:
    """Where this host's runs happen."""

    def executor(descriptors: tuple[int, ...]) -> Executor:
        machine = machine_of(config)
        return MachineExecutor(machine.with_runner(machine.runner.holding(descriptors)))

    return RunHost(
        node=config.node,
        journals=config.journals,
        locks=(config.lock_path, *this_platform().locks),
        executor=executor,
        clock=lambda: datetime.now(UTC),
        vetoes=this_platform().vetoes,
        clocks=read_moment,
        watcher=lambda goal, by: TaskLog(config.state_dir / "tasks", goal, by, this_platform().log_task),
    )


def measure_host_of(config: HostConfig) -> MeasureHost:
    """Where this host's pools are probed and its SSDs tested."""
    machine = machine_of(config)
    leftovers = Leftovers(config.leftovers)
    return MeasureHost(
        inventory=lambda: read_inventory(machine_of(config)),
        sampler=lambda: Sampler(machine_of(config)),
        probes=ProbeHost(machine.runner, leftovers, config.probe_lock_path, config.run_dir, machine.clock),
        candidates=CandidateHost(run_host_of(config), machine.runner, leftovers, config.run_dir),
        wait=time.sleep,
        results=config.measurements,
        commits=config.commits,
    )


def health_of(config: HostConfig) -> HealthServices:
    """How this host's disks are asked for their health."""
    return HealthServices(
        start_scrub=lambda guid: start_scrub(
            lambda: read_inventory(machine_of(config)),
            machine_of(config).runner,
            run_host_of(config).locks,
            guid,
        ),
        sweep=lambda hand_over: sweep(machine_of(config), hand_over),
        start_test=lambda key, test: start_test(machine_of(config), key, test),
    )
