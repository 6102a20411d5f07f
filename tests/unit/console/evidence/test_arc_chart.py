"""How many reads the memory and the cache answered, over time."""

from dataclasses import replace
from datetime import datetime

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.evidence.arc_chart import ArcHistory, arc_history
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import save_samples
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.evidence.samples import ArcActivity, Levels, Sample
from nasadvisor.domain.units import GIB
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import page
from tests.unit.machines import TANK

pytestmark = pytest.mark.django_db
HALF = ArcActivity(demand_hits=500, demand_misses=500)
WITH_CACHE = replace(HALF, l2_hits=100, l2_misses=300)


def history(arc: ArcActivity, levels: Levels, resolution: Resolution = Resolution.HOUR) -> ArcHistory | None:
    """Ten samples that are all alike."""
    now = timezone.now()
    node, _ = Node.objects.get_or_create(name="nas")
    pool, _ = SampledPool.objects.get_or_create(node=node, guid=TANK, name="tank")
    ends = [int(now.timestamp()) - age * int(resolution) for age in range(10)]
    save_samples(pool, resolution, [Sample(TANK, "tank", end, int(resolution), arc=arc, levels=levels) for end in ends])
    return arc_history(pool, now)


def labels(found: ArcHistory | None) -> list[str]:
    assert found
    return [line.label for line in found.charts[0].lines]


def test_the_memory_and_a_cache_have_a_line_each() -> None:
    found = history(WITH_CACHE, Levels(arc_bytes=15 * GIB, arc_most_bytes=32 * GIB))
    assert labels(found) == ["memory (ARC)", "cache (L2ARC), of ARC misses"]
    assert found
    assert found.levels.arc_bytes == 15 * GIB


def test_a_cache_that_is_not_there_has_none() -> None:
    assert labels(history(HALF, Levels(arc_bytes=15 * GIB))) == ["memory (ARC)"]


def test_in_the_first_hours_minutes_are_drawn() -> None:
    assert labels(history(HALF, Levels(arc_bytes=GIB), Resolution.MINUTE)) == ["memory (ARC)"]


def test_where_nothing_was_read_nothing_is_drawn() -> None:
    assert history(ArcActivity(), Levels(arc_bytes=GIB)) is None
    assert arc_history(None, datetime.now().astimezone()) is None


def test_the_page_of_the_evidence_shows_it(viewer: Client) -> None:
    fill(1)
    assert "Cache hit rate (ARC and L2ARC)" in page(viewer, f"/pools/{TANK}/evidence/")
