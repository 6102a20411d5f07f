"""What following reads costs on real OpenZFS, for the cache curve: bpftrace in the kernel and beside it, and our model.

Two traces of different lengths are made of a pool that is read at random, and their costs taken from each other: what
starts is in both. The lab guest's processor is emulated, see `sampler_guest`.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure
from benchmarks.sampler_guest import slower_than_here
from nasadvisor.domain.units import MINUTE_S
from tests.integration.agent import PYTHON, SOURCE, push_source
from tests.lab.guest import Guest
from tests.lab.lab import Lab

BUDGET_CORE: Final = 0.01
SHORT_MINUTES, LONG_MINUTES = 1, 4
READS_PER_S: Final = 500
BLOCK: Final = "32k"
SET_MIB: Final = 384
PLAIN_S: Final = 60
LOAD: Final = (
    f"fio --name=set --directory=/tank/set --filesize={SET_MIB}m --bs={BLOCK} --ioengine=psync --rw=randread "
    f"--invalidate=0 --randrepeat=0 --norandommap --time_based --rate_iops={READS_PER_S} --output-format=json"
)


def figures() -> Iterator[Figure]:
    """The share of a core while 500 blocks a second are read."""
    with Lab.start(name="curve") as guest:
        push_source(guest)
        guest.run(f"zfs create -o recordsize={BLOCK} -o compression=off -o atime=off tank/set")
        guest.run(f"{LOAD} --create_only=1 > /dev/null && zpool sync", timeout=600)
        plain_us = _microseconds_a_read(guest.run(f"{LOAD} --runtime={PLAIN_S}", timeout=600).stdout)
        length_s = (SHORT_MINUTES + LONG_MINUTES) * MINUTE_S + 600
        guest.run(f"nohup {LOAD} --runtime={length_s} > /root/load.json 2>&1 < /dev/null & echo $! > /root/load.pid")
        short_s, long_s = _cost_s(guest, SHORT_MINUTES), _cost_s(guest, LONG_MINUTES)
        guest.run("pid=$(cat /root/load.pid); kill -TERM $pid; while kill -0 $pid 2> /dev/null; do sleep 0.2; done")
        followed_us = _microseconds_a_read(guest.run("cat /root/load.json").stdout)
        slower = slower_than_here(guest)
    emulated = (long_s - short_s) / ((LONG_MINUTES - SHORT_MINUTES) * MINUTE_S)
    real = emulated / slower
    yield Figure("processor time of a read, not followed and followed", "-", f"{plain_us:.0f}, {followed_us:.0f} µs")
    yield Figure("the guest's processor", "-", f"{slower:.0f} times slower", "a loop in Python here")
    yield Figure(f"bpftrace and the model at {READS_PER_S} reads/s, in the guest", "-", f"{emulated:.1%} of a core")
    yield Figure("the same on a processor as here", f"<= {BUDGET_CORE:.0%}", f"{real:.2%}", met=real <= BUDGET_CORE)


def _cost_s(guest: Guest, minutes: int) -> float:
    """Seconds of processors for a trace, of bpftrace too, by what bash says of all that it has waited for."""
    trace = f"cd {SOURCE} && {PYTHON} -m nasadvisor.cli curve tank --minutes {minutes} --json"
    said = guest.run(["bash", "-c", f"({trace}) > /dev/null; times"], timeout=minutes * MINUTE_S + 600).stdout
    of_children = said.splitlines()[-1]
    return sum(int(whole) * MINUTE_S + float(part) for whole, part in re.findall(r"(\d+)m([\d.]+)s", of_children))


def _microseconds_a_read(answer: str) -> float:
    """Of the reader itself, in user and system; what a probe in the kernel takes is in that."""
    document, _ = json.JSONDecoder().raw_decode(answer, answer.index("{"))
    job = document["jobs"][0]
    return float((job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1e3 / job["read"]["total_ios"])
