"""A log for a pool."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from nasadvisor.domain.change.actions.attach_log import side_dies
from nasadvisor.domain.change.actions.base import PLANNED_GUID, Argv, Category, Outcome
from nasadvisor.domain.change.actions.inventory_queries import is_leaf_on_any, leaf_on, left_on, with_pool
from nasadvisor.domain.change.actions.pieces import Role, Slice
from nasadvisor.domain.change.actions.pool_step import PoolStep, dry_run_of, zpool_add
from nasadvisor.domain.change.actions.remove_vdev import RemoveVdev
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Vdev

SINGLE_LOG_DIES: Final = _(
    "If it fails while the host is running, no acknowledged writes are lost: memory still holds them all, and waiting "
    "writes are acknowledged with the next transaction group. Later log blocks go to the pool itself. Pool {pool} "
    "shows DEGRADED and keeps working; synchronous writes are slower. A device that hangs instead of failing stalls "
    "the programs that write synchronously."
)
"""zil_commit_impl() in module/zfs/zil.c falls back to txg_wait_synced(); vdev_propagate_state() in module/zfs/vdev.c
counts a lost log as degraded, not faulted."""

SINGLE_LOG_DIES_AND_CRASH: Final = _(
    "If the host crashes or loses power and the device does not work afterwards, the import of pool {pool} is refused "
    "until you run `zpool import -m {pool}`. The pool is then consistent, but the synchronous writes acknowledged "
    "since its last transaction group are lost: normally up to 5 s, more if the pool was slow. A database, virtual "
    "machine or NFS client considers these writes saved. After a clean shutdown, nothing is lost."
)
"""zpool-import(8) -m; zfs_txg_timeout in zfs(4); openzfs-docs issue 281."""

OTHER_LOG_STRIPED: Final = _(
    "Pool {pool} has another log besides this one, and log blocks are spread over both. A second log is no substitute "
    "for the first: each must survive a crash on its own."
)


@dataclass(frozen=True)
class AddLog(PoolStep):
    """Add a log vdev: one side is a single log, two or more are a mirror."""

    ashift: int
    sides: tuple[Slice, ...]
    action: Literal["add-log"] = "add-log"

    category = Category.ADDITION

    @property
    def is_mirror(self) -> bool:
        return len(self.sides) > 1

    @property
    def pieces(self) -> tuple[Slice, ...]:
        return self.sides

    def describe(self) -> Statement:
        if not self.is_mirror:
            return Statement(self.action, _("Add one slice as log to pool {pool}"), {"pool": self.pool_name})
        values = {"count": str(len(self.sides)), "pool": self.pool_name}
        return Statement(self.action, _("Add a mirror of {count} slices as log to pool {pool}"), values)

    def forwards(self, inventory: Inventory) -> Inventory:
        if not self.sides:
            return inventory
        leaves = tuple(leaf_on(side, self.ashift) for side in self.sides)
        top = leaves[0]
        if self.is_mirror:
            top = Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=self.ashift, children=leaves)
        pool = inventory.pool(self.pool_guid)
        return with_pool(inventory, self.pool_guid, self.sides, logs=(*pool.logs, top) if pool else ())

    def commands(self) -> tuple[Argv, ...]:
        keyword = ("log", "mirror") if self.is_mirror else ("log",)
        return (zpool_add(self.pool_name, self.ashift, keyword, self.sides),)

    def dry_run(self) -> Argv:
        """Shows the layout that would result, and changes nothing."""
        return dry_run_of(*self.commands())

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        for top in pool.logs if pool else ():
            leaves = list(top.leaves())
            same_count = len(leaves) == len(self.sides)
            right_kind = (top.kind == "mirror") == self.is_mirror
            if same_count and right_kind and all(is_leaf_on_any(leaf, self.sides, inventory) for leaf in leaves):
                return Outcome((top.guid,))
        return None

    def left(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        return left_on(self.sides, pool.logs, inventory) if pool else None

    def undo(self, outcome: Outcome) -> tuple[RemoveVdev, ...]:
        return tuple(
            RemoveVdev(self.pool_name, self.pool_guid, Role.LOG, guid, self.sides) for guid in outcome.vdev_guids
        )

    def planned_outcome(self) -> Outcome:
        return Outcome(("<guid of the new log>",))

    def never_undone(self) -> Iterator[Finding]:
        yield Finding(
            "log-leaves-hole",
            _(
                "After an undo, including one at the end of a trial, the configuration of pool {pool} keeps an empty "
                "entry (a hole) in place of the log as long as the pool exists. Each log that is added and removed "
                "leaves another."
            ),
            {"pool": self.pool_name},
            Level.INFO,
            explanation=_(
                "OpenZFS does that for every removed log. A hole contains no data, needs no space and is never reused "
                "by another device; `zdb -C` shows it."
            ),
        )

    def if_lost(self, disk_key: str, inventory: Inventory) -> Iterator[Finding]:
        if all(side.disk_key != disk_key for side in self.sides):
            return
        values = {"pool": self.pool_name}
        if self.is_mirror:
            yield side_dies(self.pool_name)
        else:
            yield Finding(
                "single-log-dies",
                SINGLE_LOG_DIES,
                values,
                Level.WARNING,
                explanation=_(
                    "Nothing is lost while the host is running: the contents of the log are also in memory and go to "
                    "the pool with the next transaction group."
                ),
            )
            yield Finding(
                "single-log-dies-and-crash",
                SINGLE_LOG_DIES_AND_CRASH,
                values,
                Level.CRITICAL,
                explanation=_("A mirror removes this risk unless both of its SSDs fail."),
            )
        pool = inventory.pool(self.pool_guid)
        if pool and pool.logs:
            yield Finding(
                "other-log-striped",
                OTHER_LOG_STRIPED,
                values,
                Level.WARNING,
                explanation=_("Mirror each log, or remove one."),
            )
