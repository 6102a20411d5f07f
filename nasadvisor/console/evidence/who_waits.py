"""Who waits for the commits of a pool, as it was traced all day: the sentence and the table on its evidence page."""

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from nasadvisor.console.wording.statements import time_text
from nasadvisor.domain.evidence.options import OptionsTable
from nasadvisor.domain.evidence.waited import ProgramWaits, Wait, Waited
from nasadvisor.domain.evidence.who_waits import who_waits
from nasadvisor.domain.statements import Statement

SHOWN: Final = 10


@dataclass(frozen=True)
class WaitingRow:
    """A program on one dataset. `program` is "" of all others, `dataset` where it is not known."""

    program: str
    dataset: str
    time: str
    range: str
    at_once: int


@dataclass(frozen=True)
class WhoWaits:
    """The sentence, None where nobody waits, and the table."""

    waited: Waited
    sentence: Statement | None
    rows: tuple[WaitingRow, ...]
    total: WaitingRow


def who_waits_of(waited: Waited | None, options: OptionsTable) -> WhoWaits | None:
    """None where nothing was traced, or too little."""
    if waited is None:
        return None
    rows = tuple(_row(each) for each in waited.programs if each.wait.likely_s)
    total = WaitingRow("", "", time_text(waited.total.likely_s), range_text(waited.total), 0)
    return WhoWaits(waited, who_waits(waited, options), rows[:SHOWN], total)


def range_text(wait: Wait) -> str:
    """From and to."""
    low, high = time_text(wait.low_s), time_text(wait.high_s)
    return high if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}


def _row(row: ProgramWaits) -> WaitingRow:
    return WaitingRow(row.program, row.dataset, time_text(row.wait.likely_s), range_text(row.wait), row.most)
