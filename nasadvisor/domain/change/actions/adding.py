"""`zpool add`, always with its class keyword and the pool's own ashift (zpool-add(8))."""

from nasadvisor.domain.change.actions.base import Argv
from nasadvisor.domain.change.actions.pieces import Slice


def zpool_add(pool_name: str, ashift: int, keyword: tuple[str, ...], pieces: tuple[Slice, ...]) -> Argv:
    """The command that gives slices to a pool; `keyword` says as what."""
    return ("zpool", "add", "-o", f"ashift={ashift}", pool_name, *keyword, *(piece.path for piece in pieces))


def dry_run_of(argv: Argv) -> Argv:
    """The same `zpool add` with `-n`, which shows the resulting layout and changes nothing."""
    return (*argv[:2], "-n", *argv[2:])
