"""Probing a pool: synchronous writes on a dataset of its own, which is gone afterwards.

Only a dataset that carries our property with the record's id is ever destroyed, by name, never recursively.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.measuring.measurement import Begin, Stage
from nasadvisor.domain.evidence.measuring.probing import (
    PROBE_FILE_BYTES,
    PROBE_PREFIX,
    PROBE_PROPERTY,
    PROBE_QUOTA,
    PROBE_RECORD_BYTES,
    FioFigures,
    ProbeRecord,
    ProbeResult,
)
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import KIB
from nasadvisor.host.adapters.fio import FioJob, Pattern, run_fio
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.errors import HostError, ToolMissing
from nasadvisor.host.evidence.measuring.records import Leftovers

ZFS_TIMEOUT_S: Final = 120.0
LOCK_WAIT_S: Final = 1.0
JOBS: Final = ((4 * KIB, 1), (4 * KIB, 4), (4 * KIB, 16), (64 * KIB, 1), (64 * KIB, 4))
"""Block size and writers. 64 KiB is above the 32 KiB from which OpenZFS writes past the ZIL where there is no log."""

NOT_THERE: Final = 1
"""The exit code of `zfs get` for a dataset that does not exist."""

SETTLE_S: Final = 2
"""Each job runs so long before it counts: fio has just made its files, and their transaction group is on its way."""


class NotOurs(HostError):  # noqa: N818 - named for what happened
    """A dataset has the name of a probe but not its mark."""

    def __init__(self, dataset: str) -> None:
        template = _(
            "The dataset {dataset} is named like a NAS Advisor measurement but lacks its mark ({mark}), so it was "
            "left alone. If it is not needed, remove it yourself."
        )
        super().__init__(template, dataset=dataset, mark=PROBE_PROPERTY)


class PoolAway(HostError):  # noqa: N818
    """The pool of a probe is not imported, so nobody can see whether its dataset is still there."""

    def __init__(self, dataset: str) -> None:
        template = _(
            "The pool of the measurement dataset {dataset} is not imported. The first measurement after its import "
            "removes the dataset."
        )
        super().__init__(template, dataset=dataset)


@dataclass(frozen=True)
class ProbeHost:
    """Where probes happen. `lock` is held from the record to the clean-up, by the programs that run as well."""

    runner: Runner
    leftovers: Leftovers
    lock: Path
    mounts: Path
    clock: Callable[[], datetime]


def quietly(stage: Stage, number: int, count: int) -> None:
    """A `measurement.Begin` for those who do not want to know."""
    del stage, number, count


def probe_pool(host: ProbeHost, pool: Pool, probe_id: str, seconds: int, begin: Begin = quietly) -> ProbeResult:
    """Measure synchronous writes for `seconds` a job; the pool was checked by the caller (`against_probe`).

    Raises:
        HostBusy: another probe is under way.
        HostError: it could not be measured; what was made is removed, or its record stays for the next clean-up.
    """
    if not host.runner.has(Tool.FIO):
        raise ToolMissing(Tool.FIO, "fio", ("/usr/bin",))
    with host_lock((host.lock,), LOCK_WAIT_S) as descriptors:
        held = replace(host, runner=host.runner.holding(descriptors))
        at = host.clock().isoformat(timespec="seconds")
        name = f"{PROBE_PREFIX}{probe_id}"
        record = ProbeRecord(probe_id, at, pool.guid, f"{pool.name}/{name}", str(host.mounts / name))
        host.leftovers.write(record)
        try:
            _create(held.runner, record)
            figures = []
            for number, job in enumerate(JOBS, 1):
                begin(Stage.PROBE, number, len(JOBS))
                figures.append(_measure(held.runner, record, job, seconds))
        finally:
            _take_back(held, record)
    return ProbeResult(probe_id, pool.guid, pool.name, at, bool(pool.logs), tuple(figures))


def clean_up_probes(host: ProbeHost) -> tuple[str, ...]:
    """Remove what interrupted probes left; the datasets that were removed.

    Raises:
        HostBusy: a probe is under way, or what it started still runs.
        NotOurs: a dataset is not the one that the record means.
        RecordDamaged: a record cannot be read; the others were cleaned up.
    """
    removed = []
    if host.leftovers.probes():
        with host_lock((host.lock,), LOCK_WAIT_S) as descriptors:
            held = replace(host, runner=host.runner.holding(descriptors))
            for record in host.leftovers.probes():
                with suppress(PoolAway):  # its record stays
                    _take_back(held, record)
                    removed.append(record.dataset)
    host.leftovers.refuse_damaged(ProbeRecord)
    return tuple(removed)


def _create(runner: Runner, record: ProbeRecord) -> None:
    options = {
        "sync": "standard",
        "logbias": "latency",
        "compression": "off",
        "recordsize": str(PROBE_RECORD_BYTES),
        "quota": str(PROBE_QUOTA),
        "atime": "off",
        "com.sun:auto-snapshot": "false",
        "mountpoint": record.mountpoint,
        PROBE_PROPERTY: record.id,
    }
    settings = [arg for name, value in options.items() for arg in ("-o", f"{name}={value}")]
    runner.run(Command(Tool.ZFS, ("create", *settings, record.dataset), ZFS_TIMEOUT_S))


def _measure(runner: Runner, record: ProbeRecord, job: tuple[int, int], seconds: int) -> FioFigures:
    block, writers = job
    place = (
        f"--directory={record.mountpoint}",
        f"--filesize={PROBE_FILE_BYTES}",
        "--fallocate=none",
        f"--ramp_time={SETTLE_S}",
        "--direct=0",  # aligned Direct I/O would go past the log from OpenZFS 2.3 on
    )
    return run_fio(runner, FioJob(place, block, writers, seconds, "--fsync=1", Pattern.SCATTERED))


def _take_back(host: ProbeHost, record: ProbeRecord) -> None:
    args = ("get", "-H", "-p", "-o", "value", PROBE_PROPERTY, record.dataset)
    found = host.runner.run(Command(Tool.ZFS, args, ZFS_TIMEOUT_S, frozenset({0, NOT_THERE})))
    if found.code == 0:
        if found.stdout.strip() != record.id:
            raise NotOurs(record.dataset)
        host.runner.run(Command(Tool.ZFS, ("destroy", record.dataset), ZFS_TIMEOUT_S))
    elif not _is_imported(host.runner, record):
        raise PoolAway(record.dataset)
    with suppress(OSError):  # not empty, or never made
        Path(record.mountpoint).rmdir()
    host.leftovers.remove(record)


def _is_imported(runner: Runner, record: ProbeRecord) -> bool:
    """Whether the very pool of the record is there; another of the same name is not."""
    args = ("get", "-H", "-o", "value", "guid", record.dataset.partition("/")[0])
    found = runner.run(Command(Tool.ZPOOL, args, ZFS_TIMEOUT_S, frozenset({0, NOT_THERE})))
    return found.stdout.strip() == record.pool_guid
