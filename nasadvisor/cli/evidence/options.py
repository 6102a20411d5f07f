"""The table of options that `nasadvisor advise` begins with."""

from typing import Any, Final

from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.options import NAMES, Cost, Option, OptionRow, OptionsTable, Waits
from nasadvisor.domain.evidence.verdict import Answer, Relief
from nasadvisor.domain.figures import duration
from nasadvisor.domain.units import size_text, terabytes_text
from nasadvisor.stored.documents import to_document

ANSWERS: Final = {
    Answer.HELPS: "helps",
    Answer.LITTLE: "little gain",
    Answer.NO: "no gain",
    Answer.CANNOT_TELL: "cannot tell",
}

UNKNOWN: Final = "-"


def print_options(options: OptionsTable) -> None:
    """The figures beside each other, then what each row rests on."""
    heading("Options compared")
    rows = (
        (
            NAMES[row.option],
            _answer(row),
            _relief(row, options.waits),
            *_cost(row.cost),
            "yes" if row.back and row.is_reversible else "NO" if row.back else UNKNOWN,
        )
        for row in options.rows
    )
    table(("CHOICE", "ANSWER", "LESS WAITING/DAY", "SSD", "RAM", "WRITTEN/YEAR", "BACK"), rows, "<<>>>><")
    for row in options.rows:
        paragraph(f"{NAMES[row.option]}: {row.because}")
        for kind in row.kinds:
            paragraph(f"{kind.name}: {_less(kind.relief, options.waits)} less waiting a day", "      ")
        for each in (*row.beside, *row.missing):
            paragraph(str(each), "      ")
        if row.option not in (Option.NOTHING, Option.PROPERTY, Option.MEMORY):
            paragraph(f"Could be lost: {row.lost} Reversible: {row.back}", "      ")


def options_document(options: OptionsTable) -> dict[str, Any]:
    """The same as JSON, each row with its sentences."""
    rows = [{**to_document(row), "sentence": str(row.because), "lost_sentence": str(row.lost)} for row in options.rows]
    return {"waits": to_document(options.waits), "rows": rows}


def _answer(row: OptionRow) -> str:
    has = " (there)" if row.is_there else ""
    return f"{ANSWERS[row.answer]}{has}" if row.answer else f"{UNKNOWN}{has}"


def _relief(row: OptionRow, waits: Waits) -> str:
    return _less(row.relief, waits) if row.relief else UNKNOWN


def _less(relief: Relief, waits: Waits) -> str:
    whole = waits.of(relief.of)
    low = duration(whole * relief.low)
    return f">= {low}" if relief.high is None else f"{low} - {duration(whole * relief.high)}"


def _cost(cost: Cost | None) -> tuple[str, str, str]:
    if cost is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    ssds = f"{cost.ssds} x {size_text(cost.ssd_bytes)}" if cost.ssds > 1 else size_text(cost.ssd_bytes)
    written = terabytes_text(cost.written_bytes_per_year) if cost.written_bytes_per_year else UNKNOWN
    return (
        ssds if cost.ssds else UNKNOWN,
        size_text(cost.memory_bytes) if cost.memory_bytes else UNKNOWN,
        written,
    )
