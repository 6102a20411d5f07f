"""What hosts traced of programs that wait: the sums of each hour, for a week."""

import logging
from typing import Final

from nasadvisor.console.evidence.models import SampledPool, StoredSpells
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.evidence.spells import PoolSpells
from nasadvisor.stored.documents import to_document

log = logging.getLogger(__name__)

MOST_KEPT: Final = 250
"""Of one pool: a week of hours, and those that a host has begun anew as it was started."""


def store_spells(node: Node, spells: PoolSpells) -> None:
    """Keep the sums of an hour in the place of what was told of it before. Of a pool that nobody watches none are kept.

    A message may arrive twice, or after a newer one: what was summed up longest stays.
    """
    series = SampledPool.objects.filter(node=node, guid=spells.pool_guid).only("pk").first()
    if series is None or not spells.is_an_hour:
        log.warning("%s told what was traced of %s. It was not stored.", node, spells.pool_guid)
        return
    stored = StoredSpells.objects.filter(series=series, began=spells.began)
    told = {"until": spells.until, "document": to_document(spells)}
    if not stored.exists():
        StoredSpells.objects.get_or_create(series=series, began=spells.began, defaults=told)
        newest = StoredSpells.objects.filter(series=series).order_by("-began").values_list("began", flat=True)
        for began in newest[MOST_KEPT : MOST_KEPT + 1]:
            StoredSpells.objects.filter(series=series, began__lte=began).delete()
    stored.filter(until__lte=spells.until).update(**told)


def spells_of(series: SampledPool, after: int) -> tuple[PoolSpells, ...]:
    """The hours of a pool that ended after a moment, in seconds since 1970."""
    rows = StoredSpells.objects.filter(series=series, until__gt=after).order_by("began")
    return tuple(found for each in rows if (found := each.found))
