"""The bill of an SSD as pages, reports and the interface show it: its lines in words, and what each of them means."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.health.bytes_by_role import Written, written_by_whom
from nasadvisor.console.health.models import RatedEndurance, StoredDisk
from nasadvisor.domain.fleet.platforms import guest_of
from nasadvisor.domain.health.wear.bill import BillLine, Payee, with_guests
from nasadvisor.domain.health.wear.forecast import Forecast
from nasadvisor.domain.health.wear.savings import savings_of
from nasadvisor.domain.health.wear.what_if import WeighedLine, cost_per_year, weighed, years_without
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import DAYS_PER_YEAR

SHOWN: Final = 5
"""[policy] So many lines say who it is; the rest is folded."""

MONTHS: Final = 12
WORDS: Final[dict[Payee, str | Promise]] = {
    Payee.METADATA: _("Metadata and other writes of pools"),
    Payee.LOG: _("Log"),
    Payee.CACHE: _("Cache"),
    Payee.UNDIVIDED: _("Pool data, not divided"),
    Payee.OTHERS: _("Outside of pools"),
}


def payee_words(line: BillLine) -> str:
    """Whose a line is, in the user's language: a guest, a dataset, or what kind of writing it is."""
    if line.kind is Payee.LOG and line.name:
        return gettext("Log, for %(name)s") % {"name": line.name}
    return line.name or str(WORDS[line.kind])


@dataclass(frozen=True)
class BillAdvice:
    """What to do, how many bytes a day that saves at the most, and how many months longer the SSD lasts."""

    statement: Statement
    bytes_per_day: int
    months: float | None


@dataclass(frozen=True)
class DiskBill:
    """The bill of one SSD, with what follows from it. `cost` is what its wear costs a year."""

    written: Written
    rows: tuple[WeighedLine, ...]
    advice: tuple[BillAdvice, ...]
    cost: float | None

    @property
    def per_day(self) -> int:
        """Bytes a day, while it was watched."""
        return self.written.a_day(self.written.bill.total)

    @property
    def amplification(self) -> float | None:
        """Bytes on the device for each byte that programs wrote."""
        return self.written.bill.amplification

    @property
    def first(self) -> tuple[WeighedLine, ...]:
        """The lines that are shown."""
        return self.rows[:SHOWN]

    @property
    def folded(self) -> tuple[WeighedLine, ...]:
        """The lines that are shown on demand."""
        return self.rows[SHOWN:]


def written_by_guests(disks: Iterable[StoredDisk], now: datetime) -> dict[int, Written]:
    """By the disk's number, what was written in the last weeks, the datasets of each guest in one line."""
    nodes = {disk.pk: disk.node for disk in disks}
    guests = {node.pk: node.platform.guests for node in {node.pk: node for node in nodes.values()}.values()}
    return {
        pk: replace(each, bill=with_guests(each.bill, partial(guest_of, guests[nodes[pk].pk])))
        for pk, each in written_by_whom(disks, now).items()
    }


def bill_of_disk(
    disk: StoredDisk, forecast: Forecast | None, rating: RatedEndurance | None, now: datetime
) -> DiskBill | None:
    """The bill of one SSD; None where it was not watched for a day in its present role."""
    written = written_by_whom([disk], now).get(disk.pk)
    if written is None or not written.is_enough:
        return None
    price, rated = (rating.price, rating.terabytes) if rating else (None, None)
    cost = cost_per_year(price, forecast, rated, written.a_day(written.bill.total) * DAYS_PER_YEAR)
    named = replace(written, bill=with_guests(written.bill, partial(guest_of, disk.node.platform.guests)))
    rows = weighed(named.bill, written.seconds, forecast, cost)
    return DiskBill(named, rows, tuple(_advice(disk, written, forecast)), cost)


def _advice(disk: StoredDisk, written: Written, forecast: Forecast | None) -> Iterator[BillAdvice]:
    pools = [series.facts for series in SampledPool.objects.filter(node=disk.node_id)]
    own = [facts for facts in pools if any(leaf.guid in disk.leaf_guids for leaf in facts.leaves)]
    for each in savings_of(written.bill, own):
        share = each.device_bytes / written.bill.total
        now, then = (years_without(forecast, part) if forecast else None for part in (0.0, share))
        months = (then.middle - now.middle) * MONTHS if now and then else None
        yield BillAdvice(each.statement, written.a_day(each.device_bytes), months)
