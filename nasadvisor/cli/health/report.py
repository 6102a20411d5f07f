"""`nasadvisor report`: what was measured without a log and with one, side by side; or health, to print."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.health.sweep import write_printed_report
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_pool
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.figures import milliseconds, rate
from nasadvisor.domain.units import size_text
from nasadvisor.host.evidence.measuring.records import kept_measurements


@dataclass(frozen=True)
class LoadLine:
    """One kind of load. Rates are operations a second; 0 where nothing was measured or predicted."""

    block_bytes: int
    writers: int
    without_per_s: float
    with_per_s: float
    without_p99_ns: float
    with_p99_ns: float
    expected_low_per_s: float = 0.0
    expected_high_per_s: float = 0.0

    @property
    def gain(self) -> str:
        """How many times as much."""
        return f"x {self.with_per_s / self.without_per_s:.1f}" if self.without_per_s else "-"


@click.command()
@click.argument("pool", metavar="[POOL]", required=False)
@click.option("--pdf", type=click.Path(path_type=Path, dir_okay=False), help="Write the current health to a PDF.")
@json_option
@click.pass_context
def report(ctx: click.Context, pool: str | None, pdf: Path | None, as_json: bool) -> None:
    """Compare the last `probe` of POOL without a log with the last one with a log; or print health with --pdf.

    Forecasts are in the web console, which has the history.
    """
    services = services_for(ctx)
    if not pool and not pdf:
        raise click.UsageError("Name a pool whose probes are compared, or a file for the health report with --pdf.")
    if pdf:
        write_printed_report(services, pdf)
        click.echo(f"Wrote {pdf}.", err=True)
    if pool:
        _compare(services, pool, as_json)


def _compare(services: Services, pool: str, as_json: bool) -> None:
    chosen = find_pool(services.inventory(), pool)
    found = [each for each in kept_measurements(services.config().measurements) if each.order.pool_guid == chosen.guid]
    without, having = _last(found, had_log=False), _last(found, had_log=True)
    lines = tuple(_lines(without, having)) if without and having else ()
    if as_json:
        times = {"without": without.probe.at if without else "", "with": having.probe.at if having else ""}
        click.echo(json.dumps({"pool": chosen.name, **times, "lines": [asdict(line) for line in lines]}))
        return
    if not without or not having:
        missing = "without a log" if not without else "with a log"
        paragraph(f"Pool {chosen.name} was not measured {missing} yet. Do it with: nasadvisor probe {chosen.name}", "")
        return
    heading(f"Pool {chosen.name}: {without.probe.at} without a log, {having.probe.at} with one")
    heads = ("BLOCK", "WRITERS", "WITHOUT", "EXPECTED", "WITH", "GAIN", "P99 WITHOUT", "P99 WITH")
    table(heads, (_row(line) for line in lines), ">>>>>>>>")


def _last(found: list[Measurement], *, had_log: bool) -> Measurement | None:
    """The newest one; of those without a log rather one that predicted something."""
    fitting = [each for each in found if each.probe.had_log is had_log]
    predicting = [each for each in fitting if each.predictions]
    return next(reversed(predicting or fitting), None)


def _lines(without: Measurement, having: Measurement) -> Iterator[LoadLine]:
    later = {(each.block_bytes, each.writers): each for each in having.probe.figures}
    expected = {(each.block_bytes, each.writers): each.after_per_s for each in without.predictions}
    for figures in without.probe.figures:
        key = (figures.block_bytes, figures.writers)
        if key not in later:
            continue
        bounds = expected.get(key)
        yield LoadLine(
            *key,
            without_per_s=figures.operations_per_s,
            with_per_s=later[key].operations_per_s,
            without_p99_ns=figures.sync_p99_ns,
            with_p99_ns=later[key].sync_p99_ns,
            expected_low_per_s=bounds.low if bounds else 0.0,
            expected_high_per_s=bounds.high if bounds else 0.0,
        )


def _row(line: LoadLine) -> tuple[str, ...]:
    bounds = f"{rate(line.expected_low_per_s)}–{rate(line.expected_high_per_s)}/s"
    return (
        size_text(line.block_bytes),
        str(line.writers),
        f"{rate(line.without_per_s)}/s",
        bounds if line.expected_high_per_s else "-",
        f"{rate(line.with_per_s)}/s",
        line.gain,
        milliseconds(line.without_p99_ns),
        milliseconds(line.with_p99_ns),
    )
