"""Jobs of a platform that write the data of a dataset again: load and wear that no user makes.

OpenZFS counts a scrub and a resilver by themselves. What a job rewrites goes through the same counters as what programs
read and write, and nothing there tells the two apart; so it is said beside what those counters are taken for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S, size_text

NAMED: Final = 3
"""So many datasets are named."""

WEAR_DAYS: Final = 30
"""[policy] How long a job that is over is told beside a forecast, in which the bytes that were written lately weigh
most."""


@dataclass(frozen=True)
class Rewrite:
    """A job that has begun. Moments are seconds since 1970, `last_at` that of the newest figures.

    `rewritten_bytes` are those since it was last begun or resumed.
    """

    dataset: str
    is_running: bool
    began_at: int
    last_at: int
    rewritten_bytes: int


def in_evidence(rewrites: Iterable[Rewrite], pool: str, watched_since: float) -> Finding | None:
    """What is to be said beside verdicts on a pool; None where no job ran in the time that they are made of."""
    found = _since(rewrites, (pool,), watched_since)
    if not found:
        return None
    template = _(
        "While pool {pool} was watched, data of {datasets} were moved between storage tiers ({size}). That counts here "
        "as if programs had done it. Judge again once it was watched for as long without."
    )
    explanation = _(
        "A tiering job of the platform reads each file and writes it again. OpenZFS counts a scrub by itself, but such "
        "a job among what programs do, and nothing tells the two apart afterwards."
    )
    return Finding("rewrites-in-load", template, {"pool": pool, **_values(found)}, Level.WARNING, explanation)


def in_wear(rewrites: Iterable[Rewrite], pools: Iterable[str], now: float) -> Finding | None:
    """What is to be said beside the forecast of a disk of these pools; None where no job ran lately."""
    found = _since(rewrites, pools, now - WEAR_DAYS * DAY_S)
    if not found:
        return None
    template = _(
        "In the last {days} days data of {datasets} were moved between storage tiers ({size}). The forecast takes "
        "these writes for usual ones; without them the disk wears slower."
    )
    explanation = _("A tiering job of the platform writes each file again, to the SSDs or off them.")
    return Finding("rewrites-in-wear", template, {"days": str(WEAR_DAYS), **_values(found)}, Level.INFO, explanation)


def _since(rewrites: Iterable[Rewrite], pools: Iterable[str], moment: float) -> tuple[Rewrite, ...]:
    names = frozenset(pools)
    found = (each for each in rewrites if each.dataset.split("/")[0] in names)
    return tuple(each for each in found if each.is_running or each.last_at >= moment)


def _values(rewrites: tuple[Rewrite, ...]) -> dict[str, str]:
    names = list(dict.fromkeys(each.dataset for each in rewrites))
    named = ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")
    return {"datasets": named, "size": size_text(sum(each.rewritten_bytes for each in rewrites))}
