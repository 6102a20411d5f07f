"""A side of ours, out of a log."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Backwards, Category
from nasadvisor.domain.change.actions.inventory_queries import is_out
from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


@dataclass(frozen=True)
class DetachLog(Backwards):
    """Take one side out of a mirrored log, by guid."""

    pool_name: str
    pool_guid: str
    vdev_guid: str
    side: Slice
    action: Literal["detach-log"] = "detach-log"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        values = {"guid": self.vdev_guid, "device": self.side.path, "pool": self.pool_name}
        return Statement(self.action, _("Detach the side on {device} from the log of pool {pool}"), values)

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "detach", self.pool_name, self.vdev_guid),)

    def gone(self, inventory: Inventory) -> bool:
        return is_out(self.pool_guid, self.vdev_guid, (self.side,), inventory)
