"""Verdicts against the truth: `make evidence`. Boots a guest with slow disks; about 40 minutes under emulation.

For each workload: the verdict while it runs, then the device really added by a plan of the product, then the gain that
was measured; at the end the device is taken back. Writes the tables of docs/evidence.md; exit code 1 if a verdict
contradicts its measurement.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.evidence.measuring.prediction import Range
from nasadvisor.domain.units import GIB
from tests.evidence import picture
from tests.evidence.judging import Outcome, Predicted, tables, with_tables
from tests.evidence.workloads import ARC_BYTES, CACHE_WORKLOADS, EXPORTS, FLASH_WORKLOAD, LOG_WORKLOADS, Workload
from tests.integration.agent import PYTHON, SOURCE, Agent, push_source
from tests.integration.wishes import keys_of, pool_of
from tests.lab.guest import Guest
from tests.lab.lab import Lab
from tests.lab.shell import CommandError

PAGE = Path(__file__).parents[2] / "docs/evidence.md"
PLAIN_S = 15
WATCH_S = 24
EVERY_S = 3
MARGIN_S = 300
"""How long Python may take to start and to read the host before `advise` begins to watch."""

WARM_S = 25
WARM_WITH_CACHE_S = 60
PROBE_S = 10
CANDIDATES = ("nvme0", "sata0")
END_LOAD = "pid=$(cat /root/load.pid); kill -TERM $pid; while kill -0 $pid 2> /dev/null; do sleep 0.2; done"
"""fio ends its jobs in order when it is told to."""


def main() -> int:
    """All parts, one guest."""
    started = time.monotonic()
    outcomes: list[Outcome] = []
    predicted: list[Predicted] = []
    try:
        measure(outcomes, predicted)
    finally:  # what an hour has measured is not lost to its last minute
        text = tables(sorted(outcomes, key=lambda each: each.device != "log"), predicted)
        print(text)
        print(f"\n{(time.monotonic() - started) / 60:.0f} minutes")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0 if all(each.agrees for each in outcomes) else 1


def measure(outcomes: list[Outcome], predicted: list[Predicted]) -> None:
    """Add what each part found, as soon as it is through."""
    with Lab.start("slow", name="evidence") as guest:
        push_source(guest)
        with Agent(guest) as agent:
            outcomes += log_outcomes(agent, LOG_WORKLOADS)
            picture.record(agent, LOG_WORKLOADS[1])
            outcomes += cache_outcomes(agent)
            for name in CANDIDATES:
                predicted += predictions(agent, name)
            with flash_pool(guest):
                outcomes += log_outcomes(agent, (FLASH_WORKLOAD,))


def log_outcomes(agent: Agent, workloads: tuple[Workload, ...]) -> list[Outcome]:
    """All of them without a log, then all of them with a mirrored one, then it is taken back."""
    guest = agent.guest
    ready = [workload for workload in workloads if prepared(guest, workload)]
    before = {workload.name: (advised(guest, workload, "log"), measured(guest, workload)) for workload in ready}
    pool = pool_of(agent, workloads[0].pool).guid
    keys = keys_of(agent, "nvme0", "nvme1")
    with applied(agent, PlanRequest(pool, keys, 2 * GIB)):
        after = {workload.name: measured_warm(guest, workload) for workload in ready}
    forget(guest, ready)
    return [outcome("log", workload, *before[workload.name], after[workload.name]) for workload in ready]


def cache_outcomes(agent: Agent) -> list[Outcome]:
    """Each alone, for they share the ARC: the verdict once the ARC is full, the gain once the cache is warm."""
    guest = agent.guest
    guest.run(f"echo {ARC_BYTES} > /sys/module/zfs/parameters/zfs_arc_max")
    pool, keys = pool_of(agent).guid, keys_of(agent, "nvme0", "nvme1")
    found = []
    for workload in CACHE_WORKLOADS:
        if not prepared(guest, workload):
            continue
        measured(guest, workload, WARM_S)
        verdict = advised(guest, workload, "cache")
        before = measured(guest, workload)
        with applied(agent, PlanRequest(pool, (), 0, keys, 4 * GIB)):
            measured(guest, workload, WARM_WITH_CACHE_S)
            after = measured(guest, workload)
        forget(guest, [workload])
        found.append(outcome("cache", workload, verdict, before, after))
    return found


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
def flash_pool(guest: Guest) -> Iterator[None]:
    """A pool of two SSDs beside the pool of hard disks; afterwards they are blank again."""
    disks = [guest.disk(name).by_id for name in ("sata0", "sas0")]
    guest.run(["zpool", "create", "-o", "ashift=12", "flash", "mirror", *disks])
    try:
        yield
    finally:
        guest.run("zpool destroy flash")
        for disk in disks:
            guest.run(f"zpool labelclear -f {disk}-part1; sgdisk --zap-all {disk}; udevadm settle")


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
        if workload.directory:
            guest.run(f"umount {workload.directory}; rm {EXPORTS}; exportfs -ra; exportfs -f", check=False)
        guest.run(f"zfs destroy {workload.pool}/{workload.name}", timeout=300, check=False)


def advised(guest: Guest, workload: Workload, device: str) -> tuple[str, str]:
    """The verdict and its rule, taken while the workload runs."""
    seconds = WATCH_S + MARGIN_S
    guest.run(f"nohup {workload.command(seconds)} > /root/load.json 2>&1 < /dev/null & echo $! > /root/load.pid")
    told = product(guest, "advise", workload.pool, "--seconds", str(WATCH_S), "--every", str(EVERY_S))
    guest.run(END_LOAD, check=False)
    print(json.dumps({"workload": workload.name, **told}), file=sys.stderr)
    verdict = next(each for each in told["verdicts"] if each["device"] == device)
    return verdict["answer"], verdict["rule"]["code"]


def measured(guest: Guest, workload: Workload, seconds: int = PLAIN_S) -> float:
    """Operations a second, with nothing else going on."""
    answer = guest.run(workload.command(seconds), timeout=seconds + 300).stdout
    document: dict[str, Any] = json.loads(answer[answer.index("{") :])
    return float(document["jobs"][0][workload.direction]["iops"])


def measured_warm(guest: Guest, workload: Workload) -> float:
    """The same, after other workloads have driven its files out of the ARC: else each write waits for a read first."""
    guest.run(workload.rereading, timeout=300)
    return measured(guest, workload)


def product(guest: Guest, *args: str) -> dict[str, Any]:
    """The JSON answer of the product's command line, from the source that was pushed."""
    command = f"cd {SOURCE} && exec {PYTHON} -m nasadvisor.cli {' '.join(args)} --json"
    answer: dict[str, Any] = json.loads(guest.run(command, timeout=900).stdout)
    return answer


def outcome(device: str, workload: Workload, verdict: tuple[str, str], before: float, after: float) -> Outcome:
    """The row of the table."""
    return Outcome(device, workload.what, workload.expected, *verdict, before, after)


if __name__ == "__main__":
    sys.exit(main())
