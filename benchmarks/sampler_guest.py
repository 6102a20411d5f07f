"""The sampler on real OpenZFS for ten minutes: what it costs and what it stores, `zpool iostat` and its start included.

The lab guest's processor is emulated where there is no KVM. So a plain loop is timed in the guest and here, by the same
Python code, and the sampler's share of a core is given as it is in the guest and divided by that factor.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from typing import Final

from benchmarks.figure import Figure
from benchmarks.sampler import BUDGET_CORE, EVERY_S, sizes, stored_a_day
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.stored.documents import from_document
from tests.integration.agent import PYTHON, push_source, python_in_guest
from tests.lab.guest import Guest
from tests.lab.lab import Lab

LENGTH_S: Final = 10 * MINUTE_S
"""Each reading costs the same, so sixty of them say what an hour would."""

WRITER: Final = (
    "fio --name=load --directory=/tank --ioengine=psync --rw=randwrite --bs=4k --fsync=1 --filesize=16m --numjobs=2 "
    f"--rate_iops=5 --time_based --runtime={LENGTH_S + 300} --output-format=json"
)
LOOP: Final = (
    "import time; t = time.process_time(); sum(n * n for n in range(2_000_000)); print(time.process_time() - t)"
)
ANSWER: Final = "/root/samples.jsonl"


def figures() -> Iterator[Figure]:
    """Ten minutes at rest with a few synchronous writes, a reading every 10 s."""
    with Lab.start(name="sampler") as guest:
        push_source(guest)
        samples, costs_s = _record(guest)
        slower = slower_than_here(guest)
    typical_s = median(costs_s)
    emulated, real = sum(costs_s) / LENGTH_S, sum(costs_s) / LENGTH_S / slower
    yield Figure("readings", f"{LENGTH_S // EVERY_S}", f"{len(costs_s)}")
    yield Figure("processor time of one, median", "-", f"{typical_s * 1000:.0f} ms in the guest")
    yield Figure("the guest's processor", "-", f"{slower:.0f} times slower", "a loop in Python here")
    yield Figure("share of a core in the guest", "-", f"{emulated:.2%}")
    yield Figure("the same on a processor as here", f"<= {BUDGET_CORE:.1%}", f"{real:.2%}", met=real <= BUDGET_CORE)
    yield stored_a_day(*sizes(samples))


def _record(guest: Guest) -> tuple[list[Sample], list[float]]:
    """The pool's samples, and the seconds of processor time of each reading after the first."""
    sampler = python_in_guest("record_samples", str(LENGTH_S), str(EVERY_S))
    started = f"nohup {WRITER} > /dev/null 2>&1 < /dev/null & {sampler} > {ANSWER} 2> /dev/null < /dev/null"
    guest.run(started, timeout=LENGTH_S + 300)
    lines = [json.loads(line) for line in guest.read_bytes(ANSWER).decode().splitlines()][1:]
    readings = [from_document(Reading, line["reading"]) for line in lines]
    return [sample for reading in readings for sample in reading.samples], [line["process_s"] for line in lines]


def slower_than_here(guest: Guest) -> float:
    """How many times as long a loop takes in the guest as here, the best of three."""
    there = min(float(guest.run([PYTHON, "-c", LOOP]).stdout) for _ in range(3))
    return there / min(_loop() for _ in range(3))


def _loop() -> float:
    """The same loop here; the seconds of processor time."""
    return float(subprocess.run([sys.executable, "-c", LOOP], check=True, capture_output=True, text=True).stdout)
