"""Text for people: aligned tables and wrapped paragraphs, as wide as the terminal and coloured only there."""

import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

from nasadvisor.cli.errors import Misuse
from nasadvisor.domain.change.actions import Argv
from nasadvisor.domain.statements import Level

FC = TypeVar("FC", bound=Callable[..., Any])

LEFT: Final = "<"
RIGHT: Final = ">"

GAP: Final = "  "
CUT: Final = "…"
NARROWEST: Final = 8
"""[policy] A column is not cut below this many characters, even where the table stays wider than the terminal."""

LEVEL_COLOURS: Final = {Level.CRITICAL: "red", Level.WARNING: "yellow", Level.INFO: ""}
CELL_COLOURS: Final = {"OK": "green", "ONLINE": "green", "WARNING": "yellow", "DEGRADED": "yellow"} | dict.fromkeys(
    ("FAILING", "FAULTED", "UNAVAIL", "SUSPENDED", "OFFLINE", "REMOVED"), "red"
)
"""The colour of a cell that says one of these and nothing else."""


def columns_option(*heads: str) -> Callable[[FC], FC]:
    """The option `--columns`, which chooses among these heads of a table; the command gets them as typed."""
    names = ", ".join(head.lower() for head in heads)
    return click.option("--columns", "-o", default="", metavar="NAME,…", help=f"Show only these columns: {names}.")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], alignment: str = "", columns: str = "") -> None:
    """Print rows under their heads, columns aligned; `alignment` has "<" or ">" for each column, `columns` is as typed.

    On a terminal that is too narrow the longest columns are cut; into a file or a pipe everything is written.

    Raises:
        Misuse: `columns` names one that is not there.
    """
    chosen = _chosen(heads, columns)
    marks = alignment or LEFT * len(heads)
    lines = [tuple(line[column] for column in chosen) for line in (heads, *rows)]
    widths = _fitted([max(len(line[column]) for line in lines) for column in range(len(chosen))])
    for line in lines:
        cells = []
        for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
            text = cell if len(cell) <= width else cell[: width - 1] + CUT
            padded = f"{text:{marks[chosen[column]]}{width}}"
            padded = padded.rstrip() if column == len(chosen) - 1 else padded
            cells.append(click.style(padded, fg=CELL_COLOURS[cell]) if cell in CELL_COLOURS else padded)
        click.echo(GAP.join(cells).rstrip())


def _chosen(heads: Sequence[str], columns: str) -> list[int]:
    wanted = [name.strip().upper() for name in columns.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in heads]
    if unknown:
        raise Misuse(f"There is no column {unknown[0].lower()}. Choose from: {', '.join(heads).lower()}.")
    return [heads.index(name) for name in wanted] or list(range(len(heads)))


def _fitted(widths: list[int]) -> list[int]:
    """The widths with which a table fits into the terminal, the widest cut first."""
    if not sys.stdout.isatty():
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - shutil.get_terminal_size().columns
    while excess > 0 and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
        excess -= 1
    return widths


def heading(title: str) -> None:
    """Print the title of a part."""
    click.echo()
    click.secho(title, bold=True)


def paragraph(text: str, lead: str = "  ", level: Level = Level.INFO) -> None:
    """Print a text wrapped to the terminal, indented as deep as its lead is long; commands and paths stay whole.

    The lead has the colour of the level.
    """
    lines = textwrap.wrap(
        text,
        min(shutil.get_terminal_size().columns, 110),
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )
    whole = "\n".join(lines)
    colour = LEVEL_COLOURS[level]
    click.echo(click.style(lead, fg=colour, bold=True) + whole[len(lead) :] if colour else whole)


def command_line(argv: Argv) -> str:
    """A command as it can be pasted into a shell."""
    return shlex.join(argv)


def minute_of(at: str) -> str:
    """An ISO 8601 time to the minute, as a table shows it; "" stays ""."""
    return at[:16].replace("T", " ")
