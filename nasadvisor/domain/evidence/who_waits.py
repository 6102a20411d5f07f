"""Who waits, in one sentence: the program that waits most, for which dataset, and what a log takes of it."""

from collections.abc import Iterable
from typing import Final

from nasadvisor.domain.evidence.options import Option, OptionsTable
from nasadvisor.domain.evidence.verdict import Relief
from nasadvisor.domain.evidence.waited import NO_WAIT, ProgramWaits, Wait, Waited
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

ALL: Final = 0.95
MOST: Final = 0.5
"""[policy] From which share on it is all of it, and most of it."""

LEAST_FELT_S: Final = 1.0
"""[policy] A program that waits for less in a day is not named."""


def who_waits(waited: Waited, options: OptionsTable) -> Statement | None:
    """None where nobody waits for as much as a second a day."""
    rows = _of_top_program(waited.named)
    whole = total_of(each.wait for each in rows)
    if whole.likely_s < LEAST_FELT_S:
        return None
    log = options.row(Option.LOG).relief
    values = {
        "program": rows[0].program,
        "time": duration(whole.likely_s),
        "range": _range(whole),
        "where": _where(rows, whole),
        "log": _taken_by_log(whole, log) if log else "",
    }
    return Statement("who-waits", _("{program} waits {time} a day{range}{where}{log}."), values)


def total_of(waits: Iterable[Wait]) -> Wait:
    """Several together; their bounds as wide as if all were off in the same direction."""
    whole = NO_WAIT
    for each in waits:
        whole = Wait(whole.low_s + each.low_s, whole.likely_s + each.likely_s, whole.high_s + each.high_s)
    return whole


def _of_top_program(rows: tuple[ProgramWaits, ...]) -> tuple[ProgramWaits, ...]:
    """Those of the program that waits most for all datasets together, the one with most first."""
    sums: dict[str, float] = {}
    for each in rows:
        sums[each.program] = sums.get(each.program, 0.0) + each.wait.likely_s
    top = max(sums, key=sums.__getitem__, default="")
    return tuple(each for each in rows if each.program == top)


def _where(rows: tuple[ProgramWaits, ...], whole: Wait) -> "Statement | str":
    share = rows[0].wait.likely_s / whole.likely_s
    if not rows[0].dataset or share < MOST:
        return ""
    values = {"dataset": rows[0].dataset, "share": percent(share)}
    if share >= ALL:
        return Statement("who-waits-all", _(", all of it on {dataset}"), values)
    return Statement("who-waits-most", _(", {share} of it on {dataset}"), values)


def _taken_by_log(whole: Wait, log: Relief) -> "Statement | str":
    if not log.high:
        return ""
    low, high = duration(whole.likely_s * log.low), duration(whole.likely_s * log.high)
    if low == high:
        return Statement("who-waits-log", _("; a log takes {high} of it away"), {"high": high})
    return Statement("who-waits-log-range", _("; a log takes {low} to {high} of it away"), {"low": low, "high": high})


def _range(wait: Wait) -> "Statement | str":
    low, high = duration(wait.low_s), duration(wait.high_s)
    return Statement("who-waits-range", _(" ({low} to {high})"), {"low": low, "high": high}) if low != high else ""
