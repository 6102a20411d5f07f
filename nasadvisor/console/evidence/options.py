"""The table of options on top of a pool's evidence: its rows with their words and bars."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from nasadvisor.console.wording.statements import time_text
from nasadvisor.domain.evidence.log_verdict import Answer
from nasadvisor.domain.evidence.options import (
    NAMES,
    Option,
    OptionRow,
    OptionsTable,
    Relief,
    Wait,
    Waiting,
    Waits,
)
from nasadvisor.domain.statements import Statement

WIDTH: Final = 100.0


@dataclass(frozen=True)
class Piece:
    """A part of a bar, in percent of its width. `kind` is commits or reads, `look` today, sure, maybe or open."""

    left: float
    width: float
    kind: str
    look: str


@dataclass(frozen=True)
class ShownOption:
    """A row with its name, what it takes away in words, and its bar; no pieces where nothing is drawn. `kinds` are the
    kinds of SSD with what each takes away.
    """

    row: OptionRow
    name: str
    gain: str
    pieces: tuple[Piece, ...]
    kinds: tuple[tuple[Statement, str], ...] = ()


@dataclass(frozen=True)
class ShownOptions:
    """The table; `commits` and `reads` are how long programs wait for them in a day, "" where it is not known.

    `rows` begin with doing nothing, then comes what takes away most for certain; `without` are those without gain.
    """

    rows: tuple[ShownOption, ...]
    without: tuple[ShownOption, ...]
    commits: str
    reads: str
    is_drawn: bool


def drawn(table: OptionsTable) -> ShownOptions:
    """Every row against one length: all that programs wait for today."""
    waits = table.waits
    with_gain = sorted((row for row in table.rows if not _brings_nothing(row)), key=lambda row: _sort_key(row, waits))
    return ShownOptions(
        rows=tuple(_shown(row, waits) for row in with_gain),
        without=tuple(_shown(row, waits) for row in table.rows if _brings_nothing(row)),
        commits=_about(waits.commits) if waits.commits else "",
        reads=_about(waits.reads),
        is_drawn=waits.total_s > 0,
    )


def _brings_nothing(row: OptionRow) -> bool:
    """Whether it is neither there nor worth a second look."""
    return row.answer in (Answer.NO, Answer.LITTLE) and not row.relief and not row.is_there


def _sort_key(row: OptionRow, waits: Waits) -> tuple[float, ...]:
    """Sorts rows; those that are alike keep the order of the table, the cheapest first."""
    if row.option is Option.NOTHING:
        return (-1.0,)
    relief = row.relief or Relief(Waiting.COMMITS, 0.0, 0.0)
    whole = waits.of(relief.of)
    return (float(row.answer is not Answer.HELPS), -whole * relief.low, -whole * (relief.high or relief.low))


def _shown(row: OptionRow, waits: Waits) -> ShownOption:
    pieces = _today(waits) if row.option is Option.NOTHING else _taken_away(row.relief, waits)
    kinds = ((kind.name, gain_words(kind.relief, waits)) for kind in row.kinds)
    return ShownOption(
        row,
        _(NAMES[row.option]),
        gain_words(row.relief, waits),
        tuple(pieces) if waits.total_s else (),
        tuple((name, words) for name, words in kinds if words),
    )


def _today(waits: Waits) -> Iterator[Piece]:
    for kind in Waiting:
        left, width = _place(kind, waits)
        if width:
            yield Piece(left, width, kind.value, "today")


def _taken_away(relief: Relief | None, waits: Waits) -> Iterator[Piece]:
    """Solid as far as it is sure, light as far as it may be; open where nobody knows how far."""
    if relief is None:
        return
    left, width = _place(relief.of, waits)
    high = 1.0 if relief.high is None else relief.high
    yield Piece(left, round(width * relief.low, 2), relief.of.value, "sure")
    look = "open" if relief.high is None else "maybe"
    yield Piece(round(left + width * relief.low, 2), round(width * (high - relief.low), 2), relief.of.value, look)


def _place(kind: Waiting, waits: Waits) -> tuple[float, float]:
    """Where its part of all waiting begins, and how wide that is."""
    if not waits.total_s:
        return 0.0, 0.0
    of_commits = round(WIDTH * waits.of(Waiting.COMMITS) / waits.total_s, 2)
    return (0.0, of_commits) if kind is Waiting.COMMITS else (of_commits, round(WIDTH - of_commits, 2))


def gain_words(relief: Relief | None, waits: Waits) -> str:
    """How much less waiting that is in a day; "" where it is not known, or nothing."""
    if relief is None or not waits.of(relief.of):
        return ""
    whole = waits.of(relief.of)
    low, high = time_text(whole * relief.low), None if relief.high is None else time_text(whole * relief.high)
    if high is None:
        return _("at least %(low)s less waiting a day") % {"low": low} if relief.low else ""
    if not relief.low:
        return _("at most %(high)s less waiting a day") % {"high": high}
    if low == high:
        return _("%(high)s less waiting a day") % {"high": high}
    return _("%(low)s to %(high)s less waiting a day") % {"low": low, "high": high}


def _about(wait: Wait) -> str:
    """What is likely, with its bounds where they read differently."""
    low, likely, high = (time_text(each) for each in (wait.low_s, wait.likely_s, wait.high_s))
    if low == high:
        return _("%(likely)s a day") % {"likely": likely}
    return _("%(likely)s a day (%(low)s to %(high)s)") % {"likely": likely, "low": low, "high": high}
