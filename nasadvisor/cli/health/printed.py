"""The report of the command line as PDF: a plain page from what `nasadvisor health --json` says, its verdict first."""

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from nasadvisor.domain.statements import Level
from nasadvisor.domain.units import TERABYTE, size_text

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
    "asleep": "was asleep and was left asleep",
    "unsupported": "tells nothing of its health",
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


def printed_report(found: dict[str, Any]) -> bytes:
    """The PDF."""
    from weasyprint import HTML  # noqa: PLC0415 - slow to load, and only needed here

    pdf: bytes = HTML(string=page(found), url_fetcher=_no_fetching).write_pdf()
    return pdf


def page(found: dict[str, Any]) -> str:
    """The page; every word of a disk is escaped."""
    findings = [(each["level"], f"{each['text']} {each['why']}") for each in found["findings"]]
    pools = [
        (each["name"], each["state"], _filled(each), _scrubbed(each), each["data_errors"]) for each in found["pools"]
    ]
    ssds = [_ssd(each) for each in found["disks"] if not each["is_rotational"]]
    hard_disks = [_hard_disk(each) for each in found["disks"] if each["is_rotational"]]
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>NAS Advisor</title><style>{STYLE}</style>"
        f"</head><body><h1>{escape(found['node'])}</h1><p class='sub'>NAS Advisor, {escape(found['read_at'])}</p>"
        f"{_verdict(found)}"
        f"<h2>What needs a look</h2>{_table(('Level', 'What'), findings) if findings else '<p>Nothing.</p>'}"
        f"<h2>Pools</h2>{_table(('Pool', 'State', 'Used', 'Last scrub', 'Damaged files'), pools)}"
        f"<h2>SSDs</h2>{_table(SSD_HEADS, ssds)}<h2>Hard disks</h2>{_table(HARD_DISK_HEADS, hard_disks)}"
        f"<p class='sub'>{SIDEEND}</p></body></html>"
    )


def verdict(found: dict[str, Any]) -> str:
    """The worst that was found, in one sentence; that nothing was, only where everything was looked at."""
    worst = next((each for each in found["findings"] if each["level"] != Level.INFO), None)
    if worst:
        return f"{str(worst['level']).capitalize()}: {worst['text']}"
    return "No open alerts, but some checks are incomplete." if gaps(found) else "Nothing needs a look."


def gaps(found: dict[str, Any]) -> list[str]:
    """What was not looked at, in sentences."""
    return [
        f"{each['model']} {each['serial']} {SILENT.get(each['outcome'], 'was not asked')}."
        for each in found["disks"]
        if each["outcome"] != "read"
    ]


def _verdict(found: dict[str, Any]) -> str:
    unseen = "".join(f"<br>Not looked at: {escape(each)}" for each in gaps(found))
    return (
        f"<div class='verdict'><strong>{escape(verdict(found))}</strong>"
        f"<div class='sub'>Pools and disks asked {escape(found['read_at'])}.{unseen}</div></div>"
    )


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
        _figure(disk["percent_used"], "{:.0f} %"),
        _figure(disk["bytes_written"] and disk["bytes_written"] / TERABYTE, "{:.1f} TB"),
        _figure(disk["temperature_celsius"], "{} °C"),
        _figure(disk["power_on_hours"], "{:,}"),
        _figure(disk["media_errors"], "{}"),
    )


def _hard_disk(disk: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{disk['model']} {disk['serial']}",
        disk["outcome"],
        _figure(disk["reallocated"], "{:,}"),
        _figure(disk["pending"], "{:,}"),
        _figure(disk["temperature_celsius"], "{} °C"),
        _figure(disk["power_on_hours"], "{:,}"),
    )


def _table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = "".join(_line("td", row) for row in rows)
    return f"<table><thead>{_line('th', heads)}</thead><tbody>{lines}</tbody></table>" if lines else "<p>None.</p>"


def _line(tag: str, cells: tuple[Any, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _figure(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _no_fetching(url: str, **_options: object) -> None:
    """A report holds all it needs."""
    raise ValueError(f"Reports fetch nothing: {url}")
