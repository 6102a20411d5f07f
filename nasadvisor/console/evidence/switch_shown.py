"""What switching a cache says, for the page of a pool and for the report of a run, on the page and on paper."""

from dataclasses import dataclass
from datetime import UTC, datetime

from nasadvisor.console.evidence.switch_chart import SwitchChart, switch_charts
from nasadvisor.domain.evidence.switch_words import not_back, result_of, whole_pairs
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.statements import Finding, Statement


@dataclass(frozen=True)
class Shown:
    """What a record says: the sentence, the picture, how many periods were counted of how many, and whose end it has.

    `until` is when its plan is over, `problem` a cache that could not be put back.
    """

    record: CacheSwitching
    words: Statement
    charts: tuple[SwitchChart, ...]
    counted: int
    periods: int
    pairs: int
    until: datetime
    problem: Finding | None


def shown(record: CacheSwitching | None) -> Shown | None:
    """What a record says; None of none."""
    if record is None:
        return None
    _effect, words = result_of(record)
    return Shown(
        record=record,
        words=words,
        charts=switch_charts(record),
        counted=len(record.seen),
        periods=2 * record.plan.pairs,
        pairs=whole_pairs(record),
        until=datetime.fromtimestamp(record.plan.end, UTC),
        problem=not_back(record),
    )
