"""What the samples of late say about the log and the caches of a pool."""

from datetime import datetime, timedelta
from typing import Final

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.health.traffic_findings import traffic_findings
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Pool

HELD: Final = timedelta(hours=3)
"""An hour of samples is added up soon after its end; one that is older says nothing about now."""


def traffic_of(node: Node, pool: Pool, now: datetime) -> tuple[Finding, ...] | None:
    """What there is to say; None where nobody watched of late, who cannot say that something is over."""
    watched = SampledPool.objects.filter(node=node, guid=pool.guid, traffic_document__isnull=False)
    series = watched.defer("facts_document", "names").first()
    seen = series.traffic if series else None
    if seen is None or now.timestamp() - seen.until > HELD.total_seconds():
        return None
    return (*traffic_findings(pool, seen.log), *traffic_findings(pool, seen.cache))
