"""What a platform integration says of a host: what it is, what it forbids, what to know, whose data lie there."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.refusals import said_with_undo
from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.statements import Finding, Level, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
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
        "While pool {pool} was monitored, data of {datasets} was moved between storage tiers ({size}). This counts as "
        "if programs had done it. Judge the pool again after monitoring it equally long without such moves."
    )
    explanation = _(
        "A tiering job of the platform reads each file and writes it again. OpenZFS counts a scrub separately, but "
        "counts such a job as program I/O; the two cannot be separated afterwards."
    )
    return Finding("rewrites-in-load", template, {"pool": pool, **_values(found)}, Level.WARNING, explanation)


def in_wear(rewrites: Iterable[Rewrite], pools: Iterable[str], now: float) -> Finding | None:
    """What is to be said beside the forecast of a disk of these pools; None where no job ran lately."""
    found = _since(rewrites, pools, now - WEAR_DAYS * DAY_S)
    if not found:
        return None
    template = _(
        "In the last {days} days, data of {datasets} was moved between storage tiers ({size}). The forecast treats "
        "these writes as normal; without them the disk wears more slowly."
    )
    explanation = _("A tiering job of the platform rewrites each file, onto the SSDs or off them.")
    return Finding("rewrites-in-wear", template, {"days": str(WEAR_DAYS), **_values(found)}, Level.INFO, explanation)


def _since(rewrites: Iterable[Rewrite], pools: Iterable[str], moment: float) -> tuple[Rewrite, ...]:
    names = frozenset(pools)
    found = (each for each in rewrites if each.dataset.split("/")[0] in names)
    return tuple(each for each in found if each.is_running or each.last_at >= moment)


def _values(rewrites: tuple[Rewrite, ...]) -> dict[str, str]:
    names = list(dict.fromkeys(each.dataset for each in rewrites))
    named = ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")
    return {"datasets": named, "size": size_text(sum(each.rewritten_bytes for each in rewrites))}


FORWARDS = (Goal.APPLY, Goal.FINISH)
EVERYTHING = (*FORWARDS, Goal.UNDO)
"""What can be forbidden. To put back what has just failed, and to clean up after a measurement, is never; an undo is
not because of a version: what was added before a platform was updated would be locked in."""


@dataclass(frozen=True)
class Veto:
    """Something that a platform forbids.

    `scope` is the guid of the pool or the key of the disk that it is about, "" for the whole host.
    """

    reason: Refused
    scope: str = ""
    forbids: tuple[Goal, ...] = FORWARDS


@dataclass(frozen=True)
class Guest:
    """A dataset or volume that belongs to somebody: `name` in the platform's words, "VM 100 (mail)"."""

    dataset: str
    name: str


@dataclass(frozen=True)
class Platform:
    """A platform that a host is of; `version` is "" where it cannot be told."""

    name: str
    version: str


@dataclass(frozen=True)
class PlatformReport:
    """What the platforms of a host say; the console keeps the newest. `read_at` is UTC in ISO 8601.

    `cautions` are what is to be read before any plan is applied, `rewrites` jobs that move data within a pool.
    """

    node: str
    read_at: str
    platforms: tuple[Platform, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    findings: tuple[Finding, ...] = ()
    cautions: tuple[Finding, ...] = ()
    guests: tuple[Guest, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()


@dataclass(frozen=True)
class Notice:
    """A message for the administrator of a host, to be sent by the platform's own means."""

    level: Level
    subject: str
    text: str


@dataclass(frozen=True)
class NoticeAnswer:
    """A message went out on its host. If there is something `said`, the platform did not confirm it, and another way
    was taken.
    """

    message_id: str
    said: Statement | None = None


Vetoes = Callable[[Inventory], tuple[Veto, ...]]
"""Asks the platforms of a host what they forbid in the state it is in."""


def nothing_forbidden(_inventory: Inventory) -> tuple[Veto, ...]:
    """The vetoes of a host without any platform."""
    return ()


def no_platform(inventory: Inventory) -> PlatformReport:
    """The report of a host without any platform."""
    return PlatformReport(inventory.host.node, inventory.read_at)


def guest_of(guests: Iterable[Guest], dataset: str) -> str:
    """Whose a dataset or volume is: that of the longest path that leads to it; "" where nobody is known."""
    fitting = [guest for guest in guests if dataset == guest.dataset or dataset.startswith(f"{guest.dataset}/")]
    return max(fitting, key=lambda guest: len(guest.dataset)).name if fitting else ""


def vetoes_of(vetoes: Iterable[Veto], goal: Goal, plan: Plan) -> tuple[Refused, ...]:
    """Why a platform forbids to go on with a plan."""
    scopes = {"", plan.request.pool_guid, *plan.request.disks}
    return tuple(veto.reason for veto in vetoes if veto.scope in scopes and goal in veto.forbids)


def vetoes_on(vetoes: Iterable[Veto], *scopes: str) -> tuple[Refused, ...]:
    """Why a platform forbids to begin anything on these pools (guids), disks (keys) or, with "", on the host."""
    return tuple(veto.reason for veto in vetoes if veto.scope in scopes and Goal.APPLY in veto.forbids)


def vetoes_by_disk(vetoes: Iterable[Veto], inventory: Inventory) -> Mapping[str, Refused]:
    """The first reason why a platform forbids to begin anything on a disk, by its key, where there is one."""
    told = tuple(vetoes)
    return {disk.key: reasons[0] for disk in inventory.disks if (reasons := vetoes_on(told, disk.key))}


def warnings_with_undo(vetoes: Iterable[Veto]) -> tuple[Finding, ...]:
    """What is said with an undo on a host where only forward steps are forbidden because of the platform's version."""
    return tuple(filter(None, (said_with_undo(veto.reason) for veto in vetoes if Goal.UNDO not in veto.forbids)))
