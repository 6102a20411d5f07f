"""What programs wait for on a pool and what each choice takes away of it: rows with their words and bars."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from nasadvisor.console.wording.statements import time_text, unbroken
from nasadvisor.domain.evidence.options import NAMES, Known, Option, OptionRow, OptionsTable, Waits, brought_by_devices
from nasadvisor.domain.evidence.read_options import FOLLOW
from nasadvisor.domain.evidence.recommendation import Recommendation
from nasadvisor.domain.evidence.verdict import Answer, Relief, Verdict, Waiting
from nasadvisor.domain.evidence.waited import Wait
from nasadvisor.domain.evidence.workload import Reach
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S

WIDTH: Final = 100.0
DATASETS_DRAWN: Final = 3
FELT_S: Final = 1.0
"""Less than a second in a day is none."""

LONG_S: Final = 48 * HOUR_S
"""From here on a length of time is given in days, which nobody takes for waiting in a day."""

ADDED: Final = frozenset({Option.LOG, Option.CACHE})
"""What the wizard adds."""


@dataclass(frozen=True)
class Piece:
    """A part of a bar, in percent of its width. `kind` is commits or reads, `look` today, sure, maybe or open."""

    left: float
    width: float
    kind: str
    look: str


@dataclass(frozen=True)
class WaitRow:
    """Who waits and on what, for how long in a day; `dataset` is "" where it is not known which."""

    dataset: str
    kind: Waiting
    words: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class ShownOption:
    """A row with its name, what it takes away in words, and its bar; no pieces where nothing is drawn. `kinds` are the
    kinds of SSD with what each takes away. A log and a cache have their verdict and the size to choose.
    """

    row: OptionRow
    name: str
    gain: str
    pieces: tuple[Piece, ...]
    kinds: tuple[tuple[Statement, str], ...] = ()
    verdict: Verdict | None = None
    size: Recommendation | None = None


@dataclass(frozen=True)
class ShownOptions:
    """The answer of the page; `total` is how long programs wait in a day, "" where they hardly do.

    `rows` begin with doing nothing, then comes what takes away most for certain; of `open` ones nothing can be said
    yet, those `without` gain bring nothing. `best` is None where nothing is known to help.
    """

    waits: tuple[WaitRow, ...]
    total: str
    knows_commits: bool
    rows: tuple[ShownOption, ...]
    open: tuple[ShownOption, ...]
    without: tuple[ShownOption, ...]
    best: ShownOption | None
    follows_reads: bool

    @property
    def best_is_added(self) -> bool:
        """Whether the wizard adds the best one."""
        return self.best is not None and self.best.row.option in ADDED


def drawn(table: OptionsTable, known: Known) -> ShownOptions:
    """Every choice against one length: all that programs wait for today."""
    waits, brought = table.waits, brought_by_devices(known)
    shown = [_shown(row, known, waits, brought) for row in table.rows]
    rows = sorted((each for each in shown if _is_drawn(each)), key=lambda each: _sort_key(each.row, waits))
    best = next((each for each in rows if each.row.answer is Answer.HELPS and not each.row.is_there), None)
    folded = [each for each in shown if not _is_drawn(each)]
    is_open = [each.row.answer not in (Answer.NO, Answer.LITTLE) for each in folded]
    return ShownOptions(
        waits=tuple(_wait_rows(known, waits)),
        total=waiting_text(waits.total_s) if waits.total_s >= FELT_S else "",
        knows_commits=waits.commits is not None,
        rows=tuple(rows),
        open=tuple(each for each, it_is in zip(folded, is_open, strict=True) if it_is),
        without=tuple(each for each, it_is in zip(folded, is_open, strict=True) if not it_is),
        best=best,
        follows_reads=best is None and any(FOLLOW in each.row.missing for each in shown),
    )


def _wait_rows(known: Known, waits: Waits) -> Iterator[WaitRow]:
    """Synchronous writes by dataset, the longest wait first, then reads; OpenZFS counts these for no dataset."""
    waiting = [each for each in known.workload.datasets if each.commits_per_s and each.reach is not Reach.DISABLED]
    whole = sum(each.commits_per_s for each in waiting)
    parts = [(each.name, each.commits_per_s / whole) for each in waiting[:DATASETS_DRAWN]]
    if len(waiting) > DATASETS_DRAWN:
        parts.append(("", 1 - sum(share for _name, share in parts)))
    found = [(name, Waiting.COMMITS, _part(waits.commits, share)) for name, share in parts if waits.commits]
    found.append(("", Waiting.READS, waits.reads))
    found = [each for each in found if each[2].high_s >= FELT_S]
    longest = max((wait.high_s for _name, _kind, wait in found), default=1.0)
    for name, kind, wait in found:
        sure, most = (round(WIDTH * each / longest, 2) for each in (wait.low_s, wait.high_s))
        pieces = Piece(0.0, sure, kind.value, "sure"), Piece(sure, round(most - sure, 2), kind.value, "maybe")
        yield WaitRow(name, kind, about_wait(wait), pieces)


def _part(wait: Wait, share: float) -> Wait:
    return Wait(wait.low_s * share, wait.likely_s * share, wait.high_s * share)


def _is_drawn(shown: ShownOption) -> bool:
    """Whether there is something to see of it: it is there, helps, or takes something away."""
    row = shown.row
    return row.option is Option.NOTHING or row.is_there or row.answer is Answer.HELPS or bool(shown.gain)


def _sort_key(row: OptionRow, waits: Waits) -> tuple[float, ...]:
    """Sorts rows; those that are alike keep the order of the table, the cheapest first."""
    if row.option is Option.NOTHING:
        return (-1.0,)
    relief = row.relief or Relief(Waiting.COMMITS, 0.0, 0.0)
    whole = waits.of(relief.of)
    return (float(row.answer is not Answer.HELPS), -whole * relief.low, -whole * (relief.high or relief.low))


def _shown(row: OptionRow, known: Known, waits: Waits, brought: dict[Option, Wait]) -> ShownOption:
    pieces = _today(waits) if row.option is Option.NOTHING else _taken_away(row.relief, waits)
    kinds = ((kind.name, gain_words(kind.relief, waits)) for kind in row.kinds)
    gain = _brought_words(brought.get(row.option)) if row.is_there else gain_words(row.relief, waits)
    sizes = {Option.LOG: known.log_size, Option.CACHE: known.recommended_cache}
    return ShownOption(
        row,
        _(NAMES[row.option]),
        _("%(likely)s a day") % {"likely": waiting_text(waits.total_s)} if row.option is Option.NOTHING else gain,
        tuple(pieces) if waits.total_s else (),
        tuple((name, words) for name, words in kinds if words),
        {Option.LOG: known.log, Option.CACHE: known.cache}.get(row.option),
        sizes.get(row.option),
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


def waiting_text(seconds: float) -> str:
    """How long programs wait in a day: many at once wait for more hours than it has."""
    return unbroken(f"{seconds / HOUR_S:.0f} h") if seconds >= LONG_S else time_text(seconds)


def gain_words(relief: Relief | None, waits: Waits) -> str:
    """How much less waiting that is in a day; "" where it is not known, or nothing."""
    if relief is None or not waits.of(relief.of):
        return ""
    whole = waits.of(relief.of)
    low, high = waiting_text(whole * relief.low), None if relief.high is None else waiting_text(whole * relief.high)
    if high is None:
        return _("at least %(low)s less waiting a day") % {"low": low} if relief.low else ""
    if not relief.low:
        return _("at most %(high)s less waiting a day") % {"high": high}
    if low == high:
        return _("%(high)s less waiting a day") % {"high": high}
    return _("%(low)s to %(high)s less waiting a day") % {"low": low, "high": high}


def _brought_words(wait: Wait | None) -> str:
    """What a device that is there takes away."""
    if wait is None or wait.high_s < FELT_S:
        return ""
    low, high = waiting_text(wait.low_s), waiting_text(wait.high_s)
    if low == high:
        return _("saves %(high)s a day") % {"high": high}
    if wait.low_s < FELT_S:
        return _("saves at most %(high)s a day") % {"high": high}
    return _("saves %(low)s to %(high)s a day") % {"low": low, "high": high}


def about_wait(wait: Wait) -> str:
    """What is likely, with its bounds where they read differently."""
    low, likely, high = (waiting_text(each) for each in (wait.low_s, wait.likely_s, wait.high_s))
    if low == high:
        return _("%(likely)s a day") % {"likely": likely}
    return _("%(likely)s a day (%(low)s to %(high)s)") % {"likely": likely, "low": low, "high": high}
