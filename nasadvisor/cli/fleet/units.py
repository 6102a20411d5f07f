"""Which services of systemd run here, and which of those stand still."""

import re
from pathlib import Path
from time import monotonic
from typing import Final

from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError

ANSWER_S: Final = 10.0

STANDS_STILL_AFTER_S: Final = 60
"""A service says every 20 seconds that it is alive (`nasadvisor.runtime.alive.EVERY_S`)."""

RESTARTED_WITHIN_S: Final = 60

FIRST_WORD_US: Final = 10**6
"""Within this of a start, systemd has counted the start itself and no word (`service_reset_watchdog`, service.c)."""


def runs(root: Path, unit: str) -> bool:
    """Whether a service has processes, as its control group tells (cgroup-v2, `cgroup.events`), not systemd."""
    try:
        return "populated 1" in (root / "sys/fs/cgroup/system.slice" / unit / "cgroup.events").read_text()
    except OSError:
        return False


def silent_for(runner: Runner, unit: str) -> int:
    """For how many seconds a service has not told systemd that it is alive; 0 for one that does so in time.

    And for one that nobody waits for, that has said nothing yet since its start, and of which systemd tells nothing.
    """
    began_us, said_us = _shown(runner, unit, "ActiveEnterTimestampMonotonic", "WatchdogTimestampMonotonic")
    if said_us < began_us + FIRST_WORD_US:
        return 0
    seconds = int(monotonic() - said_us / 10**6)
    return seconds if seconds > STANDS_STILL_AFTER_S else 0


def restarts(runner: Runner, unit: str) -> tuple[int, int]:
    """How often systemd started a service again, and how many seconds ago; never, where that is a minute ago or more.

    A service that ends before it is up is started anew for ever, and has processes whenever one looks.
    """
    began_us, count = _shown(runner, unit, "InactiveExitTimestampMonotonic", "NRestarts")
    seconds = int(monotonic() - began_us / 10**6)
    return (count, seconds) if seconds < RESTARTED_WITHIN_S else (0, 0)


def _shown(runner: Runner, unit: str, *names: str) -> list[int]:
    """Numbers that systemd tells of a service (org.freedesktop.systemd1(5)); 0 for what it does not tell."""
    command = Command(Tool.SYSTEMCTL, ("show", f"--property={','.join(names)}", unit), timeout_s=ANSWER_S)
    try:
        told = runner.run(command).stdout
    except HostError:
        return [0] * len(names)
    found = [re.search(rf"^{name}=([0-9]+)$", told, re.MULTILINE) for name in names]
    return [int(each[1]) if each else 0 for each in found]
