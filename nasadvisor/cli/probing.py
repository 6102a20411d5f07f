"""`nasadvisor probe`: the measurements that write. A pool on a dataset of its own, an SSD on a slice of its own."""

import json
import sys
import uuid
from datetime import UTC, datetime
from typing import Any

import click

from nasadvisor.cli.disks import find_disk, find_pool
from nasadvisor.cli.errors import Misuse, Refusal, json_option
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.documents import to_document
from nasadvisor.domain.figures import milliseconds, rate
from nasadvisor.domain.inventory import Disk, Pool
from nasadvisor.domain.plan import PlanIds, PlanRequest
from nasadvisor.domain.prediction import Prediction, predict
from nasadvisor.domain.probing import CandidateResult, FioFigures, ProbeResult, against_probe
from nasadvisor.domain.samples import Sample
from nasadvisor.domain.units import GIB, zfs_size
from nasadvisor.domain.workload import CommitTime, workload_of
from nasadvisor.host.candidate import clean_up_candidates, measure_candidate
from nasadvisor.host.probe import clean_up_probes, probe_pool

LOOK_S = 5
"""How long it is looked first whether the pool is quiet."""

TEST_SLICE_BYTES = 32 * GIB
"""More than the fast cache of most SSDs; a smaller SSD is tested with what it has."""

SHARE_FOR_TEST = 0.8


@click.command()
@click.argument("pool", metavar="POOL")
@click.option("--disk", metavar="DISK", help="Test this blank SSD too, and predict what a log on it would do for POOL.")
@click.option("--seconds", type=click.IntRange(1, 300), default=10, show_default=True, help="For each measurement.")
@click.option(
    "--size", "size_gib", type=click.IntRange(1, 512), help="GiB of the SSD to test; 32 unless it is smaller."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def probe(
    ctx: click.Context, pool: str, disk: str | None, seconds: int, size_gib: int | None, yes: bool, as_json: bool
) -> None:
    """Measure synchronous writes on POOL, on a temporary dataset; with --disk also on a blank SSD.

    Nothing but the temporary dataset and the SSD's temporary slice is written to. Both are gone afterwards, also after
    a crash: the next probe, or the service, removes what its record names.
    """
    services = services_for(ctx)
    for removed in (*clean_up_probes(services.probe_host()), *clean_up_candidates(services.candidate_host())):
        click.echo(f"Removed what an interrupted measurement left: {removed}", err=True)
    inventory = services.inventory()
    chosen = find_pool(inventory, pool)
    candidate = find_disk(inventory, disk) if disk else None
    _check(services, chosen)
    if not yes:
        _ask(chosen, candidate)
    result, commit = _probe(services, chosen, seconds)
    tested = _test(services, chosen, candidate, seconds, size_gib) if candidate else None
    predictions = predict(result, commit, tested) if tested and commit else ()
    if as_json:
        click.echo(json.dumps(_document(result, commit, tested, predictions), ensure_ascii=False))
        return
    _print_probe(result)
    if tested:
        _print_candidate(tested)
        _print_predictions(predictions)


def _check(services: Services, pool: Pool) -> None:
    """Refuse a pool that is unwell, full or busy; looking takes some seconds."""
    refusals = list(against_probe(pool, None))
    if not refusals:
        refusals = list(against_probe(pool, _look(services, pool, LOOK_S)))
    if refusals:
        raise Refusal("\n".join(str(refusal) for refusal in refusals))


def _look(services: Services, pool: Pool, seconds: float) -> Sample | None:
    sampler = services.sampler()
    sampler.sample()
    services.wait(seconds)
    return next((each for each in sampler.sample().samples if each.pool_guid == pool.guid), None)


def _ask(pool: Pool, disk: Disk | None) -> None:
    """Consent, naming what is written to."""
    if not sys.stdin.isatty():
        raise Misuse("There is no terminal to ask on. Add --yes if this shall be done.")
    click.echo(f"Pool {pool.name}: a dataset of at most 2G is made, written to and destroyed.", err=True)
    if disk:
        click.echo(f"SSD {disk.label}: it is written to for some minutes, which wears it a little.", err=True)
    if not click.confirm("Measure now?", err=True):
        raise Refusal("Nothing was changed.")


def _probe(services: Services, pool: Pool, seconds: int) -> tuple[ProbeResult, CommitTime | None]:
    """The probe, and what the pool's disks took meanwhile."""
    sampler = services.sampler()
    facts = [each for each in sampler.sample().facts if each.guid == pool.guid]
    result = probe_pool(services.probe_host(), pool, uuid.uuid4().hex[:12], seconds)
    sample = next((each for each in sampler.sample().samples if each.pool_guid == pool.guid), None)
    return result, workload_of(sample, facts[-1]).commit_time if sample and facts else None


def _test(services: Services, pool: Pool, disk: Disk, seconds: int, size_gib: int | None) -> CandidateResult:
    size = size_gib * GIB if size_gib else min(TEST_SLICE_BYTES, int(disk.identity.size_bytes * SHARE_FOR_TEST))
    request = PlanRequest(pool.guid, (disk.key,), size, reserve_percent=0)
    uuids = tuple(str(uuid.uuid4()) for _ in range(PlanIds.uuids_needed(request)))
    ids = PlanIds(str(uuid.uuid4()), datetime.now(UTC).isoformat(timespec="seconds"), uuids)
    return measure_candidate(services.candidate_host(), request, ids, seconds)


def _document(
    result: ProbeResult, commit: CommitTime | None, tested: CandidateResult | None, predictions: tuple[Prediction, ...]
) -> dict[str, Any]:
    return {
        "probe": to_document(result),
        "commit_time": to_document(commit) if commit else None,
        "candidate": to_document(tested) if tested else None,
        "predictions": [to_document(each) for each in predictions],
    }


def _print_probe(result: ProbeResult) -> None:
    heading(f"Pool {result.pool_name}, {'with' if result.had_log else 'without'} a log")
    _print_figures(result.figures)


def _print_candidate(result: CandidateResult) -> None:
    heading(f"SSD {result.disk}")
    first, last = (f"{zfs_size(int(each))}/s" for each in (result.first_bytes_per_s, result.last_bytes_per_s))
    paragraph(f"Plain writing: {first} at first, {last} at last; {zfs_size(result.written_bytes)} written in all.")
    _print_figures(result.figures)


def _print_figures(figures: tuple[FioFigures, ...]) -> None:
    rows = (
        (
            zfs_size(each.block_bytes),
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
    heading("With a log on this SSD, expected")
    if not predictions:
        paragraph("Nothing can be predicted: the pool's own latency could not be read while it was probed.")
        return
    rows = (
        (
            zfs_size(each.block_bytes),
            str(each.writers),
            f"{rate(each.before_per_s)}/s",
            f"{rate(each.after_per_s.low)}–{rate(each.after_per_s.high)}/s",
            f"{milliseconds(each.after_ns.low)} – {milliseconds(each.after_ns.high)}",
        )
        for each in predictions
    )
    table(("BLOCK", "WRITERS", "NOW", "THEN", "COMMIT"), rows, ">>>>>")
