"""`nasadvisor health`: how disks and pools are, asked now."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import click

from nasadvisor.cli.errors import ExitCode, Problem, json_option
from nasadvisor.cli.health.printed import printed_report
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.cli.watching import findings_in, reading_in
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.domain.health.urgency import worst_first
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import TERABYTE

MARKS: Final = {Level.CRITICAL: "CRITICAL ", Level.WARNING: "WARNING  ", Level.INFO: "NOTE     "}


@dataclass(frozen=True)
class DiskHealth:
    """One disk: its answer, and the reading in it if there is one."""

    answer: DiskAnswer
    reading: SmartReading | None


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
@json_option
@click.pass_context
def health(ctx: click.Context, as_json: bool) -> None:
    """Check the health of all disks and pools. Exit code 5 if something needs attention."""
    found = look(services_for(ctx))
    if as_json:
        click.echo(json.dumps(document_of(found), ensure_ascii=False))
    else:
        _print(found)
    ctx.exit(ExitCode.DONE if found.is_well else ExitCode.ATTENTION)


def write_printed_report(services: Services, path: Path) -> None:
    """A report to print: how disks and pools are now.

    Raises:
        Problem: the file cannot be written.
    """
    found = look(services)
    try:
        path.write_bytes(printed_report(document_of(found)))
    except OSError as error:
        raise Problem(f"The report could not be written to {path}: {error}. Nothing else was changed.") from error


def look(services: Services) -> Health:
    """Read the host and ask every disk; sleeping ones are left asleep."""
    inventory = services.inventory()
    answers: list[DiskAnswer] = []
    services.health().sweep(answers.extend)
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


def _print(found: Health) -> None:
    for finding in found.findings:
        paragraph(str(finding), MARKS[finding.level])
    if not found.findings:
        click.echo("Nothing needs a look.")
    heading("Disks")
    heads = ("MODEL", "SERIAL", "STATE", "USED", "WRITTEN", "TEMP", "HOURS", "ERRORS")
    table(heads, (_row(disk) for disk in found.disks), "<<<>>>>>")


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
    return (identity.model or "-", identity.serial or "-", disk.answer.outcome, *figures)


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
