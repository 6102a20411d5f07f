"""`nasadvisor reserve`: what leaving a share of a blank SSD free does to its sustained writing, measured on it."""

import json
import uuid
from typing import Final

import click

from nasadvisor.cli.change.running import ask_first, yes_option
from nasadvisor.cli.errors import json_option
from nasadvisor.cli.evidence.measuring import cleaned_up
from nasadvisor.cli.services import services_for
from nasadvisor.cli.storage.disks import find_disk, find_pool
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.measuring.reserve import (
    FREE_PERCENTS,
    LONGEST_S,
    QUARTERS_IN_ALL,
    Part,
    ReserveOrder,
    ReserveProgress,
    ReserveResult,
)
from nasadvisor.domain.figures import duration
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import HOUR_S, size_text
from nasadvisor.host.evidence.measuring.reserve import measure_reserve
from nasadvisor.stored.documents import to_document

LEAST_HOURS: Final = 0.01

PARTS: Final = {
    Part.FILL: "filling the rest",
    Part.SETTLE: "writing scattered until it settles",
    Part.EARLIER: "writing scattered, measured",
    Part.LATER: "writing scattered, measured again",
}


@click.command()
@click.argument("pool", metavar="POOL")
@click.option("--disk", metavar="DISK", required=True, help="The blank SSD. All of it is written several times.")
@click.option(
    "--hours",
    type=click.FloatRange(LEAST_HOURS, LONGEST_S / HOUR_S),
    default=3.0,
    show_default=True,
    help="How long it may take.",
)
@yes_option
@json_option
@click.pass_context
def reserve(ctx: click.Context, pool: str, disk: str, hours: float, yes: bool, as_json: bool) -> None:
    """Measure what leaving 10, 30 or 50 % of a blank SSD free does to how fast it can be written for long.

    It answers what to give `plan --reserve` for log and cache of POOL. All of the SSD becomes one temporary slice, is
    discarded, and then written with half of it left free, with 30 % and with 10 %: everything once, then scattered.
    POOL is not touched. The slice is gone afterwards, also after a crash: the next probe, or the service, removes what
    its record names.
    """
    services = services_for(ctx)
    host = cleaned_up(services)
    inventory = services.inventory()
    chosen = find_pool(inventory, pool)
    candidate = find_disk(inventory, disk)
    quarter_s = max(int(hours * HOUR_S) // QUARTERS_IN_ALL, 1)
    order = ReserveOrder(str(uuid.uuid4()), chosen.guid, candidate.key, quarter_s)
    if not yes:
        _ask(candidate, order)
    found = measure_reserve(host, order, _tell)
    if as_json:
        finding = {"code": found.finding.code, "sentence": str(found.finding)}
        click.echo(json.dumps({**to_document(found), "finding": finding}, ensure_ascii=False))
        return
    _print(found)


def _ask(disk: Disk, order: ReserveOrder) -> None:
    """Consent, naming what is written to, how much at the least, and what waits meanwhile."""
    least_bytes = sum(disk.identity.size_bytes * (100 - each) // 100 for each in FREE_PERCENTS) * 2
    ask_first(
        "Measure now?",
        f"SSD {disk.label}: all of it is written several times, {size_text(least_bytes)} or more. That wears it.",
        f"It takes up to {duration(order.most_s)}. Until then nothing can be applied or undone on this host, and a "
        "trial that ends is taken back only afterwards. Ctrl-C ends the test and frees the SSD.",
    )


def _tell(progress: ReserveProgress) -> None:
    """Say what begins; on standard error, so that it is not in the way of the answer."""
    left = duration(progress.most_left_s)
    click.echo(f"{progress.free_percent} % free: {PARTS[progress.part]}, at most {left} to go", err=True)


def _print(found: ReserveResult) -> None:
    heading(f"SSD {found.disk}")
    rows = (
        (
            f"{each.free_percent} %",
            size_text(each.area_bytes),
            f"{size_text(int(each.earlier_bytes_per_s))}/s",
            f"{size_text(int(each.later_bytes_per_s))}/s",
            f"{each.written_bytes / each.area_bytes:.1f} x",
            "yes" if each.is_settled else "no",
        )
        for each in found.figures
    )
    table(("FREE", "WRITTEN TO", "EARLIER", "LATER", "WRITTEN OVER", "SETTLED"), rows, ">>>>>>")
    paragraph(str(found.finding))
