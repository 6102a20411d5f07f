"""The report of the command line as PDF: a plain page from what `nasadvisor health --json` says."""

from html import escape
from typing import Any, Final

STYLE: Final = """
@page { size: A4; margin: 18mm 15mm }
body { font: 9.5pt/1.4 sans-serif } h1 { font-size: 17pt; margin: 0 } h2 { font-size: 12pt; margin: 6mm 0 2mm }
table { width: 100%; border-collapse: collapse } th { text-align: left; color: #666; font-size: 8.5pt }
th, td { border-bottom: .3pt solid #ccc; padding: 1.2mm 2mm 1.2mm 0; vertical-align: top } tr { break-inside: avoid }
.sub { color: #666; font-size: 8.5pt }
"""


def printed_report(found: dict[str, Any]) -> bytes:
    """The PDF."""
    from weasyprint import HTML  # noqa: PLC0415 - slow to load, and only needed here

    pdf: bytes = HTML(string=page(found), url_fetcher=_no_fetching).write_pdf()
    return pdf


def page(found: dict[str, Any]) -> str:
    """The page; every word of a disk is escaped."""
    findings = [(each["level"], f"{each['text']} {each['why']}") for each in found["findings"]]
    pools = [(each["name"], each["state"], each["data_errors"]) for each in found["pools"]]
    disks = [
        (
            f"{each['model']} {each['serial']}",
            each["outcome"],
            _figure(each["percent_used"], "{:.0f} %"),
            _figure(each["bytes_written"] and each["bytes_written"] / 10**12, "{:.1f} TB"),
            _figure(each["temperature_celsius"], "{} °C"),
            _figure(each["media_errors"], "{}"),
        )
        for each in found["disks"]
    ]
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>NAS Advisor</title><style>{STYLE}</style>"
        f"</head><body><h1>{escape(found['node'])}</h1><p class='sub'>NAS Advisor, {escape(found['read_at'])}</p>"
        f"<h2>What needs a look</h2>{_table(('Level', 'What'), findings) if findings else '<p>Nothing.</p>'}"
        f"<h2>Pools</h2>{_table(('Pool', 'State', 'Damaged files'), pools)}"
        f"<h2>Disks</h2>{_table(('Disk', 'State', 'Used', 'Written', 'Temperature', 'Media errors'), disks)}"
        f"</body></html>"
    )


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [_line("th", heads), *(_line("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _line(tag: str, cells: tuple[Any, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _figure(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _no_fetching(url: str, **_options: object) -> None:
    """A report holds all it needs."""
    raise ValueError(f"Reports fetch nothing: {url}")
