"""`nasadvisor wear`: who writes to an SSD, line by line, from counters watched now, and what would save writes."""

import json
from typing import Any, Final

import click

from nasadvisor.cli.errors import Refusal, json_option
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_disk
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.cli.watching import reading_in, watch_pools
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.shopping import Price, parse_price
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.fleet.platforms import guest_of
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.domain.health.wear.bill import BillLine, Payee, WearBill, bill_of, with_guests
from nasadvisor.domain.health.wear.forecast import Forecast, forecast
from nasadvisor.domain.health.wear.history import Snapshot, history_of
from nasadvisor.domain.health.wear.laid import laid
from nasadvisor.domain.health.wear.savings import Saving, savings_of
from nasadvisor.domain.health.wear.what_if import WeighedLine, cost_per_year, weighed
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool
from nasadvisor.domain.units import DAY_S, DAYS_PER_YEAR, gigabytes_text

WORDS: Final = {
    Payee.METADATA: "metadata and other writes of pools",
    Payee.CACHE: "cache",
    Payee.OTHERS: "outside of pools",
}
LONGEST_YEARS: Final = 10
UNKNOWN: Final = "-"


def price_in(_ctx: click.Context, _parameter: click.Parameter, told: str | None) -> Price | None:
    """A price as it is typed: "120:600" is an SSD for 120 that is rated for 600 TB.

    Raises:
        click.BadParameter: it is not such a price.
    """
    try:
        return parse_price(told) if told is not None else None
    except ValueError as error:
        raise click.BadParameter(f"{told!r} is no price like 120:600: {error}.") from error


@click.command()
@click.argument("disk", metavar="DISK")
@click.option("--seconds", type=click.IntRange(20, 86400), default=60, show_default=True, help="How long to watch.")
@click.option(
    "--every", type=click.IntRange(1, 600), default=5, show_default=True, help="Seconds between two readings."
)
@click.option("--price", metavar="EACH[:TB]", callback=price_in, help="What it costs, and the TB it is rated for.")
@json_option
@click.pass_context
def wear(ctx: click.Context, disk: str, seconds: int, every: int, price: Price | None, as_json: bool) -> None:
    """Watch DISK and say who writes to it: guests, datasets, metadata, log, cache. Run it under the usual load.

    DISK is a name from /dev/disk/by-id or a serial. Without the wear that it reports itself, what it costs is worked
    out from the TB that it is rated for.
    """
    services = services_for(ctx)
    inventory = services.inventory()
    chosen = find_disk(inventory, disk)
    pools = _pools_on(chosen, inventory)
    if not as_json:
        click.echo(f"Watching {chosen.label} for {duration(seconds)} …", err=True)
    watched = watch_pools(services, pools, seconds, every)
    longest_s = max(sample.seconds for sample, _facts in watched.values())
    bill = _bill(chosen.kernel_name, pools, watched)
    savings = savings_of(bill, [facts for _sample, facts in watched.values()])
    guests = services.platforms(inventory).guests
    named = with_guests(bill, lambda dataset: guest_of(guests, dataset))
    now = _lifetime(services, chosen)
    a_year = bill.total / longest_s * DAY_S * DAYS_PER_YEAR
    cost = cost_per_year(price.each, now, price.rated_terabytes, a_year) if price else None
    rows = weighed(named, longest_s, now, cost)
    if as_json:
        click.echo(json.dumps(_document(chosen, longest_s, named, rows, savings), ensure_ascii=False))
        return
    _print(rows, named, savings, longest_s)


def _bill(kernel_name: str, pools: tuple[Pool, ...], watched: dict[str, tuple[Sample, PoolFacts]]) -> WearBill:
    """The bill of a disk from what was watched of its pools, each of which tells the same of the whole disk."""
    drive, lines = 0, list[BillLine]()
    for pool in pools:
        sample, facts = watched[pool.guid]
        drive = max(drive, sum(each.written_bytes for each in sample.disks if each.key == kernel_name))
        own = {leaf.guid for leaf in facts.leaves if leaf.disk == kernel_name}
        lines += (line for guid, found in laid(sample, facts, pool).items() if guid in own for line in found)
    return bill_of(drive, lines)


def _pools_on(disk: Disk, inventory: Inventory) -> tuple[Pool, ...]:
    """The pools with a device on it.

    Raises:
        Refusal: there are none, or it is a hard disk.
    """
    if disk.rotational:
        raise Refusal(f"{disk.label} is a hard disk, which does not wear by writing. Nothing was changed.")
    found = tuple(
        pool
        for pool in inventory.pools
        if any(place and place[0].key == disk.key for place in map(inventory.place_of, pool.vdevs()))
    )
    if not found:
        raise Refusal(f"{disk.label} is in no imported pool, so nobody knows who writes to it. Nothing was changed.")
    return found


def _lifetime(services: Services, disk: Disk) -> Forecast | None:
    """What the wear that it reports now comes to on average since it was new; None where it reports none."""
    answers: list[DiskAnswer] = []
    services.health().sweep(answers.extend)
    own = next((answer for answer in answers if answer.disk_key == disk.key), None)
    reading = reading_in(own) if own else None
    if reading is None or reading.hours is None:
        return None
    return forecast(history_of([Snapshot(reading.hours, reading)]), 0.0)


def _name(line: BillLine) -> str:
    if line.kind is Payee.LOG:
        return f"log, for {line.name}" if line.name else "log"
    return line.name or WORDS[line.kind]


def _years(row: WeighedLine) -> str:
    if row.percent_per_year is None:
        return UNKNOWN
    years = row.years_without.middle if row.years_without else None
    return f"{years:.1f} years" if years is not None and years <= LONGEST_YEARS else f"{LONGEST_YEARS}+ years"


def _print(rows: tuple[WeighedLine, ...], bill: WearBill, savings: tuple[Saving, ...], seconds: float) -> None:
    heading("Who writes")
    if not rows:
        paragraph("Nothing was written.")
        return
    cells = (
        (
            _name(row.line),
            gigabytes_text(row.bytes_per_day),
            percent(row.share),
            f"x {row.line.amplification:.1f}" if row.line.amplification else UNKNOWN,
            _years(row),
            UNKNOWN if row.cost is None else f"{row.cost:.2f}",
        )
        for row in rows
    )
    table(("WRITER", "PER DAY", "SHARE", "AMPLIFIED", "LASTS WITHOUT IT", "COST PER YEAR"), cells, "<>>>>>")
    together = gigabytes_text(bill.total / seconds * DAY_S)
    beside = f", {bill.amplification:.1f} for each byte that programs wrote" if bill.amplification else ""
    paragraph(f"All together: {together} a day, counted by the kernel{beside}.")
    if savings:
        heading("What would save writes")
    for saving in savings:
        paragraph(f"{saving.statement} At most {gigabytes_text(saving.device_bytes / seconds * DAY_S)} a day less.")
    click.echo()
    paragraph(
        f"Shares of datasets are worked out from what programs wrote, not counted. This covers only these "
        f"{duration(seconds)}; the web interface shows the last 30 days.",
        "",
    )


def _document(
    disk: Disk, seconds: float, bill: WearBill, rows: tuple[WeighedLine, ...], savings: tuple[Saving, ...]
) -> dict[str, Any]:
    return {
        "disk": disk.key,
        "seconds": seconds,
        "device_bytes": bill.total,
        "amplification": bill.amplification,
        "lines": [
            {
                "kind": row.line.kind.value,
                "name": row.line.name,
                "device_bytes": row.line.device_bytes,
                "logical_bytes": row.line.logical_bytes,
                "share": row.share,
                "percent_per_year": row.percent_per_year.middle if row.percent_per_year else None,
                "years_without": row.years_without.middle if row.years_without else None,
                "cost_per_year": row.cost,
            }
            for row in rows
        ],
        "advice": [
            {"code": each.statement.code, "sentence": str(each.statement), "device_bytes": each.device_bytes}
            for each in savings
        ],
    }
