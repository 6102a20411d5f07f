"""Jobs of TrueNAS that move the data of a dataset between its tiers: the special vdevs of a pool, and the others.

A job reads each file and writes it again (`zfs rewrite`); TrueNAS has them since 26.0.0-BETA.3. The forms: the
middleware's api/v26_0_0/zfs_tier.py. Its list tells no times; they are asked of each job by itself.
"""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.fleet.rewrites import Rewrite
from nasadvisor.host.adapters.answer import JsonAnswer
from plugins.truenas.api.connection import Connection
from plugins.truenas.api.errors import CallRefused
from plugins.truenas.api.reading import listed, objects_of

TIERS_SINCE: Final = "v26.0.0"
"""The API version that has them."""

QUERY: Final = "zfs.tier.rewrite_job_query"
STATUS: Final = "zfs.tier.rewrite_job_status"

NO_SUCH_METHOD: Final = -32601
"""JSON-RPC 2.0, section 5.1: what the first two betas of 26 answer."""

MOST_JOBS: Final = 200
"""[policy] Each is asked by itself; those that run are asked first, then as TrueNAS lists them."""

RUNNING: Final = "RUNNING"


def rewrites(connection: Connection) -> tuple[Rewrite, ...]:
    """The jobs that have begun, whether they run still or not.

    Raises:
        HostError: TrueNAS cannot be asked.
    """
    if connection.version < TIERS_SINCE:
        return ()
    try:
        jobs = objects_of(QUERY, connection.call(QUERY, {}))
    except CallRefused as error:
        if error.number == NO_SUCH_METHOD:
            return ()
        raise
    asked = sorted(jobs, key=lambda job: job.text("status") != RUNNING)[:MOST_JOBS]
    return tuple(_begun(connection, asked))


def _begun(connection: Connection, jobs: list[JsonAnswer]) -> Iterator[Rewrite]:
    """One that is queued has no figures, and one that has just begun has none yet: they are written once a minute."""
    for job in jobs:
        dataset, is_running = job.text("dataset_name"), job.text("status") == RUNNING
        stats = _stats(connection, job.text("tier_job_id"))
        if stats:
            times = stats.number("initial_time"), stats.number("update_time")
            yield Rewrite(dataset, is_running, *times, stats.number("count_bytes"))
        elif is_running:
            yield Rewrite(dataset, is_running, 0, 0, 0)


def _stats(connection: Connection, job: str) -> JsonAnswer | None:
    """The figures of a job; None where there are none, as of one that is gone by now."""
    try:
        told = listed(STATUS, connection.call(STATUS, {"tier_job_id": job}))
    except CallRefused:
        return None
    return told.child("stats") if told.fields.get("stats") is not None else None
