"""Counting the blocks of a pool, for how large special vdevs would have to be. It only looks, and takes its time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.refusals import NoPool
from nasadvisor.domain.evidence.metadata_blocks import BlockCount, kinds_of
from nasadvisor.domain.evidence.metadata_count import against_count
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.adapters.zdb import count_blocks
from nasadvisor.host.errors import CommandTimedOut, HostError, RulesForbid
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.storage.machine import Machine

LOOK_S: Final = 5.0
"""How long it is looked first whether the pool is quiet."""


class CountRefused(RulesForbid):
    """The blocks are not counted now."""


class CountUnfinished(HostError):  # noqa: N818 - named for what happened
    """It was not through in the time it was given."""

    def __init__(self, pool: str, limit_s: float) -> None:
        template = _(
            "zdb did not finish reading the metadata of pool {pool} within {time} and was stopped. Nothing was "
            "changed, and there is no partial result. Allow more time, at an hour when the pool is quiet."
        )
        super().__init__(template, pool=pool, time=duration(limit_s))


class CountUnderWay(HostError):  # noqa: N818 - named for what happened
    """Blocks are counted already."""

    def __init__(self) -> None:
        template = _(
            "The blocks of a pool on this host are already being counted, and only one count can run at a time. "
            "Nothing was started. Try again when it has ended."
        )
        super().__init__(template)


Counting = Callable[[str, int], BlockCount]
"""`BlockCounter.count`: of which pool, and for how many seconds at the most."""


def nobody_counts(guid: str, _limit_s: int) -> BlockCount:
    """What a host without a counter answers.

    Raises:
        CountRefused: always.
    """
    raise CountRefused((NoPool(guid),))


@dataclass
class BlockCounter:
    """Counts the blocks of pools of one machine. `wait` lets seconds pass, `tick` is a clock that is never set."""

    machine: Machine
    wait: Callable[[float], None] = time.sleep
    tick: Callable[[], float] = time.monotonic

    def count(self, guid: str, limit_s: int) -> BlockCount:
        """What a pool consists of; ended after `limit_s`.

        Raises:
            CountRefused: the pool is unwell, is scrubbed or resilvered, or is busy.
            CountUnfinished: it takes longer.
            HostError: zdb is missing, cannot open the pool, or prints something else than it does.
        """
        pool = next((each for each in self.machine.pools.read() if each.guid == guid), None)
        if pool is None:
            raise CountRefused((NoPool(guid),))
        refusals = tuple(against_count(pool, None)) or tuple(against_count(pool, self._look(pool)))
        if refusals:
            raise CountRefused(refusals)
        began = self.tick()
        try:
            counted, is_partial = count_blocks(self.machine.runner, pool.name, limit_s)
        except CommandTimedOut as error:
            if error.still_running:
                raise
            raise CountUnfinished(pool.name, limit_s) from None
        at = self.machine.clock().isoformat(timespec="seconds")
        return BlockCount(guid, pool.name, at, int(self.tick() - began), kinds_of(counted, pool), is_partial)

    def _look(self, pool: Pool) -> Sample | None:
        """What happens on it now; takes some seconds."""
        sampler = Sampler(self.machine)
        sampler.sample()
        self.wait(LOOK_S)
        return next((each for each in sampler.sample().samples if each.pool_guid == pool.guid), None)
