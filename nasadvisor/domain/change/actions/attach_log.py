"""Another side for a log."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from nasadvisor.domain.change.actions.base import PLANNED_GUID, Argv, Category, Outcome
from nasadvisor.domain.change.actions.detach_log import DetachLog
from nasadvisor.domain.change.actions.inventory_queries import is_leaf_on, leaf_on, with_pool
from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.change.actions.pool_step import PoolStep
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Vdev

LOG_SIDE_DIES: Final = _(
    "If it fails, the other side of the mirrored log keeps working: nothing is lost, and pool {pool} shows DEGRADED "
    "until the side is replaced. Acknowledged writes are lost only if both sides have failed and the host crashes."
)


@dataclass(frozen=True)
class AttachLog(PoolStep):
    """Make a single log a mirror, or add a side to a mirrored one, with `zpool attach`."""

    ashift: int
    existing_guid: str
    existing_path: str
    side: Slice
    action: Literal["attach-log"] = "attach-log"

    category = Category.ALTERATION

    @property
    def pieces(self) -> tuple[Slice, ...]:
        return (self.side,)

    def describe(self) -> Statement:
        return Statement(
            self.action,
            _("Mirror the log of pool {pool}: attach a slice on {disk} to {existing}"),
            {"pool": self.pool_name, "disk": self.side.disk_path, "existing": self.existing_path},
        )

    def forwards(self, inventory: Inventory) -> Inventory:
        pool = inventory.pool(self.pool_guid)
        logs = tuple(self._mirrored(top) for top in pool.logs) if pool else ()
        return with_pool(inventory, self.pool_guid, (self.side,), logs=logs)

    def _mirrored(self, top: Vdev) -> Vdev:
        leaf = leaf_on(self.side, self.ashift)
        if top.guid == self.existing_guid:
            return Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=top.ashift, children=(top, leaf))
        if any(child.guid == self.existing_guid for child in top.children):
            return replace(top, children=(*top.children, leaf))
        return top

    def commands(self) -> tuple[Argv, ...]:
        ashift = f"ashift={self.ashift}"
        return (("zpool", "attach", "-o", ashift, self.pool_name, self.existing_guid, self.side.path),)

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        for top in pool.logs if pool else ():
            guids = [leaf.guid for leaf in top.leaves() if is_leaf_on(leaf, self.side, inventory)]
            if top.kind == "mirror" and guids and any(leaf.guid == self.existing_guid for leaf in top.leaves()):
                return Outcome((guids[0],))
        return None

    def undo(self, outcome: Outcome) -> tuple[DetachLog, ...]:
        return tuple(DetachLog(self.pool_name, self.pool_guid, guid, self.side) for guid in outcome.vdev_guids)

    def planned_outcome(self) -> Outcome:
        return Outcome(("<guid of the new log side>",))

    def if_lost(self, disk_key: str, inventory: Inventory) -> Iterator[Finding]:
        del inventory
        if self.side.disk_key == disk_key:
            yield side_dies(self.pool_name)


def side_dies(pool_name: str) -> Finding:
    """What it means if a side of a mirrored log dies."""
    return Finding(
        "log-side-dies",
        LOG_SIDE_DIES,
        {"pool": pool_name},
        Level.INFO,
        explanation=_("Replace it soon: until then, the log is as vulnerable as a single one."),
    )
