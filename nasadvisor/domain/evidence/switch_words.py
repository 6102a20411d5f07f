"""What came of switching a cache, and what keeps one out of service, in sentences."""

from typing import Final

from nasadvisor.domain.evidence.switch_effect import FEWEST_PAIRS, SwitchEffect, effect_of
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from nasadvisor.domain.statements import gettext_noop as _

SAME: Final = 0.0005
"""Less than 0.05 % is said as no difference at all."""

CARRIED_OUT: Final = Statement("switching-done", _("It was carried out to its end."))
CACHE_LOST: Final = Statement(
    "switching-cache-gone", _("Somebody took a cache out of the pool, so there was nothing more to switch.")
)
TAKEN_BACK: Final = Statement("switching-taken-back", _("The run that had added the cache was taken back."))


def stopped_by(name: str) -> Statement:
    """Somebody ended it before its time."""
    return Statement("switching-stopped", _("{by} stopped it before its end."), {"by": name})


def effect_in_words(effect: SwitchEffect | None, pairs: int) -> Statement:
    """What the switches say; `pairs` is how many could be compared."""
    if effect is None:
        template = _(
            "Too little to compare: {pairs} pairs of periods, with and without the cache, in which programs read. "
            "{needed} are the fewest that tell anything."
        )
        return Statement("switch-too-few", template, {"pairs": str(pairs), "needed": str(FEWEST_PAIRS)})
    between: dict[str, str | Statement] = {"low": _change(effect.low), "high": _change(effect.high)}
    if not effect.is_found:
        template = _(
            "No difference that could not be accident: with the cache, a read takes the devices between {low} and "
            "{high}. Were the cache of no use, accident alone would show as much in {chance} of cases."
        )
        return Statement("switch-no-difference", template, {**between, "chance": percent(effect.probability)})
    template = (
        _(
            "The cache helps: with it, a read takes the devices {change} (between {low} and {high}). Were it of no "
            "use, accident alone would show as much once in {odds} times."
        )
        if effect.factor < 1
        else _(
            "The cache does harm: with it, a read takes the devices {change} (between {low} and {high}). Were it of no "
            "use, accident alone would show as much once in {odds} times."
        )
    )
    code = "switch-helps" if effect.factor < 1 else "switch-harms"
    values = {**between, "change": _change(effect.factor), "odds": str(int(1 / effect.probability))}
    return Statement(code, template, values)


def result_of(record: CacheSwitching) -> tuple[SwitchEffect | None, Statement]:
    """What the switches of a record say by now, and the sentence for it."""
    effect = effect_of(record.plan, record.values)
    return effect, effect_in_words(effect, whole_pairs(record))


def whole_pairs(record: CacheSwitching) -> int:
    """Of how many pairs both periods were counted."""
    counted = [period.pair for period in record.values]
    return sum(counted.count(pair) == 2 for pair in set(counted))


def not_back(record: CacheSwitching) -> Finding | None:
    """What is said of a cache that should be in service and is not; None where all is as it should be."""
    if record.problem is None:
        return None
    return Finding(
        "switched-cache-out",
        _(
            "Switching left a cache of pool {pool} out of service: {why} It is retried automatically; to "
            "try it now: nasadvisor switching {pool} --stop"
        ),
        {"pool": record.pool_name, "why": record.problem},
        Level.WARNING,
        _(
            "A cache holds only copies, so nothing is lost: reads are slower than they could be. The pool "
            "keeps which of its caches are out of service, also over a restart."
        ),
        subject=record.pool_guid,
        step=NextStep.LOOK_AT_POOL,
        place=record.pool_guid,
    )


def _change(factor: float) -> Statement:
    """A factor as so much less or more."""
    if abs(factor - 1) < SAME:
        return Statement("as-much-time", _("as much time"))
    if factor < 1:
        return Statement("less-time", _("{share} less time"), {"share": percent(1 - factor)})
    return Statement("more-time", _("{share} more time"), {"share": percent(factor - 1)})
