"""What the first step shows: each pool, what may be added to it, and why not."""

from dataclasses import dataclass

from nasadvisor.domain.checks import can_use_pool
from nasadvisor.domain.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.platforms import Veto, vetoes_on
from nasadvisor.domain.refusals import LogLegNotOnline, LogLegUnknown
from nasadvisor.domain.statements import Refused


@dataclass(frozen=True)
class PoolChoice:
    """A pool. `refusal` forbids everything, `log_refusal` a log only.

    `single_log` is its log if that is not mirrored, and `attach_refusal` why it cannot be made a mirror.
    """

    pool: Pool
    refusal: Refused | None
    log_refusal: Refused | None
    single_log: Vdev | None
    attach_refusal: Refused | None


def pool_choices(inventory: Inventory, vetoes: tuple[Veto, ...] = ()) -> tuple[PoolChoice, ...]:
    """Every pool, usable ones first; `vetoes` are those of the host's platform."""
    choices = (pool_choice(pool, inventory, vetoes) for pool in inventory.pools)
    return tuple(sorted(choices, key=lambda choice: (choice.refusal is not None, choice.pool.name)))


def pool_choice(pool: Pool, inventory: Inventory, vetoes: tuple[Veto, ...] = ()) -> PoolChoice:
    """One pool."""
    cache_answer = can_use_pool(pool, inventory.host, adds_log=False)
    log_answer = can_use_pool(pool, inventory.host, adds_log=True)
    single_log = single_log_of(pool)
    forbidden = vetoes_on(vetoes, "", pool.guid)
    return PoolChoice(
        pool=pool,
        refusal=next((each for each in (*forbidden, cache_answer) if isinstance(each, Refused)), None),
        log_refusal=log_answer if isinstance(log_answer, Refused) else None,
        single_log=single_log,
        attach_refusal=_against_attach(pool, single_log, inventory) if single_log else None,
    )


def single_log_of(pool: Pool) -> Vdev | None:
    """The log of a pool whose only log vdev is one device."""
    if len(pool.logs) != 1 or pool.logs[0].children:
        return None
    return pool.logs[0]


def _against_attach(pool: Pool, leaf: Vdev, inventory: Inventory) -> Refused | None:
    if leaf.state != "ONLINE":
        return LogLegNotOnline(pool, leaf)
    return None if inventory.partition_at(leaf.path) else LogLegUnknown(pool, leaf)
