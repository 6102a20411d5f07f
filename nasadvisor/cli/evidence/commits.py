"""`nasadvisor commits`: follow what the programs of a pool make durable, so that it can be replayed on an SSD."""

import json

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.evidence.following import minutes_option, say_what_is_followed
from nasadvisor.cli.services import services_for
from nasadvisor.cli.storage.disks import find_pool
from nasadvisor.cli.tables import heading, paragraph
from nasadvisor.domain.evidence.commits import CommitTrace, Replayed
from nasadvisor.domain.figures import duration, milliseconds, rate
from nasadvisor.domain.units import MINUTE_S, size_text, terabytes_text
from nasadvisor.stored.documents import to_document


@click.command()
@click.argument("pool", metavar="POOL")
@minutes_option("How long to follow them. Take an hour in which the pool is busy.")
@json_option
@click.pass_context
def commits(ctx: click.Context, pool: str, minutes: int, as_json: bool) -> None:
    """Follow what POOL's programs commit, so that `probe --disk` replays it on an SSD. Needs bpftrace.

    Run it while the pool does its work. No content is looked at: only how large each block of the ZIL is, when it comes
    and how long it takes. The busiest minutes are kept on this host until the next trace.
    """
    services = services_for(ctx)
    chosen = find_pool(services.inventory(), pool)
    if not as_json:
        say_what_is_followed("commits", chosen, minutes)
    found = services.commits().trace(chosen.guid, minutes * MINUTE_S)
    if as_json:
        click.echo(json.dumps(to_document(found), ensure_ascii=False))
        return
    _print_trace(found)


def _print_trace(found: CommitTrace) -> None:
    heading(f"Commits of pool {found.pool_name}, followed for {duration(found.seconds)}")
    paragraph(
        f"{rate(found.blocks_per_s)} blocks/s went to the ZIL, {size_text(found.written_bytes)} in all: "
        f"{terabytes_text(found.bytes_per_year)} in a year like this."
    )
    if not found.is_enough:
        paragraph("That is too little to be replayed on an SSD. Follow them when the pool is busier.")
        return
    count, blocks = len(found.busiest.sizes), found.busiest
    paragraph(
        f"Kept: {count} blocks of the busiest part, within {duration(max(blocks.seconds, 1))}, {blocks.most_at_once} "
        f"at once at most. On the pool a block and its flush took {milliseconds(found.p50_ns)} (median), "
        f"{milliseconds(found.p99_ns)} (99 in 100)."
    )
    paragraph(f"What a blank SSD makes of them: nasadvisor probe {found.pool_name} --disk DISK")


def print_replayed(found: Replayed) -> None:
    """What an SSD made of a pool's own commits, for `nasadvisor probe`."""
    heading("Your commits, replayed on this SSD")
    paragraph(
        f"A block and its flush took {milliseconds(found.p50_ns)} (median), {milliseconds(found.p99_ns)} (99 in 100); "
        f"on the pool it was {milliseconds(found.pool_p50_ns)} and {milliseconds(found.pool_p99_ns)}."
    )
    paragraph("It is the time of the SSD alone: what OpenZFS itself needs is in that of the pool and comes on top.")
    kept = "The SSD kept up" if found.kept_up else "The SSD did not keep up"
    paragraph(
        f"{kept}: {found.blocks} blocks, {found.most_at_once} at once at most, came within "
        f"{duration(max(found.recorded_s, 1))} and took {duration(max(found.played_s, 1))}. "
        f"As a log it would be written {terabytes_text(found.bytes_per_year)} in a year like this."
    )
