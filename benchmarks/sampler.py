"""What sampling costs: processor time and storage.

The counters are made up in the form that OpenZFS 2.3 prints: one pool of 24 disks in mirrors with a log, 500 datasets
of which five are written, over an hour of readings every 10 s. The cost of `zpool iostat` itself, a program of its own,
is not in it: it needs OpenZFS, and the lab measures it.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.host.evidence.sample import COLUMNS, Sampler
from nasadvisor.host.storage.machine import Machine
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.packing import NameTable, pack_activity, pack_latency
from tests.unit.domain.evidence.kstats import ZIL, FakeSystem, iostat_block, txgs
from tests.unit.fakes import FakeRunner

EVERY_S = 10
READINGS = 361
DISKS = 24
DATASETS = 500
BUSY = 5
BUDGET_CORE = 0.005
BUDGET_BYTES_A_DAY = 2 * 10**6
ROW_OVERHEAD_BYTES = 48
"""What SQLite adds to a row: its header, the key, the numbers beside the two blobs, and the entry of the index."""

MIRRORS = DISKS // 2
VDEVS = tuple(str(9_000_000_000_000_000_000 + number * 7_919_131_719_137) for number in range(MIRRORS + DISKS + 1))
LEAVES = VDEVS[MIRRORS:]
"""The disks in mirrors, and the log."""


class Load:
    """A pool at work."""

    def __init__(self, root: Path) -> None:
        self.random = random.Random(1)
        self.system = FakeSystem(root)
        self.now = 1_790_000_000
        self.zil = {
            number: dict.fromkeys((*ZIL, "writes", "nwritten", "reads", "nread"), 0) for number in range(DATASETS)
        }
        self.vdevs: dict[str, dict[int, int]] = {guid: {} for guid in ("tank", *VDEVS)}
        self.arc = dict.fromkeys(("demand_data_hits", "demand_data_misses", "mru_ghost_hits", "evict_l2_eligible"), 0)
        self.flush = 0
        self.txg = 1000
        names = "\n".join(f"tank/data{n}\tfilesystem\tstandard\tlatency\t131072\t-\tall\tall" for n in range(DATASETS))
        for number, counters in self.zil.items():
            self.system.dataset(54 + number, f"tank/data{number}", **counters)
        self.answers = {
            f"zfs list -H -p -r -t filesystem,volume -o {COLUMNS} tank": names,
            "zpool list -vHPpg tank": f"\t{LEAVES[-1]}\t4294967296\t1048576\n",
        }

    def move_on(self) -> None:
        self.now += EVERY_S
        for number, counters in list(self.zil.items())[:BUSY]:
            writes = self.random.randrange(2_000)
            for name in counters:
                counters[name] += writes * (4096 if "bytes" in name or "alloc" in name or name[0] == "n" else 1)
            self.system.dataset(54 + number, f"tank/data{number}", **counters)
        for counts in self.vdevs.values():
            for bucket in self.random.choices(range(14, 28), k=6):
                counts[bucket] = counts.get(bucket, 0) + self.random.randrange(400)
        blocks = [iostat_block(guid, counts, counts) for guid, counts in self.vdevs.items()]
        self.answers["zpool iostat -vgwHp"] = "".join(blocks)
        for name in self.arc:
            self.arc[name] += self.random.randrange(10**6)
        self.system.arc(**self.arc, **{f"other{n}": n for n in range(110)})
        self.txg += 2
        rows = [(self.txg - 99 + n, "C", self.random.randrange(10**9)) for n in range(100)]
        self.system.put(self.system.kstats / "tank/txgs", txgs(*rows))
        self.flush += self.random.randrange(900)
        for number in range(len(LEAVES)):
            self.system.disk(f"sd{number}", self.flush, self.flush * 9)

    def sampler(self) -> Sampler:
        nobody: Any = None
        leaves = tuple(Vdev(guid, "disk", f"sd{n}", "ONLINE", path=f"/dev/sd{n}") for n, guid in enumerate(LEAVES))
        pools: Any = type("Pools", (), {"read": lambda _: (_pool(leaves),)})()
        for number in range(len(LEAVES)):
            (self.system.roots.sys / f"class/block/sd{number}").mkdir(parents=True, exist_ok=True)
        runner = FakeRunner(self.answers)
        machine = Machine(
            runner, nobody, pools, nobody, lambda: datetime.fromtimestamp(self.now, UTC), self.system.roots
        )
        return Sampler(machine, lambda: float(self.now))


def _pool(leaves: tuple[Vdev, ...]) -> Pool:
    return Pool("tank", "1", "ONLINE", 12, 0, 0, False, False, "", False, (), data=leaves[:DISKS], logs=leaves[DISKS:])


def record() -> tuple[list[Sample], float]:
    """An hour of samples, and the seconds of processor time that they took."""
    with tempfile.TemporaryDirectory() as folder:
        load = Load(Path(folder))
        sampler = load.sampler()
        samples: list[Sample] = []
        spent = 0.0
        for _ in range(READINGS):
            load.move_on()
            started = time.process_time()
            reading = sampler.sample()
            json.dumps(to_document(reading))
            spent += time.process_time() - started
            samples.extend(reading.samples)
    return samples, spent


def size(samples: list[Sample]) -> float:
    """The mean bytes of a sample in the database."""
    names = NameTable([])
    total = sum(len(pack_activity(each, names)) + len(pack_latency(each, names)) for each in samples)
    return total / len(samples) + ROW_OVERHEAD_BYTES


def stored_a_day(raw: float, minute: float, hour: float) -> Figure:
    """What a pool needs in the database a day, from the mean bytes of a sample, a minute and an hour."""
    kept = minute * 1440 + hour * 24
    day = raw * 86400 / EVERY_S + kept
    budget = f"<= {BUDGET_BYTES_A_DAY / 10**6:g} MB"
    return Figure(
        "stored a day and pool",
        budget,
        f"{day / 10**6:.2f} MB, {kept / 10**6:.2f} after it",
        met=day <= BUDGET_BYTES_A_DAY,
    )


def sizes(samples: list[Sample]) -> tuple[float, float, float]:
    """The mean bytes of a sample, of a minute and of an hour that the samples are rolled up to."""
    minutes = [merge(samples[start : start + 6]) for start in range(0, len(samples), 6)]
    return size(samples), size(minutes), size([merge(samples)])


def figures() -> Iterator[Figure]:
    """Processor time and storage."""
    samples, spent = record()
    core = spent / READINGS / EVERY_S
    raw, minute, hour = sizes(samples)
    yield Figure("one reading", "-", f"{spent / READINGS * 1000:.1f} ms")
    yield Figure(f"sampler at {EVERY_S} s", f"<= {BUDGET_CORE:.1%} of a core", f"{core:.2%}", met=core <= BUDGET_CORE)
    yield Figure("a sample, a minute, an hour", "-", f"{raw:.0f}, {minute:.0f}, {hour:.0f} bytes")
    yield stored_a_day(raw, minute, hour)
