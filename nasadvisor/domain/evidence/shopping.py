"""Which SSD to buy, in the numbers that this pool asks for, and what each choice costs a year at entered prices.

Each number stands with what makes it. Nothing is named by brand, and no price is known here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final

from nasadvisor.domain.evidence.measuring.suitability import GOOD_COMMIT_NS
from nasadvisor.domain.evidence.options import Cost, Known, Option, OptionRow, OptionsTable
from nasadvisor.domain.evidence.recommendation import BY_CURVE
from nasadvisor.domain.evidence.verdict import GOOD_LOG_SHARE, Answer
from nasadvisor.domain.figures import milliseconds, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAYS_PER_YEAR, GIB, MIB, TERABYTE, gigabytes_text, size_text, terabytes_text

STREAM_BYTES_PER_S: Final = 100 * MIB
"""[policy] From here on a list names how much must be taken: no SSD that is sold for this takes less."""

MOST_BYTES_A_DAY: Final = 40 * TERABYTE
"""[policy] What the SSDs with most endurance take: ten times their 3.84 TB a day."""

SERVICE_YEARS: Final = 5
"""[policy] How long a part shall last: the usual warranty of SSDs for servers."""

BOUGHT: Final = (Option.MEMORY, Option.LOG, Option.CACHE)
"""What has a price, and a size that is known."""


@dataclass(frozen=True)
class Need:
    """One line of a shopping list: what the SSD must do, and what makes the number."""

    what: Statement
    because: Statement


@dataclass(frozen=True)
class ShoppingList:
    """What an SSD for this must do; `count` of them."""

    option: Option
    count: int
    needs: tuple[Need, ...]


@dataclass(frozen=True)
class Price:
    """What one SSD costs, or a GiB of memory; `rated_terabytes` may be written to the SSD, 0 where that is not said.

    Raises:
        ValueError: one of them is below zero, or no number.
    """

    each: float
    rated_terabytes: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.each < float("inf") and 0 <= self.rated_terabytes < float("inf")):
            raise ValueError("a price is a number from zero on")


def parse_price(text: str) -> Price:
    """A price as it is typed: "89:700" is an SSD for 89 that is rated for 700 TB.

    Raises:
        ValueError: it is not such a price.
    """
    each, _colon, terabytes = text.partition(":")
    return Price(float(each), float(terabytes or 0))


@dataclass(frozen=True)
class YearlyCost:
    """What a choice costs: at once, for how many years it lasts, and so for each of them."""

    option: Option
    at_once: float
    years: float

    @property
    def per_year(self) -> float:
        """At once, spread over its years."""
        return self.at_once / self.years


def shopping_of(known: Known, table: OptionsTable) -> tuple[ShoppingList, ...]:
    """A list for log and cache each, where the table does not speak against it and its size is known."""
    found = []
    pool_ns, log, cache = known.commits.likely_ns, table.row(Option.LOG), table.row(Option.CACHE)
    if pool_ns and log.cost and _may_be_bought(log):
        found.append(ShoppingList(Option.LOG, log.cost.ssds, _for_log(known, pool_ns, log.cost)))
    if cache.cost and _may_be_bought(cache):
        found.append(ShoppingList(Option.CACHE, cache.cost.ssds, _for_cache(known, cache.cost)))
    return tuple(found)


def yearly_costs(table: OptionsTable, prices: dict[Option, Price]) -> tuple[YearlyCost, ...]:
    """What memory, log and cache cost, as far as their prices were entered and their sizes are known."""
    found = []
    for option in BOUGHT:
        cost, price = table.row(option).cost, prices.get(option)
        if cost and price and price.each:
            count = cost.memory_bytes / GIB if option is Option.MEMORY else cost.ssds
            found.append(YearlyCost(option, price.each * count, _years(cost, price)))
    return tuple(found)


def _may_be_bought(row: OptionRow) -> bool:
    """Where it helps, or where its verdict hangs on the SSD or the size and not on more watching."""
    return row.answer is Answer.HELPS or bool(row.relief)


def _years(cost: Cost, price: Price) -> float:
    """Until what may be written was written, at the most as long as a part shall last."""
    if not price.rated_terabytes or not cost.written_bytes_per_year:
        return SERVICE_YEARS
    return min(SERVICE_YEARS, price.rated_terabytes * TERABYTE / cost.written_bytes_per_year)


def _for_log(known: Known, pool_ns: float, cost: Cost) -> tuple[Need, ...]:
    protection = Need(
        Statement("need-protection", _("Power-loss protection, stated in the data sheet.")),
        Statement(
            "need-protection-why",
            _("Writes it has acknowledged then survive a power cut, and it does not have to wait for its flash."),
        ),
    )
    size = Statement("need-size", _("At least {size}."), {"size": size_text(cost.ssd_bytes)})
    return protection, _flush(known, pool_ns), *_stream(known), _endurance(cost), Need(size, known.log_size.because)


def _flush(known: Known, pool_ns: float) -> Need:
    most_ns = min(GOOD_COMMIT_NS, pool_ns * (1 - GOOD_LOG_SHARE))
    writers = str(max(1, ceil(known.commits.at_once)))
    what = _("A synchronous write of 4 KiB, including its flush, in at most {time}; {writers} at a time.")
    why = _("Under load, the pool takes {pool} for each of {commits} commits/s, so about {writers} run at once.")
    values = {"pool": milliseconds(pool_ns), "commits": rate(known.workload.commits_per_s)}
    return Need(
        Statement("need-flush", what, {"time": milliseconds(most_ns), "writers": writers}),
        Statement("need-flush-why", why, {**values, "writers": writers}),
    )


def _stream(known: Known) -> Iterator[Need]:
    """How much it must take; nothing where any SSD takes it."""
    stream = known.workload.busy_sync_bytes_per_s * known.workload.block_overhead
    if stream >= STREAM_BYTES_PER_S:
        what = _("Sustained writes of {stream}/s for as long as programs write, not only until its fast cache is full.")
        why = _("This is the rate of synchronous writes under load, including the overhead of the ZIL.")
        values = {"stream": size_text(int(stream))}
        yield Need(Statement("need-stream", what, values), Statement("need-stream-why", why))


def _endurance(cost: Cost) -> Need:
    day = cost.written_bytes_per_year / DAYS_PER_YEAR
    years = str(SERVICE_YEARS)
    total = terabytes_text(cost.written_bytes_per_year * SERVICE_YEARS)
    values = {"total": total, "day": gigabytes_text(day), "years": years}
    why = Statement("need-endurance-why", _("This much would be written to it at the rate recorded so far."))
    if day > MOST_BYTES_A_DAY:
        what = _("No SSD lasts for this: {day} a day is {total} written (TBW) in {years} years.")
        return Need(Statement("need-too-much-endurance", what, values), why)
    what = _("Endurance of at least {total} written (TBW): {day} a day for {years} years.")
    return Need(Statement("need-endurance", what, values), why)


def _for_cache(known: Known, cost: Cost) -> tuple[Need, ...]:
    protection = Need(
        Statement("need-no-protection", _("No power-loss protection is needed.")),
        Statement("need-no-protection-why", _("A cache holds only copies.")),
    )
    size = Statement("need-size", _("At least {size}."), {"size": size_text(cost.ssd_bytes)})
    said = known.recommended_cache
    return Need(size, said.because if said else BY_CURVE), _most_endurance(cost), protection


def _most_endurance(cost: Cost) -> Need:
    """What lies on a cache already is not written to it again, so the pace that was watched is the most."""
    day = cost.written_bytes_per_year / DAYS_PER_YEAR
    what = _("Endurance for up to {day} a day at first; at most {total} written (TBW) in {years} years.")
    total = terabytes_text(cost.written_bytes_per_year * SERVICE_YEARS)
    why = _(
        "This is how much the ARC evicts per day. Blocks already in the cache are not written again, so the rate falls."
    )
    values = {"total": total, "day": gigabytes_text(day), "years": str(SERVICE_YEARS)}
    return Need(Statement("need-most-endurance", what, values), Statement("need-most-endurance-why", why))
