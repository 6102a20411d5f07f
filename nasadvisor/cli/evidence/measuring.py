"""`nasadvisor probe`: the measurements that write. A pool on a dataset of its own, an SSD on a slice of its own."""

import json
import uuid
from typing import Any, Final

import click

from nasadvisor.cli.change.runs import ask_first, yes_option
from nasadvisor.cli.errors import json_option
from nasadvisor.cli.evidence.following import minutes_option, say_what_is_followed
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_disk, find_pool
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.log_blocks import CommitTrace, Replayed
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress, Stage
from nasadvisor.domain.evidence.measuring.prediction import Prediction
from nasadvisor.domain.evidence.measuring.probing import CandidateResult, FioFigures, ProbeResult
from nasadvisor.domain.figures import duration, milliseconds, rate
from nasadvisor.domain.storage.inventory import Disk, Pool
from nasadvisor.domain.units import GIB, MINUTE_S, size_text, terabytes_text
from nasadvisor.host.evidence.measuring.measure import MeasureHost, clean_up, measure
from nasadvisor.stored.documents import to_document


@click.command()
@click.argument("pool", metavar="POOL")
@minutes_option("How long to trace them. Choose an hour in which the pool is busy.")
@json_option
@click.pass_context
def commits(ctx: click.Context, pool: str, minutes: int, as_json: bool) -> None:
    """Record POOL's synchronous writes for replay with `probe --disk`. Needs bpftrace.

    Run it under the usual load. No content is looked at: only how large each block of the ZIL is, when it comes
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
    heading(f"Commits of pool {found.pool_name}, traced for {duration(found.seconds)}")
    paragraph(
        f"{rate(found.blocks_per_s)} blocks/s went to the ZIL, {size_text(found.written_bytes)} in all: "
        f"{terabytes_text(found.bytes_per_year)} per year at this rate."
    )
    if not found.is_enough:
        paragraph("That is too little to replay on an SSD. Trace them when the pool is busier.")
        return
    count, blocks = len(found.busiest.sizes), found.busiest
    paragraph(
        f"Kept: {count} blocks of the busiest part, within {duration(max(blocks.seconds, 1))}, {blocks.most_at_once} "
        f"at once at most. On the pool a block and its flush took {milliseconds(found.p50_ns)} (median), "
        f"{milliseconds(found.p99_ns)} (99 in 100)."
    )
    paragraph(f"To replay them on a blank SSD: nasadvisor probe {found.pool_name} --disk DISK")


def print_replayed(found: Replayed) -> None:
    """What an SSD made of a pool's own commits, for `nasadvisor probe`."""
    heading("Your commits, replayed on this SSD")
    paragraph(
        f"A block and its flush took {milliseconds(found.p50_ns)} (median), {milliseconds(found.p99_ns)} (99 in 100); "
        f"on the pool it was {milliseconds(found.pool_p50_ns)} and {milliseconds(found.pool_p99_ns)}."
    )
    paragraph(
        "These figures cover the SSD alone. The pool figures also include the overhead of OpenZFS, which comes on top."
    )
    kept = "The SSD kept up" if found.kept_up else "The SSD did not keep up"
    paragraph(
        f"{kept}: {found.blocks} blocks, {found.most_at_once} at once at most, came within "
        f"{duration(max(found.recorded_s, 1))} and took {duration(max(found.played_s, 1))}. "
        f"As a log, it would take {terabytes_text(found.bytes_per_year)} of writes per year at this rate."
    )


STAGES: Final = {
    Stage.LOOK: "Checking whether the pool is quiet",
    Stage.PROBE: "Writing to the pool",
    Stage.FILL: "Filling the fast cache of the SSD",
    Stage.TEST: "Writing a log workload to the SSD",
    Stage.REPLAY: "Replaying your commits on the SSD",
}


@click.command()
@click.argument("pool", metavar="POOL")
@click.option("--disk", metavar="DISK", help="Test this blank SSD too, and predict what a log on it would do for POOL.")
@click.option("--seconds", type=click.IntRange(1, 300), default=10, show_default=True, help="For each measurement.")
@click.option(
    "--size", "size_gib", type=click.IntRange(1, 512), help="GiB of the SSD to test; 32 unless it is smaller."
)
@yes_option
@json_option
@click.pass_context
def probe(
    ctx: click.Context, pool: str, disk: str | None, seconds: int, size_gib: int | None, yes: bool, as_json: bool
) -> None:
    """Measure synchronous writes on POOL, on a temporary dataset; with --disk also on a blank SSD.

    With --disk, commits of POOL that were followed (`nasadvisor commits`) are replayed on the SSD as they came.

    Nothing but the temporary dataset and the SSD's temporary slice is written to. Both are gone afterwards, also after
    a crash: the next probe, or the service, removes what its record names.
    """
    services = services_for(ctx)
    host = cleaned_up(services)
    inventory = services.inventory()
    chosen = find_pool(inventory, pool)
    candidate = find_disk(inventory, disk) if disk else None
    if not yes:
        _ask(chosen, candidate)
    size = size_gib * GIB if size_gib else 0
    order = MeasureOrder(str(uuid.uuid4()), chosen.guid, candidate.key if candidate else "", seconds, size)
    found = measure(host, order, _tell)
    if as_json:
        click.echo(json.dumps(_document(found), ensure_ascii=False))
        return
    _print_probe(found.probe)
    if found.candidate:
        _print_candidate(found.candidate)
        if found.candidate.replayed:
            print_replayed(found.candidate.replayed)
        if found.suitability:
            paragraph(str(found.suitability))
        _print_predictions(found.predictions)


def cleaned_up(services: Services) -> MeasureHost:
    """The host as measurements see it, after what interrupted ones left is gone, which is told."""
    host = services.measure_host()
    for removed in clean_up(host):
        click.echo(f"Removed the remains of an interrupted measurement: {removed}", err=True)
    return host


def _ask(pool: Pool, disk: Disk | None) -> None:
    """Consent, naming what is written to."""
    on_pool = f"Pool {pool.name}: a dataset of at most 2 GiB is created, written to and destroyed."
    on_disk = (f"SSD {disk.label}: some minutes of writing, which wear it slightly.",) if disk else ()
    ask_first("Measure now?", on_pool, *on_disk)


def _tell(progress: MeasureProgress) -> None:
    """Say what begins; on standard error, so that it is not in the way of the answer."""
    part = f" {progress.number}/{progress.count}" if progress.count > 1 else ""
    click.echo(f"{STAGES[progress.stage]}{part}, about {duration(progress.left_s)} to go", err=True)


def _document(found: Measurement) -> dict[str, Any]:
    thought = found.suitability
    return {
        **to_document(found),
        "suitability": {"code": thought.code, "sentence": str(thought)} if thought else None,
        "predictions": [to_document(each) for each in found.predictions],
    }


def _print_probe(result: ProbeResult) -> None:
    heading(f"Pool {result.pool_name}, {'with' if result.had_log else 'without'} a log")
    _print_figures(result.figures)


def _print_candidate(result: CandidateResult) -> None:
    heading(f"SSD {result.disk}")
    first, last = (f"{size_text(int(each))}/s" for each in (result.first_bytes_per_s, result.last_bytes_per_s))
    paragraph(f"Plain writing: {first} at first, {last} at last; {size_text(result.written_bytes)} written in all.")
    _print_figures(result.figures)


def _print_figures(figures: tuple[FioFigures, ...]) -> None:
    rows = (
        (
            size_text(each.block_bytes),
            str(each.writers),
            f"{rate(each.operations_per_s)}/s",
            milliseconds(each.sync_p50_ns),
            milliseconds(each.sync_p95_ns),
            milliseconds(each.sync_p99_ns),
        )
        for each in figures
    )
    table(("BLOCK", "WRITERS", "SYNC WRITES", "P50", "P95", "P99"), rows, ">>>>>>")


def _print_predictions(predictions: tuple[Prediction, ...]) -> None:
    heading("Expected with a log on this SSD")
    if not predictions:
        paragraph("No prediction: the pool's own latency could not be read during the measurement.")
        return
    rows = (
        (
            size_text(each.block_bytes),
            str(each.writers),
            f"{rate(each.before_per_s)}/s",
            f"{rate(each.after_per_s.low)}–{rate(each.after_per_s.high)}/s",
            f"{milliseconds(each.after_ns.low)} – {milliseconds(each.after_ns.high)}",
        )
        for each in predictions
    )
    table(("BLOCK", "WRITERS", "NOW", "THEN", "COMMIT"), rows, ">>>>>")
