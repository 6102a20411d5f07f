"""`nasadvisor curve`: follow what is read of a pool for a while, and say what a cache of each size would serve."""

import json

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.evidence.following import minutes_option, say_what_is_followed
from nasadvisor.cli.services import services_for
from nasadvisor.cli.storage.disks import find_pool
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.curve import CacheCurve, curve_in_words
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.units import MINUTE_S, size_text, terabytes_text
from nasadvisor.stored.documents import to_document


@click.command()
@click.argument("pool", metavar="POOL")
@minutes_option("How long to trace reads. A day tells more than an hour.")
@json_option
@click.pass_context
def curve(ctx: click.Context, pool: str, minutes: int, as_json: bool) -> None:
    """Trace reads and predict the hit rate for each cache size. Needs bpftrace.

    Run it under the usual load. Nothing is written, and no content is looked at: only which blocks are read.
    What it says is a prediction.
    """
    services = services_for(ctx)
    chosen = find_pool(services.inventory(), pool)
    if not as_json:
        say_what_is_followed("reads", chosen, minutes)
    found = services.curve().trace(chosen.guid, minutes * MINUTE_S)
    if as_json:
        knee = found.knee
        words = {"sentence": str(curve_in_words(found)), "knee_bytes": knee.size_bytes if knee else None}
        click.echo(json.dumps({**to_document(found), **words}, ensure_ascii=False))
        return
    _print_curve(found)


def _print_curve(found: CacheCurve) -> None:
    heading(f"Cache for pool {found.traced.pool_name}, predicted from {duration(found.traced.seconds)} of reads")
    paragraph(str(curve_in_words(found)))
    if not found.is_enough:
        return
    knee = found.knee
    rows = (
        (
            f"{size_text(each.size_bytes)}{' *' if each == knee else ''}",
            percent(each.served),
            f"{percent(each.low)} – {percent(each.high)}",
            size_text(found.header_bytes(each.size_bytes)),
            terabytes_text(each.written_bytes_per_year),
        )
        for each in found.points
    )
    table(("CACHE", "OF THE MISSES", "BETWEEN (90 %)", "MEMORY FOR IT", "WRITTEN A YEAR"), rows, ">>>>>")
    memory = found.memory_for(knee.served) if knee else None
    if memory and knee:
        more = size_text(memory.more_bytes)
        paragraph(f"{more} more memory for the ARC would serve {percent(memory.served)}, and faster.")
    paragraph(
        f"{percent(found.first_share)} of the misses were first reads within the trace; the ARC held "
        f"{size_text(found.arc_bytes)}, and {size_text(found.seen_bytes)} of the pool were read at all."
    )
    if found.still_rises:
        paragraph("The curve still rises at its end: a longer trace may find a larger cache worth it.")
