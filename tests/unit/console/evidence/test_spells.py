"""Spells on the console: what is kept of what a host tells, and for how long."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from nasadvisor.console.evidence import spells
from nasadvisor.console.evidence.models import SampledPool, StoredSpells
from nasadvisor.console.evidence.spells import spells_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import QuotaReached
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.spells import PoolSpells, ProgramWait, Spell, SpellSums
from nasadvisor.stored.documents import to_document
from tests.unit.machines import TANK

pytestmark = pytest.mark.django_db

HOUR = 1_787_000_000
BUSY = SpellSums(600, 100).with_spell(Spell(10.0, 8, (ProgramWait("postgres", "tank/db", 2.0, 8, 1),)))
SPELLS = PoolSpells(TANK, HOUR, HOUR + 600, BUSY, cost_s=0.4)


def tell(*found: PoolSpells, node: str = "nas") -> None:
    sample = Sample(TANK, "tank", HOUR, 10.0)
    take_answer(node, "reading", to_document(Reading((sample,), (), found)))


def kept() -> tuple[PoolSpells, ...]:
    return spells_of(SampledPool.objects.get(guid=TANK), 0)


def test_the_newest_sums_of_an_hour_stay_whatever_comes_twice_or_late() -> None:
    later = replace(SPELLS, until=HOUR + 900, cost_s=0.8)
    tell(SPELLS)
    tell(later)
    tell(later)
    tell(SPELLS)
    assert kept() == (later,)
    tell(replace(SPELLS, began=HOUR + 3600, until=HOUR + 3700))
    assert [each.began for each in kept()] == [HOUR, HOUR + 3600]
    assert spells_of(SampledPool.objects.get(), HOUR + 1000) == kept()[1:]


def test_each_host_has_its_own() -> None:
    tell(SPELLS)
    tell(replace(SPELLS, cost_s=3.0), node="other")
    ours, theirs = (SampledPool.objects.get(node=Node.objects.get(name=name)) for name in ("nas", "other"))
    assert (spells_of(ours, 0)[0].cost_s, spells_of(theirs, 0)[0].cost_s) == (0.4, 3.0)


def test_only_so_many_hours_are_kept_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spells, "MOST_KEPT", 3)
    for number in range(6):
        tell(replace(SPELLS, began=HOUR + number, until=HOUR + 10 + number))
    assert [each.began for each in kept()] == [HOUR + 3, HOUR + 4, HOUR + 5]


def test_what_is_no_hour_of_a_pool_that_is_watched_or_of_the_future_is_not_kept() -> None:
    tell(replace(SPELLS, pool_guid="77"), replace(SPELLS, until=HOUR + 90_000))
    assert not StoredSpells.objects.exists()
    tomorrow = int((timezone.now() + timedelta(days=1)).timestamp())
    with pytest.raises(QuotaReached):
        tell(replace(SPELLS, until=tomorrow))
    assert not StoredSpells.objects.exists()


def test_a_form_that_is_not_known_any_more_is_a_gap() -> None:
    tell(SPELLS)
    StoredSpells.objects.update(document={"v": 99})
    assert kept() == ()
