"""The sweep service: ask every disk for its health, many at a time, and leave sleeping ones asleep."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Lock
from typing import Final

from nasadvisor.domain.health.sweep import DiskAnswer, SelfTest, SweepOutcome, SweepReport
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.adapters.smartctl import ask, ask_id_ctrl, ask_ocp, start_self_test
from nasadvisor.host.errors import DiskUnknown, ToolMissing
from nasadvisor.host.storage.machine import Machine, read_inventory
from nasadvisor.stored.documents import pack

log = logging.getLogger(__name__)

AT_A_TIME: Final = 32
"""Disks asked at once: each smartctl waits for its own disk and costs next to nothing meanwhile."""

PART: Final = 16
"""Answers handed over at once."""

HandOver = Callable[[tuple[DiskAnswer, ...]], None]

_running: Final = Lock()


@dataclass(frozen=True)
class HealthServices:
    """What one machine does for the health of its disks: asks them all, makes one test itself, scrubs a pool."""

    sweep: Callable[[HandOver], SweepReport | None]
    start_test: Callable[[str, SelfTest], None]
    start_scrub: Callable[[str], None]


def sweep(machine: Machine, hand_over: HandOver) -> SweepReport | None:
    """Ask every disk; answers are handed over in parts as they come. None where a sweep is running already.

    Raises:
        HostError: the machine cannot be read, or smartctl is not installed.
    """
    if not _running.acquire(blocking=False):
        log.info("a sweep is running already")
        return None
    try:
        return _sweep(machine, hand_over)
    finally:
        _running.release()


def start_test(machine: Machine, disk_key: str, test: SelfTest) -> None:
    """Make one disk test itself.

    Raises:
        DiskUnknown: there is no such disk.
        SelfTestRefused: it did not take the test up.
        HostError: the machine cannot be read, or smartctl is not installed.
    """
    disk = read_inventory(machine).disk(disk_key)
    if disk is None:
        raise DiskUnknown(disk_key)
    reply = ask(machine.runner, disk)
    start_self_test(machine.runner, disk, test, reply.device_type)


def asked_disks(inventory: Inventory) -> tuple[Disk, ...]:
    """The disks to ask, each identity once: several paths to a disk give several devices."""
    return tuple({disk.key: disk for disk in reversed(inventory.disks)}.values())[::-1]


def _sweep(machine: Machine, hand_over: HandOver) -> SweepReport:
    inventory = read_inventory(machine)
    disks = asked_disks(inventory)
    started_at = machine.clock().isoformat(timespec="seconds")
    counts = dict.fromkeys(SweepOutcome, 0)
    part: list[DiskAnswer] = []
    with ThreadPoolExecutor(max(1, min(AT_A_TIME, len(disks))), thread_name_prefix="smart") as pool:
        asked = [pool.submit(_ask, machine, disk) for disk in disks]
        try:
            for future in as_completed(asked):
                answer = future.result()
                counts[answer.outcome] += 1
                part.append(answer)
                if len(part) == PART:
                    hand_over(tuple(part))
                    part.clear()
        except ToolMissing:
            pool.shutdown(cancel_futures=True)
            raise
    if part:
        hand_over(tuple(part))
    return SweepReport(
        node=inventory.host.node,
        started_at=started_at,
        ended_at=machine.clock().isoformat(timespec="seconds"),
        disk_keys=tuple(disk.key for disk in disks),
        read=counts[SweepOutcome.READ],
        asleep=counts[SweepOutcome.ASLEEP],
        unsupported=counts[SweepOutcome.UNSUPPORTED],
        failed=counts[SweepOutcome.FAILED],
    )


def _ask(machine: Machine, disk: Disk) -> DiskAnswer:
    began = time.monotonic()
    reply = ask(machine.runner, disk)
    is_read = reply.outcome is SweepOutcome.READ
    id_ctrl = ask_id_ctrl(machine.runner, disk) if is_read else ""
    ocp = ask_ocp(machine.runner, disk) if is_read else ""
    return DiskAnswer(
        disk_key=disk.key,
        identity=disk.identity,
        taken_at=machine.clock().isoformat(timespec="seconds"),
        outcome=reply.outcome,
        exit_status=reply.exit_status,
        device_type=reply.device_type,
        seconds=round(time.monotonic() - began, 3),
        problem=reply.problem,
        smartctl=pack(reply.text) if reply.text else "",
        id_ctrl=pack(id_ctrl) if id_ctrl else "",
        ocp=pack(ocp) if ocp else "",
    )
