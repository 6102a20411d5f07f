"""What is shown before the first step: each pool, what may be added to it, and why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.console.storage.pools import reason_against_adding
from nasadvisor.domain.change.checks import can, can_use_pool
from nasadvisor.domain.change.plan import drop_of
from nasadvisor.domain.change.proposal import single_log_of
from nasadvisor.domain.change.refusals import LogSideNotOnline, LogSideUnknown
from nasadvisor.domain.fleet.platforms import Veto, vetoes_on
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import (
    OFFLINE,
    BrokenSide,
    broken_log_sides,
    is_dead,
    without_log_side,
    without_logs,
)

MIRROR: Final = "mirror"
REPLACE: Final = "replace"
INSTEAD: Final = "instead"
"""Goals as the addresses and buttons name them; any other is to add."""


@dataclass(frozen=True)
class PoolChoice:
    """A pool. `refusal` forbids everything, `log_refusal` a log only.

    `single_log` is its log if that is not mirrored, and `attach_refusal` why it cannot be made a mirror. `broken` is
    the broken side of a mirrored log, and `replace_refusal` why it cannot be replaced. `dead` is a log of which no side
    works, and `dead_refusal` why it can be neither replaced nor taken out.
    """

    pool: Pool
    refusal: Refused | None
    log_refusal: Refused | None
    single_log: Vdev | None
    attach_refusal: Refused | None
    broken: BrokenSide | None
    replace_refusal: Refused | None
    dead: Vdev | None
    dead_refusal: Refused | None

    @property
    def leaves_nothing_to_ask(self) -> bool:
        """Whether the one thing to do with it is to add something."""
        return self.refusal is None and self.single_log is None and self.broken is None and self.dead is None

    @property
    def is_way_out(self) -> bool:
        """Whether what ails the pool can be replaced here."""
        return (self.broken is not None and self.replace_refusal is None) or (
            self.dead is not None and self.dead_refusal is None
        )

    @property
    def has_both(self) -> bool:
        """Whether the pool has a log and a cache, so that to add one is nothing that lies near."""
        return bool(self.pool.logs and self.pool.caches)

    def way(self, goal: str) -> "PoolGoal":
        """What to go about; without a single log or a broken side it is what can always be done: to add."""
        if goal == MIRROR and self.single_log:
            return PoolGoal(self.refusal or self.attach_refusal, attach_to=self.single_log.guid)
        if goal == REPLACE and self.broken:
            return PoolGoal(self.replace_refusal, self.broken.partner.guid, self.broken.side.guid)
        if goal == INSTEAD and self.dead:
            return PoolGoal(self.dead_refusal, dead_log=self.dead.guid)
        return PoolGoal(self.refusal)


@dataclass(frozen=True)
class PoolGoal:
    """What somebody does with a pool, as guids: the log side that gets a partner, the broken one, or the dead log.

    All are "" where nothing but something new is added. `refusal` forbids it.
    """

    refusal: Refused | None
    attach_to: str = ""
    replaces: str = ""
    dead_log: str = ""

    @property
    def is_of_a_log(self) -> bool:
        """Whether it is about a log that is there."""
        return bool(self.attach_to or self.dead_log)


def pool_choices(inventory: Inventory, vetoes: tuple[Veto, ...]) -> tuple[PoolChoice, ...]:
    """Every pool, usable ones first; `vetoes` are those of the host's platform."""
    choices = (pool_choice(pool, inventory, vetoes) for pool in inventory.pools)
    return tuple(sorted(choices, key=lambda choice: (choice.refusal is not None, choice.pool.name)))


def pool_choice(pool: Pool, inventory: Inventory, vetoes: tuple[Veto, ...]) -> PoolChoice:
    """One pool."""
    log_answer = can_use_pool(pool, inventory.host, adds_log=True)
    single_log = single_log_of(pool)
    broken = next((each for each in broken_log_sides(pool) if each.side.state != OFFLINE), None)
    dead = next((top for top in pool.logs if is_dead(top)), None)
    forbidden = tuple(vetoes_on(vetoes, "", pool.guid))
    against_replacing = (*forbidden, *(_against_replacing(pool, broken, inventory) if broken else ()))
    return PoolChoice(
        pool=pool,
        refusal=reason_against_adding(pool, inventory.host, vetoes),
        log_refusal=log_answer if isinstance(log_answer, Refused) else None,
        single_log=single_log,
        attach_refusal=_against_attach(pool, single_log, inventory) if single_log else None,
        broken=broken,
        replace_refusal=next(iter(against_replacing), None),
        dead=dead,
        dead_refusal=next(iter((*forbidden, *(_against_new_log(pool, dead, inventory) if dead else ()))), None),
    )


def _against_replacing(pool: Pool, broken: BrokenSide, inventory: Inventory) -> Iterator[Refused]:
    """The pool must be well once the broken side is out, and the disk of the other one must be known."""
    answer = can_use_pool(without_log_side(pool, broken.side.guid), inventory.host, adds_log=True)
    if isinstance(answer, Refused):
        yield answer
    if inventory.partition_at(broken.partner.path) is None:
        yield LogSideUnknown(pool, broken.partner)


def _against_new_log(pool: Pool, dead: Vdev, inventory: Inventory) -> Iterator[Refused]:
    """The pool must be well once the dead log is out."""
    answers = (
        can(drop_of(pool, dead.guid), inventory),
        can_use_pool(without_logs(pool, dead.guid), inventory.host, adds_log=True),
    )
    yield from (answer for answer in answers if isinstance(answer, Refused))


def _against_attach(pool: Pool, leaf: Vdev, inventory: Inventory) -> Refused | None:
    if leaf.state != "ONLINE":
        return LogSideNotOnline(pool, leaf)
    return None if inventory.partition_at(leaf.path) else LogSideUnknown(pool, leaf)
