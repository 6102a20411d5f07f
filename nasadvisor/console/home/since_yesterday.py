"""What changed since yesterday on the hosts of a console, a few words and a link each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import AlertStates, StoredAlert
from nasadvisor.console.health.models import PoolDay
from nasadvisor.console.wording.statements import localized, unbroken
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, size_text

DAY: Final = timedelta(days=1)
MOST_OF_A_KIND: Final = 3
LEAST_BYTES: Final = GIB
"""A pool that took less in a day has not changed."""


@dataclass(frozen=True)
class News:
    """A few words, and where there is more."""

    words: str
    url: str


def since_yesterday(nodes: Sequence[Node], shown: Node, now: datetime) -> list[News]:
    """Alerts and changes of every host; scrubs and capacity of the one that is shown."""
    inventory = shown.inventory
    found = [*_alerts(now), *islice(_changes(nodes, now), MOST_OF_A_KIND)]
    if inventory:
        found += islice(_scrubs(inventory, now), MOST_OF_A_KIND)
        found += islice(_capacity(shown, inventory, now), MOST_OF_A_KIND)
    return found


def _alerts(now: datetime) -> Iterator[News]:
    began = StoredAlert.objects.filter(began_at__gte=now - DAY).count()
    ended = StoredAlert.objects.filter(state=AlertStates.RECOVERED, ended_at__gte=now - DAY).count()
    if began:
        words = ngettext("%(count)s new alert", "%(count)s new alerts", began) % {"count": began}
        yield News(words, reverse("alerts"))
    if ended:
        words = ngettext("%(count)s alert resolved", "%(count)s alerts resolved", ended) % {"count": ended}
        yield News(words, reverse("alerts"))


def _changes(nodes: Sequence[Node], now: datetime) -> Iterator[News]:
    names = {node.pk: node.name for node in nodes}
    runs = StoredRun.objects.filter(node__in=names, requested_at__gte=now - DAY).order_by("-requested_at")
    for pk, pool, state in runs.values_list("pk", "pool_name", "state"):
        values = {"pool": pool, "state": StoredRunState(state).label}
        yield News(_("change of %(pool)s: %(state)s") % values, reverse("run-detail", args=[pk]))


def _scrubs(inventory: Inventory, now: datetime) -> Iterator[News]:
    for pool in inventory.pools:
        scan = pool.last_scan
        if scan and scan.kind.lower() == "scrub" and datetime.fromisoformat(scan.ended_at) >= now - DAY:
            values = {"pool": pool.name, "count": scan.errors}
            words = ngettext(
                "scrub of %(pool)s ended with %(count)s error",
                "scrub of %(pool)s ended with %(count)s errors",
                scan.errors,
            )
            yield News(words % values, reverse("pool", args=[pool.guid]))


def _capacity(node: Node, inventory: Inventory, now: datetime) -> Iterator[News]:
    day = timezone.localtime(now - DAY).date()
    then = dict(PoolDay.objects.filter(node=node, day=day).values_list("guid", "allocated_bytes"))
    for pool in inventory.pools:
        change = pool.allocated_bytes - then.get(pool.guid, pool.allocated_bytes)
        if abs(change) >= LEAST_BYTES:
            size = unbroken(localized(size_text(abs(change))))
            words = _("%(pool)s: %(size)s more used") if change > 0 else _("%(pool)s: %(size)s freed")
            yield News(words % {"pool": pool.name, "size": size}, reverse("pool", args=[pool.guid]))
