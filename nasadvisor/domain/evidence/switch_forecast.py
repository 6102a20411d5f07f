"""Before a cache is switched: how exact the answer will be, from the hours that were recorded.

The coins are laid over hours in which nothing was switched, so whatever they show is chance, and the answer will be as
wide as that (`expected_precision`).
"""

from collections.abc import Iterable
from math import sqrt
from typing import Final

from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.switch_effect import expected_precision
from nasadvisor.domain.evidence.switched import period_seen
from nasadvisor.domain.evidence.switching import USUAL_SETTLE_S, Switching
from nasadvisor.domain.units import HOUR_S

ENOUGH: Final = 0.75
"""[policy] Fewer hours than that would tell of a shorter switching, which is less exact."""


def expected_within(pool_guid: str, pairs: int, hours: Iterable[Sample]) -> float | None:
    """± this share of what a read takes, of so many pairs of hours; None where fewer than three in four are recorded.

    `hours` end on the hour. Of an hour that is switched a part is left out: where its minutes do not depend on each
    other the rest wavers more by the root of what is missing, else by less; the most is said.
    """
    recorded = {each.at // HOUR_S: each for each in hours}
    if not recorded:
        return None
    end = max(recorded) * HOUR_S
    plan = Switching(pool_guid, end - 2 * pairs * HOUR_S, pairs, HOUR_S, USUAL_SETTLE_S)
    values = {}
    for number, period in enumerate(plan.periods()):
        sample = recorded.get(period.end // HOUR_S)
        seen = period_seen(number, sample) if sample else None
        if seen:
            values[period] = seen.value
    found = expected_precision(plan, values) if len(values) >= ENOUGH * 2 * pairs else None
    return None if found is None else found * sqrt(HOUR_S / (HOUR_S - USUAL_SETTLE_S))
