"""`nasadvisor health`: how disks and pools are, asked now; for the terminal, as JSON, and as a plain page to print."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import click

from nasadvisor.cli.errors import ExitCode, Problem, json_option
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.tables import columns_option, heading, paragraph, table
from nasadvisor.cli.watching import findings_in, progress, reading_in
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.sweep import DiskAnswer, SweepOutcome
from nasadvisor.domain.health.urgency import worst_first
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import TERABYTE, size_text

MARKS: Final = {Level.CRITICAL: "CRITICAL ", Level.WARNING: "WARNING  ", Level.INFO: "NOTE     "}
RESULTS: Final = {Level.CRITICAL: "FAILING", Level.WARNING: "WARNING", Level.INFO: "OK"}
NO_RESULT: Final = {
    SweepOutcome.ASLEEP: "asleep",
    SweepOutcome.UNSUPPORTED: "no SMART data",
    SweepOutcome.FAILED: "no answer",
}
HEADS: Final = ("MODEL", "SERIAL", "RESULT", "USED", "WRITTEN", "TEMP", "HOURS", "ERRORS")


@dataclass(frozen=True)
class DiskHealth:
    """One disk: its answer, and the reading in it if there is one."""

    answer: DiskAnswer
    reading: SmartReading | None

    @property
    def result(self) -> str:
        """The worst that is known of it in a word, or why nothing is."""
        levels = [finding.level for finding in findings_in(self.answer, self.reading)]
        worst = next((level for level in RESULTS if level in levels), Level.INFO)
        return NO_RESULT.get(self.answer.outcome) or RESULTS[worst]


@dataclass(frozen=True)
class Health:
    """What was found, the worst first."""

    inventory: Inventory
    disks: tuple[DiskHealth, ...]
    findings: tuple[Finding, ...]

    @property
    def is_well(self) -> bool:
        """Whether nobody needs to do anything."""
        return all(finding.level is Level.INFO for finding in self.findings)


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Print only what needs attention; nothing if all is well.")
@columns_option(*HEADS)
@json_option
@click.pass_context
def health(ctx: click.Context, quiet: bool, columns: str, as_json: bool) -> None:
    """Check the health of all disks and pools. Exit code 5 if something needs attention."""
    found = look(services_for(ctx))
    if as_json:
        click.echo(json.dumps(document_of(found), ensure_ascii=False))
    elif quiet:
        _print_findings(each for each in found.findings if each.level is not Level.INFO)
    else:
        worst = next((each.level for each in found.findings if each.level is not Level.INFO), Level.INFO)
        click.secho(f"{found.inventory.host.node}: {RESULTS[worst]}", bold=True)
        _print_findings(found.findings)
        heading("Disks")
        table(HEADS, map(_row, found.disks), "<<<>>>>>", columns)
    ctx.exit(ExitCode.DONE if found.is_well else ExitCode.ATTENTION)


def write_printed_report(services: Services, path: Path) -> None:
    """A report to print: how disks and pools are now.

    Raises:
        Problem: the file cannot be written.
    """
    from weasyprint import HTML  # noqa: PLC0415 - slow to load, and only needed here

    pdf: bytes = HTML(string=page(document_of(look(services))), url_fetcher=_no_fetching).write_pdf()
    try:
        path.write_bytes(pdf)
    except OSError as error:
        raise Problem(f"The report could not be written to {path}: {error}. Nothing else was changed.") from error


def look(services: Services) -> Health:
    """Read the host and ask every disk; sleeping ones are left asleep."""
    inventory = services.inventory()
    answers: list[DiskAnswer] = []
    with progress("Asking the disks", len(inventory.disks)) as advance:

        def take(part: Sequence[DiskAnswer]) -> None:
            answers.extend(part)
            advance(len(part))

        services.health().sweep(take)
    disks = tuple(DiskHealth(answer, reading_in(answer)) for answer in sorted(answers, key=lambda each: each.disk_key))
    findings = (
        *findings_of(inventory),
        *(finding for disk in disks for finding in findings_in(disk.answer, disk.reading)),
    )
    return Health(inventory, disks, worst_first(findings))


def document_of(found: Health) -> dict[str, Any]:
    """What was found, for other programs; null is unknown."""
    return {
        "node": found.inventory.host.node,
        "read_at": found.inventory.read_at,
        "findings": [
            {"code": each.code, "level": each.level, "subject": each.subject, "text": str(each), "why": each.why}
            for each in found.findings
        ],
        "pools": [_pool_document(pool) for pool in found.inventory.pools],
        "disks": [_disk_document(disk, found.inventory) for disk in found.disks],
    }


def _pool_document(pool: Pool) -> dict[str, Any]:
    scrub = pool.last_scan
    return {
        "name": pool.name,
        "guid": pool.guid,
        "state": pool.state,
        "data_errors": pool.data_errors,
        "size_bytes": pool.size_bytes,
        "allocated_bytes": pool.allocated_bytes,
        "scrub_ended_at": scrub.ended_at if scrub else "",
        "scrub_errors": scrub.errors if scrub else None,
    }


def _disk_document(disk: DiskHealth, inventory: Inventory) -> dict[str, Any]:
    identity, reading = disk.answer.identity, disk.reading
    known = inventory.disk(disk.answer.disk_key)
    return {
        "key": disk.answer.disk_key,
        "model": identity.model,
        "serial": identity.serial,
        "is_rotational": known.rotational if known else False,
        "outcome": disk.answer.outcome,
        "problem": str(disk.answer.problem) if disk.answer.problem else "",
        "power_on_hours": reading.hours if reading else None,
        "percent_used": reading.percent_used if reading else None,
        "bytes_written": reading.bytes_written if reading else None,
        "temperature_celsius": reading.temperature_celsius if reading else None,
        "spare_percent": reading.spare_percent if reading else None,
        "media_errors": reading.media_errors if reading else None,
        "reallocated": reading.reallocated if reading else None,
        "pending": reading.pending if reading else None,
        "indicators": [asdict(one) for one in reading.indicators] if reading else [],
    }


def _print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        paragraph(str(finding), MARKS[finding.level], finding.level)


def _row(disk: DiskHealth) -> tuple[str, ...]:
    identity, reading = disk.answer.identity, disk.reading
    figures = ("-",) * 5
    if reading:
        figures = (
            _figure(reading.percent_used, "{:.0f}%"),
            _figure(reading.bytes_written and reading.bytes_written / TERABYTE, "{:.1f} TB"),
            _figure(reading.temperature_celsius, "{} C"),
            _figure(reading.hours, "{}"),
            _figure(reading.media_errors, "{}"),
        )
    return (identity.model or "-", identity.serial or "-", disk.result, *figures)


def _figure(value: float | None, form: str, unknown: str = "-") -> str:
    return unknown if value is None else form.format(value)


def _printed(value: float | None, form: str) -> str:
    return _figure(value, form, "–")


STYLE: Final = """
@page { size: A4; margin: 18mm 15mm; font: 8pt sans-serif; color: #555; @bottom-left { content: "NAS Advisor" }
  @bottom-right { content: counter(page) " / " counter(pages) } }
body { margin: 0; font: 9.5pt/1.4 sans-serif; font-variant-numeric: tabular-nums }
h1 { font-size: 17pt; margin: 0 } h2 { font-size: 12pt; margin: 6mm 0 2mm; break-after: avoid }
table { width: 100%; border-collapse: collapse } thead { display: table-header-group }
th { text-align: left; color: #555; font-size: 8.5pt }
th, td { border-bottom: .3pt solid #bbb; padding: 1.2mm 2mm 1.2mm 0; vertical-align: top } tr { break-inside: avoid }
.sub { color: #555; font-size: 8.5pt }
.verdict { border: .6pt solid #999; border-left-width: 3pt; border-radius: 1.5mm; padding: 2.5mm 4mm; margin: 3mm 0 }
.verdict strong { font-size: 12.5pt }
"""

SILENT: Final = {
    "asleep": "was asleep and was not woken",
    "unsupported": "reports no health data",
    "failed": "did not answer",
}
"""Why nothing is known of a disk now, by how asking it went (`sweep.SweepOutcome`)."""

SIDEEND: Final = (
    "Sizes are binary as ZFS counts (1 GiB is 1024³ bytes); what was written is decimal as data sheets count (1 TB is "
    "1000⁴ bytes). Used: the share of its rated endurance that an SSD says is used. Reallocated: sectors that the disk "
    "has replaced. Pending: sectors that it cannot read now. –: the disk does not tell."
)

SSD_HEADS: Final = ("Disk", "State", "Used", "Written", "Temperature", "Hours", "Media errors")
HARD_DISK_HEADS: Final = ("Disk", "State", "Reallocated", "Pending", "Temperature", "Hours")


def page(found: dict[str, Any]) -> str:
    """The page; every word of a disk is escaped."""
    findings = [(each["level"], f"{each['text']} {each['why']}") for each in found["findings"]]
    pools = [
        (each["name"], each["state"], _filled(each), _scrubbed(each), each["data_errors"]) for each in found["pools"]
    ]
    ssds = [_ssd(each) for each in found["disks"] if not each["is_rotational"]]
    hard_disks = [_hard_disk(each) for each in found["disks"] if each["is_rotational"]]
    unseen = "".join(f"<br>Not checked: {escape(each)}" for each in gaps(found))
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>NAS Advisor</title><style>{STYLE}</style>"
        f"</head><body><h1>{escape(found['node'])}</h1><p class='sub'>NAS Advisor, {escape(found['read_at'])}</p>"
        f"<div class='verdict'><strong>{escape(verdict(found))}</strong>"
        f"<div class='sub'>Pools and disks asked {escape(found['read_at'])}.{unseen}</div></div>"
        f"<h2>Needs attention</h2>{_html_table(('Level', 'What'), findings) if findings else '<p>Nothing.</p>'}"
        f"<h2>Pools</h2>{_html_table(('Pool', 'State', 'Used', 'Last scrub', 'Damaged files'), pools)}"
        f"<h2>SSDs</h2>{_html_table(SSD_HEADS, ssds)}<h2>Hard disks</h2>{_html_table(HARD_DISK_HEADS, hard_disks)}"
        f"<p class='sub'>{SIDEEND}</p></body></html>"
    )


def verdict(found: dict[str, Any]) -> str:
    """The worst that was found, in one sentence; that nothing was, only where everything was looked at."""
    worst = next((each for each in found["findings"] if each["level"] != Level.INFO), None)
    if worst:
        return f"{str(worst['level']).capitalize()}: {worst['text']}"
    return "No open alerts, but some checks are incomplete." if gaps(found) else "Nothing needs attention."


def gaps(found: dict[str, Any]) -> list[str]:
    """What was not looked at, in sentences."""
    return [
        f"{each['model']} {each['serial']} {SILENT.get(each['outcome'], 'was not asked')}."
        for each in found["disks"]
        if each["outcome"] != "read"
    ]


def _filled(pool: dict[str, Any]) -> str:
    used, size = pool["allocated_bytes"], pool["size_bytes"]
    return f"{used / size:.0%} ({size_text(used)} of {size_text(size)})".replace("%", " %") if size else "–"


def _scrubbed(pool: dict[str, Any]) -> str:
    if not pool["scrub_ended_at"]:
        return "none on record"
    errors = pool["scrub_errors"]
    return f"{pool['scrub_ended_at'][:10]}, {errors or 'no'} error{'' if errors == 1 else 's'}"


def _ssd(disk: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{disk['model']} {disk['serial']}",
        disk["outcome"],
        _printed(disk["percent_used"], "{:.0f} %"),
        _printed(disk["bytes_written"] and disk["bytes_written"] / TERABYTE, "{:.1f} TB"),
        _printed(disk["temperature_celsius"], "{} °C"),
        _printed(disk["power_on_hours"], "{:,}"),
        _printed(disk["media_errors"], "{}"),
    )


def _hard_disk(disk: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{disk['model']} {disk['serial']}",
        disk["outcome"],
        _printed(disk["reallocated"], "{:,}"),
        _printed(disk["pending"], "{:,}"),
        _printed(disk["temperature_celsius"], "{} °C"),
        _printed(disk["power_on_hours"], "{:,}"),
    )


def _html_table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = "".join(_line("td", row) for row in rows)
    return f"<table><thead>{_line('th', heads)}</thead><tbody>{lines}</tbody></table>" if lines else "<p>None.</p>"


def _line(tag: str, cells: tuple[Any, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _no_fetching(url: str, **_options: object) -> None:
    """A report holds all it needs."""
    raise ValueError(f"Reports fetch nothing: {url}")
