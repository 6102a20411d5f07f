"""`nasadvisor advise`: watch a pool for a while and say whether a log or a cache would help what runs now."""

import json
from dataclasses import replace
from typing import Any

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.evidence.metadata import count_metadata, metadata_document, print_metadata
from nasadvisor.cli.evidence.options import ANSWERS, options_document, print_options
from nasadvisor.cli.evidence.shopping import prices_in, print_shopping, shopping_document
from nasadvisor.cli.evidence.who_waits import print_who_waits, waited_lately, who_waits_document
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_pool
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.cli.watching import watch
from nasadvisor.domain.evidence.commits import SsdTime
from nasadvisor.domain.evidence.measuring.measurement import tested_ssd
from nasadvisor.domain.evidence.metadata_count import LONGEST_S, SHORTEST_S
from nasadvisor.domain.evidence.options import Known, Option, has_raidz, known_of
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.recommendation import Recommendation
from nasadvisor.domain.evidence.shopping import Price, shopping_of, yearly_costs
from nasadvisor.domain.evidence.thresholds import SPOT
from nasadvisor.domain.evidence.tracing import WaitingProgram, WaitingPrograms
from nasadvisor.domain.evidence.verdict import Device, Verdict
from nasadvisor.domain.evidence.workload import Workload, workload_of
from nasadvisor.domain.figures import duration, milliseconds, percent, rate
from nasadvisor.domain.fleet.platforms import in_evidence
from nasadvisor.domain.health.wear.ingest import Ingest, expected_ingest
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import MINUTE_S, gigabytes_text, size_text
from nasadvisor.host.evidence.measuring.records import kept_measurements
from nasadvisor.stored.documents import to_document

NAMES = {Device.LOG: "Log (SLOG)", Device.CACHE: "Cache (L2ARC)"}
DATASETS_SHOWN = 12
PROGRAMS_SHOWN = 12


@click.command()
@click.argument("pool", metavar="POOL")
@click.option("--seconds", type=click.IntRange(20, 86400), default=50, show_default=True, help="How long to watch.")
@click.option(
    "--every", type=click.IntRange(1, 600), default=5, show_default=True, help="Seconds between two readings."
)
@click.option("--programs", is_flag=True, help="Then trace which programs on this host wait. Needs bpftrace.")
@click.option(
    "--metadata",
    is_flag=True,
    help="Then count POOL's blocks with zdb, which reads all its metadata: minutes to hours, at the lowest priority.",
)
@click.option(
    "--minutes",
    type=click.IntRange(SHORTEST_S // MINUTE_S, LONGEST_S // MINUTE_S),
    default=60,
    show_default=True,
    help="With --metadata: when to stop counting.",
)
@click.option(
    "--price",
    "prices",
    metavar="CHOICE=EACH[:TB]",
    multiple=True,
    callback=prices_in,
    help="What an SSD costs, and the TB it is rated for: log=89:700, cache=60:300; or a GiB of memory: memory=5.",
)
@json_option
@click.pass_context
def advise(
    ctx: click.Context,
    pool: str,
    seconds: int,
    every: int,
    programs: bool,
    metadata: bool,
    minutes: int,
    prices: dict[Option, Price],
    as_json: bool,
) -> None:
    """Watch POOL and say whether a log or a cache would help. Run it under the usual load."""
    services = services_for(ctx)
    inventory = services.inventory()
    chosen = find_pool(inventory, pool)
    if not as_json:
        click.echo(f"Watching pool {chosen.name} for {duration(seconds)} …", err=True)
    sample, facts = watch(services, chosen, seconds, every)
    rewritten = in_evidence(services.platforms(inventory).rewrites, chosen.name, sample.at - seconds)
    workload = workload_of(sample, facts)
    ingest = expected_ingest(workload, facts)
    counted = count_metadata(services, chosen, facts, minutes) if metadata else None
    known = replace(
        known_of(workload, facts, SPOT, _tested(services, chosen)),
        log_bytes_per_day=ingest.log,
        cache_bytes_per_day=ingest.cache,
        has_raidz=has_raidz(chosen),
        counted=counted,
    )
    choices = options_of(known)
    to_buy, costs = shopping_of(known, choices), yearly_costs(choices, prices)
    waited = waited_lately(services, chosen, sample.at)
    if programs and not as_json:
        click.echo("Tracing which programs wait …", err=True)
    waiting = services.watch_waiting() if programs else None
    if as_json:
        bought = {"options": options_document(choices), "shopping": shopping_document(to_buy, costs)}
        parts = {**_document(known, ingest, waiting), **bought, "metadata": metadata_document(known)}
        parts["rewrites"] = str(rewritten or "")
        parts["who_waits"] = who_waits_document(waited, choices)
        click.echo(json.dumps(parts, ensure_ascii=False))
        return
    if rewritten:
        paragraph(f"Mind: {rewritten}")
    print_options(choices)
    print_who_waits(waited, choices)
    print_metadata(known)
    for verdict in known.verdicts:
        _print_verdict(verdict)
    _print_datasets(workload)
    if waiting:
        _print_programs(waiting)
    _print_sizes(known)
    _print_ingest(ingest)
    print_shopping(to_buy, costs)
    click.echo()
    seen = duration(workload.seconds)
    paragraph(
        f"This covers only these {seen}. The web interface collects data all the time and judges a whole day.", ""
    )


def _tested(services: Services, pool: Pool) -> SsdTime:
    """The time of the SSD that was tested last for POOL on this host."""
    kept = kept_measurements(services.config().measurements)
    return tested_ssd(each for each in reversed(kept) if each.probe.pool_guid == pool.guid)


def _document(known: Known, ingest: Ingest, waiting: WaitingPrograms | None) -> dict[str, Any]:
    workload, cache = known.workload, known.cache_size
    return {
        "pool": known.facts.name,
        "seconds": workload.seconds,
        "verdicts": [{**to_document(each), "sentence": str(each.rule)} for each in known.verdicts],
        "datasets": [{**to_document(each), "reach": each.reach.value} for each in workload.datasets],
        "commit_time": to_document(workload.commit_time) if workload.commit_time else None,
        "busy_commits_per_s": workload.busy_commits_per_s,
        "written_per_day": to_document(ingest),
        "waiting": to_document(waiting) if waiting else None,
        "recommended": {"log": _size(known.log_size), "cache": _size(cache) if cache else None},
    }


def _size(found: Recommendation) -> dict[str, Any]:
    return {"bytes": found.size_bytes, "because": str(found.because), "is_measured": found.is_measured}


def _print_verdict(verdict: Verdict) -> None:
    heading(f"{NAMES[verdict.device]}: {ANSWERS[verdict.answer]}")
    paragraph(str(verdict.rule))
    if verdict.wait_s:
        paragraph(f"Watch for another {duration(verdict.wait_s)} under the usual load.")
    for step in verdict.before:
        paragraph(f"First: {step}")
    for fact in verdict.beside:
        paragraph(f"Mind: {fact}")
    paragraph(f"Rule: {verdict.rule.code}")
    for row in verdict.evidence:
        source = f"  [{row.source}]" if row.source else ""
        paragraph(f"{row.what}: {row.value}{source}", "    ")


def _print_datasets(workload: Workload) -> None:
    heading("Who writes")
    if not workload.datasets:
        paragraph("Nothing was written or read.")
        return
    rows = (
        (
            each.name,
            rate(each.commits_per_s),
            size_text(int(each.sync_bytes_per_s)),
            size_text(int(each.written_bytes_per_s)),
            each.facts.sync if each.facts else "?",
            each.facts.logbias if each.facts else "?",
            size_text(each.facts.block_bytes) if each.facts else "?",
            percent(each.log_share),
        )
        for each in workload.datasets[:DATASETS_SHOWN]
    )
    heads = ("DATASET", "COMMITS/S", "SYNC/S", "WRITTEN/S", "SYNC", "LOGBIAS", "BLOCK", "ON LOG")
    table(heads, rows, "<>>><<>>")


def _print_programs(waiting: WaitingPrograms) -> None:
    heading(f"Which programs wait (whole host, {duration(waiting.seconds)})")
    if not waiting.programs:
        paragraph("None: no program asked for a synchronous write.")
        return
    rows = (
        (
            each.program,
            str(each.processes),
            str(each.pid),
            rate(waiting.per_second(each.fsyncs)),
            rate(waiting.per_second(each.commits)),
            _wait_of(each),
        )
        for each in waiting.programs[:PROGRAMS_SHOWN]
    )
    table(("PROGRAM", "PROCESSES", "PID", "FSYNC/S", "COMMITS/S", "EACH WAITS"), rows, "<>>>>>")


def _wait_of(program: WaitingProgram) -> str:
    if program.is_not_obeyed:
        return "never"
    return "?" if program.mean_wait_ns is None else milliseconds(program.mean_wait_ns)


def _print_sizes(known: Known) -> None:
    heading("Sizes for a new log or cache")
    log, cache = known.log_size, known.cache_size
    paragraph(f"Log: {size_text(log.size_bytes)}, {log.because}")
    if cache:
        paragraph(f"Caches together: {size_text(cache.size_bytes)}, {cache.because}")


def _print_ingest(ingest: Ingest) -> None:
    heading("Expected writes per day")
    paragraph(f"Each side of a log: {gigabytes_text(ingest.log)}.")
    cache, limit = gigabytes_text(ingest.cache), gigabytes_text(ingest.cache_limit)
    paragraph(f"One cache: {cache} at the current ARC eviction rate; {limit} at most, at the feed limit.")
    if ingest.cache_fills_s:
        paragraph(f"At that it takes {duration(ingest.cache_fills_s)} to fill.")
    paragraph("Several caches share that. The preview in the web interface shows the effect on the wear of each SSD.")
