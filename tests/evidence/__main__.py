"""Verdicts against the truth: `make evidence`. Boots a guest with slow disks; about two hours under emulation.

The machine must do nothing else meanwhile, not even at the lowest priority: beside tests that ran at that, logs that
help were measured to do nothing.

For each workload: the verdict while it runs, then the device really added by a plan of the product, then the gain that
was measured; at the end the device is taken back. Writes the tables of docs/explanation/evidence.md; exit code 1 if a
verdict contradicts its measurement.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.prediction import Range
from nasadvisor.domain.units import DAY_S, GIB
from nasadvisor.stored.documents import from_document
from tests.evidence import picture
from tests.evidence.judging import (
    CURVE,
    WAITING,
    Outcome,
    Predicted,
    Share,
    outcome_row,
    part_gone,
    tables,
    with_tables,
)
from tests.evidence.workloads import (
    ARC_BYTES,
    CACHE_WORKLOADS,
    ELSEWHERE,
    LOG_WORKLOADS,
    Workload,
)
from tests.integration.agent import PYTHON, SOURCE, Agent, push_source
from tests.integration.arc import counts_of_caches, feed_and_limit, run_short_of_memory, set_parameters
from tests.integration.wishes import keys_of, pool_of
from tests.lab.guest import Guest
from tests.lab.lab import Lab
from tests.lab.shell import CommandError

PAGE = Path(__file__).parents[2] / "docs/explanation/evidence.md"
PLAIN_S = 15
WATCH_S = 24
EVERY_S = 3
MARGIN_S = 300
"""How long Python may take to start and to read the host before `advise` begins to watch."""

WARM_S = 25
WARM_WITH_CACHE_S = 120
CACHE_BYTES = 4 * GIB
"""On each of two SSDs."""

FEED_BYTES = 64 << 20
"""A cache that is fed as fast as these disks are read (l2arc_write_max), so that it is warm in two minutes."""

CURVE_MINUTES = 1
PROBE_S = 10
PREDICTIONS = "predictions"
CANDIDATES = ("sata0", "nvme0")
"""The last one is what the verdicts on `tank` compare with; the logs are made of it and its twin."""

NS = 1_000_000_000
MAPPED = "/dev/mapper/"
LATE_MS = 200
INSTANT = ("/dev/nullb0", "/dev/nullb1")
END_LOAD = "pid=$(cat /root/load.pid); kill -TERM $pid; while kill -0 $pid 2> /dev/null; do sleep 0.2; done"
"""fio ends its jobs in order when it is told to."""


def main() -> int:
    """All parts, one guest. With names of workloads, or "predictions": these alone, and the page stays as it is."""
    started, names = time.monotonic(), set(sys.argv[1:])
    outcomes: list[Outcome] = []
    predicted: list[Predicted] = []
    try:
        measure(outcomes, predicted, names)
    finally:  # what an hour has measured is not lost to its last minute
        text = tables(sorted(outcomes, key=lambda each: each.device != "log"), predicted)
        print(text)
        print(f"\n{(time.monotonic() - started) / 60:.0f} minutes")
    if not names:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 1 if any(each.contradicts for each in outcomes) else 0


def measure(outcomes: list[Outcome], predicted: list[Predicted], names: set[str]) -> None:
    """Add what each part found, as soon as it is through; of no names, all parts."""

    def wanted(*workloads: Workload) -> tuple[Workload, ...]:
        return tuple(each for each in workloads if not names or each.name in names)

    with Lab.start("shelf", name="evidence") as guest:
        push_source(guest)
        with Agent(guest) as agent:
            with small_arc(guest):
                for each in wanted(*CACHE_WORKLOADS):
                    with pool(guest, each.layout):
                        outcomes += cache_outcomes(agent, each)
            for name in CANDIDATES if not names or PREDICTIONS in names else ():
                predicted += predictions(agent, name)
            for each in wanted(*ELSEWHERE):
                with pool(guest, each.layout):
                    outcomes += log_outcomes(agent, (each,))
            outcomes += log_outcomes(agent, wanted(*LOG_WORKLOADS))
            if not names:
                picture.record(agent, LOG_WORKLOADS[1])


@dataclass(frozen=True)
class Advised:
    """What was said while a workload ran; the row of the device in the table of options, and the curve, are as JSON."""

    answer: str
    rule: str
    row: dict[str, Any]
    curve: dict[str, Any] | None = None

    def table(self, measured: float) -> Share | None:
        """What the table said of a share of the waiting, beside what went."""
        relief = self.row.get("relief")
        return Share(relief["low"], relief["high"], max(measured, 0.0), WAITING) if relief else None

    def served(self, measured: float) -> Share | None:
        """What the curve said of both caches together, beside what they served."""
        if self.curve is None or not self.curve["knee_bytes"]:
            return None
        curve = from_document(CacheCurve, {each.name: self.curve[each.name] for each in fields(CacheCurve)})
        point = min(curve.points, key=lambda each: abs(each.size_bytes - 2 * CACHE_BYTES))
        return Share(point.low, None if curve.is_least_at(point) else point.high, measured, CURVE)


@dataclass(frozen=True)
class Measured:
    """Operations a second, and what each of them waited, in nanoseconds."""

    per_s: float
    wait_ns: float


def log_outcomes(agent: Agent, workloads: tuple[Workload, ...]) -> list[Outcome]:
    """All of them without a log, then all of them with a mirrored one, then it is taken back."""
    if not workloads:
        return []
    guest = agent.guest
    ready = [workload for workload in workloads if prepared(guest, workload)]
    before = {workload.name: (advised(guest, workload, "log"), measured(guest, workload)) for workload in ready}
    pool = pool_of(agent, workloads[0].pool)
    with applied(agent, PlanRequest(pool.guid, keys_of(agent, "nvme0", "nvme1"), 2 * GIB)):
        after = {workload.name: measured_warm(guest, workload) for workload in ready}
    said = [workload for workload in ready if before[workload.name][0].row.get("relief")]
    with log_without_wait(guest, pool.name):
        least = {workload.name: measured_warm(guest, workload) for workload in said}
    forget(guest, ready)
    return [
        log_outcome(workload, *before[workload.name], after[workload.name], least.get(workload.name))
        for workload in ready
    ]


def log_outcome(
    workload: Workload, advised: Advised, before: Measured, after: Measured, least: Measured | None
) -> Outcome:
    """The row of the table. `least` is the wait with a log that takes no time: what no device has a part in."""
    went = part_gone(before.wait_ns, after.wait_ns, least.wait_ns) if least else 0.0
    return outcome("log", workload, advised, before, after, advised.table(went))


@contextmanager
def log_without_wait(guest: Guest, pool: str) -> Iterator[None]:
    """A mirrored log of devices that take no time (null_blk). By hand, for the product makes none of such."""
    guest.run("modprobe null_blk nr_devices=2 gb=1 bs=4096 memory_backed=1")
    guest.run(f"zpool add -f {pool} log mirror {' '.join(INSTANT)}")
    try:
        yield
    finally:
        [mirror] = guest.run(f"zpool list -vHP {pool} | grep -B1 {INSTANT[0]} | cut -f2 | head -n 1").stdout.split()
        guest.run(f"zpool remove {pool} {mirror} && rmmod null_blk")


@contextmanager
def small_arc(guest: Guest) -> Iterator[None]:
    """An ARC that sets on small disks are larger than, and a quick feed; then as they were."""
    before = feed_and_limit(guest)
    set_parameters(guest, {"zfs_arc_max": ARC_BYTES, "l2arc_write_max": FEED_BYTES})
    run_short_of_memory(guest)
    try:
        yield
    finally:
        set_parameters(guest, before)


def cache_outcomes(agent: Agent, workload: Workload) -> list[Outcome]:
    """Alone, for all share the ARC: what is said once the ARC is full, the gain once the cache is warm."""
    guest = agent.guest
    if not prepared(guest, workload):
        return []
    measured(guest, workload, WARM_S)
    said = advised(guest, workload, "cache")
    before = measured(guest, workload)
    pool, keys = pool_of(agent, workload.pool).guid, keys_of(agent, "nvme0", "nvme1")
    with applied(agent, PlanRequest(pool, (), 0, keys, CACHE_BYTES)):
        measured(guest, workload, WARM_WITH_CACHE_S)
        counted = counts_of_caches(guest)
        after = measured(guest, workload)
        hits, misses = (now - then for now, then in zip(counts_of_caches(guest), counted, strict=True))
    forget(guest, [workload])
    served = hits / (hits + misses) if hits + misses else 0.0
    return [outcome("cache", workload, said, before, after, said.table(served), said.served(served))]


def predictions(agent: Agent, name: str) -> list[Predicted]:
    """Probe the pool, test the SSD, predict; then add a single log on that SSD and probe again."""
    guest = agent.guest
    serial = next(disk.serial for disk in guest.scenario.disks if disk.name == name)
    args = ("probe", "tank", "--seconds", str(PROBE_S), "--yes")
    told = product(guest, *args, "--disk", serial, "--size", "2")
    pool = pool_of(agent).guid
    with applied(agent, PlanRequest(pool, keys_of(agent, name), 2 * GIB)):
        later = product(guest, *args)
    print(json.dumps({"candidate": name, "before": told, "after": later}), file=sys.stderr)
    rates = {(each["block_bytes"], each["writers"]): each["operations_per_s"] for each in later["probe"]["figures"]}
    return [
        Predicted(
            what=f"{each['block_bytes'] // 1024} KiB, {each['writers']} writer(s), log on {name}",
            before_per_s=each["before_per_s"],
            expected=Range(**each["after_per_s"]),
            measured_per_s=rates[each["block_bytes"], each["writers"]],
        )
        for each in told["predictions"]
    ]


@contextmanager
def applied(agent: Agent, request: PlanRequest) -> Iterator[None]:
    """The product's own plan, applied for a time and then undone."""
    run = agent.apply(agent.plan(request))
    if run.state is not RunState.APPLIED:
        raise RuntimeError([step.note for step in run.steps])
    try:
        yield
    finally:
        undone = agent.undo(run.id)
        if undone.state is not RunState.UNDONE:
            raise RuntimeError([step.note for step in undone.undo_steps])


@contextmanager
def pool(guest: Guest, layout: str) -> Iterator[None]:
    """A pool beside that of the lab: what `zpool create` is told, with the lab's names of disks; "" for none.

    `crypt:NAME` is the disk below dm-crypt, `delay:NAME` the disk below a device that writes late. Afterwards
    nothing is recognised on any of them; below dm-crypt bytes stay that look like chance.
    """
    if not layout:
        yield
        return
    known = {name: disk.by_id for name, disk in guest.disks().items()}
    words = [_device(guest, word, known) for word in layout.split()]
    guest.run(["zpool", "create", "-f", "-o", "ashift=12", *words])
    try:
        yield
    finally:
        guest.run(["zpool", "destroy", words[0]])
        for word in words:
            if word.startswith(MAPPED):
                guest.run(f"dd if=/dev/zero of={word} bs=1M count=8; dmsetup remove --retry {word}")
        for disk in filter(None, (known.get(word.rpartition(":")[2]) for word in layout.split())):
            guest.run(f"zpool labelclear -f {disk}-part1; wipefs -af {disk}; sgdisk --zap-all {disk}; udevadm settle")


def _device(guest: Guest, word: str, known: dict[str, str]) -> str:
    """The path of a word of a layout, or the word itself; what lies above a disk is made first."""
    kind, _, name = word.rpartition(":")
    if not kind:
        return known.get(word, word)
    disk = known[name]
    if kind == "crypt":
        key = "--cipher aes-xts-plain64 --key-size 256 --key-file /dev/urandom"
        guest.run(f"cryptsetup open --type plain {key} {disk} {name}")
    else:
        sectors = f"$(blockdev --getsz {disk})"
        guest.run(
            f'modprobe dm-delay && dmsetup create {name} --table "0 {sectors} delay {disk} 0 0 {disk} 0 {LATE_MS}"'
        )
    return f"{MAPPED}{name}"


def prepared(guest: Guest, workload: Workload) -> bool:
    """Make its place; False, and said so, if the guest cannot (no NFS server, for one)."""
    try:
        guest.run(workload.preparation, timeout=600)
    except CommandError as error:
        print(f"{workload.name} is left out: {error}", file=sys.stderr)
        return False
    return True


def forget(guest: Guest, workloads: list[Workload]) -> None:
    """Remove its place."""
    for workload in workloads:
        if workload.afterwards:
            guest.run(workload.afterwards, check=False)
        guest.run(f"zfs destroy {workload.pool}/{workload.name}", timeout=300, check=False)


def advised(guest: Guest, workload: Workload, device: str) -> Advised:
    """What is said while the workload runs; for a cache also what its curve says."""
    seconds = WATCH_S + MARGIN_S + (CURVE_MINUTES * 60 + MARGIN_S if device == "cache" else 0)
    guest.run(f"nohup {workload.command(seconds)} > /root/load.json 2>&1 < /dev/null & echo $! > /root/load.pid")
    told = product(guest, "advise", workload.pool, "--seconds", str(WATCH_S), "--every", str(EVERY_S))
    curve = product(guest, "curve", workload.pool, "--minutes", str(CURVE_MINUTES)) if device == "cache" else None
    guest.run(END_LOAD, check=False)
    print(json.dumps({"workload": workload.name, **told, "curve": curve}), file=sys.stderr)
    verdict = next(each for each in told["verdicts"] if each["device"] == device)
    row: dict[str, Any] = next((each for each in told["options"]["rows"] if each["option"] == device), {})
    return Advised(verdict["answer"], verdict["rule"]["code"], row, curve)


def measured(guest: Guest, workload: Workload, seconds: int = PLAIN_S) -> Measured:
    """With nothing else going on. What calls fsync waits in that, and hardly in what it wrote before."""
    answer = guest.run(workload.command(seconds), timeout=seconds + 300).stdout
    document: dict[str, Any] = json.loads(answer[answer.index("{") :])
    job = document["jobs"][0]
    synced = job["sync"]
    wait = synced["lat_ns"] if synced["total_ios"] else job[workload.direction]["clat_ns"]
    return Measured(float(job[workload.direction]["iops"]), float(wait["mean"]))


def measured_warm(guest: Guest, workload: Workload) -> Measured:
    """The same, after other workloads have driven its files out of the ARC: else each write waits for a read first."""
    guest.run(workload.rereading, timeout=300)
    return measured(guest, workload)


def product(guest: Guest, *args: str) -> dict[str, Any]:
    """The JSON answer of the product's command line, from the source that was pushed."""
    command = f"cd {SOURCE} && exec {PYTHON} -m nasadvisor.cli {' '.join(args)} --json"
    answer: dict[str, Any] = json.loads(guest.run(command, timeout=900).stdout)
    return answer


def outcome(
    device: str,
    workload: Workload,
    said: Advised,
    before: Measured,
    after: Measured,
    table: Share | None,
    curve: Share | None = None,
) -> Outcome:
    """The row of the table."""
    rates, waited_s = (before.per_s, after.per_s), before.per_s * before.wait_ns / NS * DAY_S
    found = Outcome(device, workload.what, workload.expected, said.answer, said.rule, *rates, table, curve, waited_s)
    print(outcome_row(found), file=sys.stderr)
    return found


if __name__ == "__main__":
    sys.exit(main())
