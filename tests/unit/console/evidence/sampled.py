"""A pool that was watched for so many hours: what the console stored of it, made once in a process.

Whenever the tests run, the last hour is the one after noon: by night the simulated machine does too little for a log.
"""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from django.utils import timezone

from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool, StoredSample
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import DAY_S, HOUR_S
from nasadvisor.host.simulated.evidence import simulated_facts, simulated_sample
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.packing import NameTable, pack_activity, pack_latency
from tests.unit.machines import TANK, home_server, with_single_log

SAMPLE_S = 10
SAMPLES_OF_HOUR = HOUR_S // SAMPLE_S
BUSY_HOUR = 12
STORED = ("resolution", "at", "seconds", "activity", "latency")

Hour = tuple[bool, bool, int, int]
"""Whether the pool has a log today, whether it had it in this hour, when that ended, and how much later it seemed."""

made: dict[Hour, list[dict[str, Any]]] = {}
"""The rows of an hour as the console stored them when a test first asked for it: samples, minutes, and the hour."""


def fill(hours: float, log_hours_ago: float = 0) -> SampledPool:
    """So many hours of samples until now; if asked, with a log in the last of them."""
    inventory = with_single_log() if log_hours_ago else home_server()
    now = timezone.now().replace(microsecond=0)
    take_answer("nas", "inventory", to_document(replace(inventory, read_at=now.isoformat())))
    pool = inventory.pool(TANK)
    assert pool
    take_answer("nas", "reading", to_document(Reading((), (simulated_facts(inventory, pool),))))
    found = SampledPool.objects.get()
    found.names = names_of(pool)
    found.save(update_fields=["names"])
    at = int(now.timestamp())
    since = at - int(log_hours_ago * HOUR_S) if log_hours_ago else at + 1
    first = (at - int(hours * HOUR_S)) // SAMPLE_S * SAMPLE_S
    later_s = (BUSY_HOUR - at % DAY_S // HOUR_S) * HOUR_S
    for end, times in groupby(range(first, at + 1, SAMPLE_S), key=lambda when: -(-when // HOUR_S) * HOUR_S):
        _fill_hour(found, pool, end, list(times), since, later_s)
    series.roll_up(now)
    assert found.names == names_of(pool), "hours that were kept name things by their place in this list"
    assert found.node.sampled_pools.count() == 1
    return found


def _fill_hour(found: SampledPool, pool: Pool, end: int, times: list[int], since: int, later_s: int) -> None:
    """One that is whole, and in which no log was added, is the same in every test."""
    hour = (bool(pool.logs), since <= times[0], end, later_s)
    if hour in made and len(times) == SAMPLES_OF_HOUR:
        StoredSample.objects.bulk_create(StoredSample(series=found, **row) for row in made[hour])
        return
    samples = [_sample(pool, when, since, later_s) for when in times]
    series.save_samples(found, Resolution.RAW, samples)
    if len(times) == SAMPLES_OF_HOUR and not times[0] < since <= times[-1]:
        series.roll_up(datetime.fromtimestamp(end + series.GRACE_S, UTC))
        made[hour] = list(found.samples.filter(at__gt=end - HOUR_S, at__lte=end).values(*STORED))


def _sample(pool: Pool, when: int, since: int, later_s: int) -> Sample:
    """What the simulated machine does so much later in its day."""
    return replace(simulated_sample(pool, when + later_s, log_since=since + later_s), at=when)


def names_of(pool: Pool) -> list[str]:
    """All that its samples name, in the order in which one with a log names them."""
    table = NameTable([])
    sample = simulated_sample(pool, 0, log_since=0)
    pack_activity(sample, table)
    pack_latency(sample, table)
    return table.names
