"""What came of switching a cache, and what keeps one out of service, in sentences."""

from typing import Final

from nasadvisor.domain.evidence.switch_effect import FEWEST_PAIRS, SwitchEffect, effect_of
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from nasadvisor.domain.statements import gettext_noop as _

SAME: Final = 0.0005
"""Less than 0.05 % is said as no difference at all."""

CARRIED_OUT: Final = Statement("switching-done", _("The test ran to completion."))
CACHE_LOST: Final = Statement(
    "switching-cache-gone", _("A cache was removed from the pool, so there was nothing left to switch.")
)
TAKEN_BACK: Final = Statement("switching-taken-back", _("The run that added the cache was undone."))


def stopped_by(name: str) -> Statement:
    """Somebody ended it before its time."""
    return Statement("switching-stopped", _("{by} stopped the test early."), {"by": name})


def effect_in_words(effect: SwitchEffect | None, pairs: int) -> Statement:
    """What the switches say; `pairs` is how many could be compared."""
    if effect is None:
        template = _(
            "Not enough data: {pairs} pairs of periods, with and without the cache, in which programs read. At least "
            "{needed} are needed."
        )
        return Statement("switch-too-few", template, {"pairs": str(pairs), "needed": str(FEWEST_PAIRS)})
    between: dict[str, str | Statement] = {"low": _change(effect.low), "high": _change(effect.high)}
    if not effect.is_found:
        template = _(
            "No statistically significant difference: with the cache, the devices take between {low} and {high} per "
            "read. If the cache had no effect, chance alone would show as much in {chance} of cases."
        )
        return Statement("switch-no-difference", template, {**between, "chance": percent(effect.probability)})
    template = (
        _(
            "The cache helps: with it, the devices take {change} per read (between {low} and {high}). If it had no "
            "effect, chance alone would show as much one time in {odds}."
        )
        if effect.factor < 1
        else _(
            "The cache makes reads slower: with it, the devices take {change} per read (between {low} and {high}). If "
            "it had no effect, chance alone would show as much one time in {odds}."
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
            "The randomised test left a cache of pool {pool} out of service: {why} It is retried automatically; to "
            "try now: nasadvisor switching {pool} --stop"
        ),
        {"pool": record.pool_name, "why": record.problem},
        Level.WARNING,
        _(
            "A cache holds only copies, so nothing is lost, but reads are slower than they could be. The pool "
            "remembers which of its caches are out of service, even after a restart."
        ),
        subject=record.pool_guid,
        step=NextStep.LOOK_AT_POOL,
        place=record.pool_guid,
    )


def _change(factor: float) -> Statement:
    """A factor as so much less or more."""
    if abs(factor - 1) < SAME:
        return Statement("as-much-time", _("the same time"))
    if factor < 1:
        return Statement("less-time", _("{share} less time"), {"share": percent(1 - factor)})
    return Statement("more-time", _("{share} more time"), {"share": percent(factor - 1)})
