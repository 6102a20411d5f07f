"""What is known of a pool at this moment: its history of samples as one workload, with the verdicts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from nasadvisor.console.evidence.models import Resolution, SampledPool, StoredMeasurement
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.evidence.spells import spells_of
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.evidence.commits import SsdTime, commits_of
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.measurement import tested_ssd
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.metadata_size import counted_of
from nasadvisor.domain.evidence.options import Known, has_raidz, known_of, waited_s
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.evidence.spells import added
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Verdict
from nasadvisor.domain.evidence.waited import Waited, waited_of
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.health.wear.ingest import expected_ingest
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import DAY_S, HOUR_S
from nasadvisor.stored.documents import to_document

WATCHED_S = 7 * DAY_S
"""A verdict looks back a week: every day of it, the Sunday's scrub and the Friday's backup, is part of the workload."""


MOST_OF_HOUR_S = HOUR_S / 2
"""[policy] So much of an hour was seen, or it says nothing of it."""

TESTS_LOOKED_AT = 5


@dataclass(frozen=True)
class Watched:
    """A pool with what its samples say.

    `first_at` is the beginning of the oldest sample that counts, `last_at` the end of the newest, in seconds since
    1970. `waited` is what was traced of programs that wait, None where that was too little; `known` has it only where
    it speaks for all that was watched. `hours` are those of the last day.
    """

    known: Known
    first_at: int
    last_at: int
    waited: Waited | None = None
    hours: tuple[Sample, ...] = ()

    @property
    def waited_hours(self) -> list[tuple[int, float]]:
        """The end of each hour of the last day, in seconds since 1970, and how many seconds programs waited in it."""
        known = self.known
        traced_ns = commits_of(known.workload, known.waited).likely_ns if known.waited else None
        return [(each.at, round(waited_s(workload_of(each, known.facts), traced_ns), 1)) for each in self.hours]


def series_of(node: Node, pool_guid: str) -> SampledPool | None:
    """The samples of a pool, None before the first one."""
    return SampledPool.objects.filter(node=node, guid=pool_guid).first()


def waiting_document_of(node: Node, pool_guid: str) -> Any:
    """What was kept of a pool's waiting last, as it is stored; None before the first time."""
    return SampledPool.objects.filter(node=node, guid=pool_guid).values_list("waiting_document", flat=True).first()


def watched(series: SampledPool | None, now: datetime) -> Watched | None:
    """What the last week's samples say; None where there are none."""
    if series is None:
        return None
    until = int(now.timestamp()) + 60  # hosts' clocks differ a little
    samples = list(history(series, until - WATCHED_S, until))
    if not samples:
        return None
    facts, sample = series.facts, merge(samples)
    workload, curve = workload_of(sample, facts), _curve_since(series, now - timedelta(seconds=WATCHED_S))
    waited = waited_of(added(spells_of(series, until - WATCHED_S)))
    enough = waited if waited and waited.is_enough_for(workload.seconds) else None
    ingest = expected_ingest(workload, facts)
    known = replace(
        known_of(workload, facts, HISTORY, ssd_tested_for(series), curve, enough),
        log_bytes_per_day=ingest.log,
        cache_bytes_per_day=ingest.cache,
    )
    hours = tuple(each for each in samples if each.at > until - DAY_S and each.seconds > MOST_OF_HOUR_S)
    return Watched(known, samples[0].at - int(samples[0].seconds), sample.at, waited, hours)


def _curve_since(series: SampledPool, moment: datetime) -> CacheCurve | None:
    """The curve of a pool, if it was drawn since then: an older one is of another workload than the samples."""
    stored = newest_of(series.node_id, CacheCurve, series.guid)
    curve = stored.found(CacheCurve) if stored else None
    return curve if curve and datetime.fromisoformat(curve.traced.at) >= moment else None


def ssd_tested_for(series: SampledPool) -> SsdTime:
    """The time of the SSD that was tested last for this pool."""
    tested = StoredMeasurement.objects.filter(node=series.node_id, pool_guid=series.guid).exclude(disk_key="")
    return tested_ssd(filter(None, (each.measurement for each in tested[:TESTS_LOOKED_AT])))


def known_now(seen: Watched, pool: Pool, curve: CacheCurve | None, count: BlockCount | None) -> Known:
    """All that was found out about a pool, with what the pool as it is now tells."""
    counted = counted_of(count, pool, seen.known.facts) if count else None
    return replace(seen.known, curve=curve, has_raidz=has_raidz(pool), counted=counted)


def keep_answers(now: datetime) -> None:
    """Keep the last verdicts of every pool in short, for pages that show many pools."""
    for series in SampledPool.objects.all():
        seen = watched(series, now)
        if seen:
            waiting = options_of(seen.known).in_short
            answers = _kept("log", seen.known.log, seen.last_at) | _kept("cache", seen.known.cache, seen.last_at)
            answers["waiting_document"] = to_document(waiting)
            if [each.at for each in seen.hours] != [at for at, _ in series.waited_hours]:  # else nothing is new in them
                answers["waited_hours"] = seen.waited_hours
            SampledPool.objects.filter(pk=series.pk).update(**answers)


def _kept(part: str, verdict: Verdict, last_at: int) -> dict[str, Any]:
    return {
        f"{part}_answer": verdict.answer.value,
        f"{part}_rule_document": to_document(verdict.rule),
        f"{part}_due_at": last_at + int(verdict.wait_s) if verdict.wait_s else 0,
    }


def history(series: SampledPool, after: int, until: int) -> Iterator[Sample]:
    """Everything in between, each moment once: hours as far as there are any, then minutes, then what is newest."""
    for resolution in (Resolution.HOUR, Resolution.MINUTE, Resolution.RAW):
        for sample in whole_samples_of(series, resolution, after, until):
            after = max(after, sample.at)
            yield sample
