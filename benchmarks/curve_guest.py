"""What following reads costs on real OpenZFS, for the cache curve: our script in the kernel, bpftrace, and our model.

Each is read off where it is counted: the script's time within the reads themselves by the kernel, that of bpftrace and
of our process off the processes. How a kprobe is entered and left is in none of them. The lab guest's processor is
emulated, see `sampler_guest`.
"""

import json
from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure
from benchmarks.sampler_guest import slower_than_here
from nasadvisor.domain.units import MINUTE_S
from tests.integration.agent import push_source, python_in_guest
from tests.lab.guest import Guest
from tests.lab.lab import Lab

BUDGET_CORE: Final = 0.01
MINUTES: Final = 5
READS_PER_S: Final = 500
BLOCK: Final = "32k"
SET_MIB: Final = 384
LOAD: Final = (
    f"fio --name=set --directory=/tank/set --filesize={SET_MIB}m --bs={BLOCK} --ioengine=psync --rw=randread "
    f"--invalidate=0 --randrepeat=0 --norandommap --time_based --rate_iops={READS_PER_S} --output-format=json"
)


def figures() -> Iterator[Figure]:
    """The share of a core while 500 blocks a second are asked for."""
    with Lab.start(name="curve") as guest:
        cost = _followed(guest)
        slower = slower_than_here(guest)
    watched_s = cost["watched_s"]
    shares = {
        "the script, within the reads themselves": cost["in_reads_s"] / watched_s,
        "bpftrace": cost["bpftrace_s"] / watched_s,
        "the model, once a part is over": cost["model_s"] / cost["part_s"],
    }
    emulated = sum(shares.values())
    each_us = cost["in_reads_s"] / cost["reads"] * 1e6
    yield Figure("reads of the guest meanwhile", "-", f"{cost['reads'] / watched_s:.0f}/s")
    yield Figure("the script, a read", "-", f"{each_us:.1f} µs in the guest")
    yield Figure("the guest's processor", "-", f"{slower:.0f} times slower", "a loop in Python here")
    for name, share in shares.items():
        yield Figure(name, "-", f"{share:.2%} of a core in the guest", f"{share / slower:.3%} as here")
    real = emulated / slower
    yield Figure("all of it, on a processor as here", f"<= {BUDGET_CORE:.0%}", f"{real:.2%}", met=real <= BUDGET_CORE)


def _followed(guest: Guest) -> dict[str, float]:
    """What the last part of a trace cost (`in_guest/follow_reads.py`) while a set is read."""
    push_source(guest)
    guest.run(f"zfs create -o recordsize={BLOCK} -o compression=off -o atime=off tank/set")
    guest.run(f"{LOAD} --create_only=1 > /dev/null && zpool sync", timeout=600)
    runtime_s = MINUTES * MINUTE_S + 600
    guest.run(f"nohup {LOAD} --runtime={runtime_s} > /dev/null 2>&1 < /dev/null &")
    said = guest.run(python_in_guest("follow_reads", "tank", str(MINUTES)), timeout=runtime_s)
    return {name: float(value) for name, value in json.loads(said.stdout).items()}
