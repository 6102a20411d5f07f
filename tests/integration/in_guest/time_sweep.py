"""Runs inside the lab guest: ask all disks for their health TIMES times, as the worker does that has long started.

Prints as JSON how many disks answered, the seconds of each round by the clock, and the median seconds that the slowest
disk's own smartctl takes.
"""

import json
import subprocess
import sys
import time
from statistics import median

from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.host.build import machine_of
from nasadvisor.host.config import load_config
from nasadvisor.host.health.sweep import asked_disks, sweep
from nasadvisor.host.storage.machine import read_inventory


def main(times: int) -> None:
    machine = machine_of(load_config())
    names = [disk.kernel_name for disk in asked_disks(read_inventory(machine))]
    rounds: list[float] = []
    for _ in range(times):
        answers: list[DiskAnswer] = []
        began = time.monotonic()
        sweep(machine, answers.extend)
        rounds.append(time.monotonic() - began)
    slowest = max(median(_alone_s(name) for _ in range(times)) for name in names)
    print(json.dumps({"disks": len(answers), "rounds_s": rounds, "slowest_s": slowest}))


def _alone_s(name: str) -> float:
    began = time.monotonic()
    subprocess.run(["smartctl", "--xall", "--json", f"/dev/{name}"], check=False, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


if __name__ == "__main__":
    main(int(sys.argv[1]))
