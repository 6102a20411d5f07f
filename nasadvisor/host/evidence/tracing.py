"""Watching for a while which programs of this host wait for synchronous writes."""

from typing import Final

from nasadvisor.domain.evidence.tracing import WaitingPrograms, by_program
from nasadvisor.host.adapters.bpftrace import trace_waiting
from nasadvisor.host.storage.machine import Machine

WATCH_S: Final = 20


def watch_waiting(machine: Machine, seconds: int = WATCH_S) -> WaitingPrograms:
    """The programs that asked for synchronous writes in the next `seconds`; all pools of the host together.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: the kernel cannot be traced.
    """
    calls = trace_waiting(machine.runner, machine.roots.proc, seconds)
    return WaitingPrograms(machine.clock().isoformat(timespec="seconds"), seconds, by_program(calls))
