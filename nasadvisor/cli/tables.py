"""Text for people: aligned tables and wrapped paragraphs."""

import shlex
import shutil
import textwrap
from collections.abc import Iterable, Sequence

import click

from nasadvisor.domain.change.actions import Argv

RIGHT = ">"
LEFT = "<"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], alignment: str = "") -> None:
    """Print rows under their heads, columns aligned; `alignment` has "<" or ">" for each column."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    marks = alignment or LEFT * len(heads)
    for line in lines:
        cells = (f"{cell:{mark}{width}}" for cell, mark, width in zip(line, marks, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def heading(title: str) -> None:
    """Print the title of a part."""
    click.echo()
    click.echo(title)


def paragraph(text: str, lead: str = "  ") -> None:
    """Print a text wrapped to the terminal, indented as deep as its lead is long; commands and paths stay whole."""
    lines = textwrap.wrap(
        text,
        min(shutil.get_terminal_size().columns, 110),
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )
    click.echo("\n".join(lines))


def command_line(argv: Argv) -> str:
    """A command as it can be pasted into a shell."""
    return shlex.join(argv)


def minute_of(at: str) -> str:
    """An ISO 8601 time to the minute, as a table shows it; "" stays ""."""
    return at[:16].replace("T", " ")
