"""What steps have in common that give a pool a device or take one from it."""

from dataclasses import dataclass, replace
from typing import Self

from nasadvisor.domain.change.actions.base import Forwards
from nasadvisor.domain.change.actions.clear_slice import ClearSlice
from nasadvisor.domain.storage.inventory import Pool


@dataclass(frozen=True)
class PoolStep(Forwards):
    """A step on a pool, by its name and guid."""

    pool_name: str
    pool_guid: str

    def at_pool(self, pool: Pool | None) -> Self:
        return replace(self, pool_name=pool.name, pool_guid=pool.guid) if pool else self

    def cleaning(self) -> tuple[ClearSlice, ...]:
        return tuple(ClearSlice(piece, self.pool_name, self.pool_guid) for piece in self.pieces)
