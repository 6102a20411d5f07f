"""What steps have in common that give a pool a device or take one from it."""

from dataclasses import dataclass, replace
from typing import Self

from nasadvisor.domain.change.actions.base import Argv, Forwards
from nasadvisor.domain.change.actions.clear_slice import ClearSlice
from nasadvisor.domain.change.actions.pieces import Slice
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


def zpool_add(pool_name: str, ashift: int, keyword: tuple[str, ...], pieces: tuple[Slice, ...]) -> Argv:
    """The command that gives slices to a pool, always with its class keyword and the pool's own ashift (zpool-add(8));
    `keyword` says as what."""
    return ("zpool", "add", "-o", f"ashift={ashift}", pool_name, *keyword, *(piece.path for piece in pieces))


def dry_run_of(argv: Argv) -> Argv:
    """The same `zpool add` with `-n`, which shows the resulting layout and changes nothing."""
    return (*argv[:2], "-n", *argv[2:])
