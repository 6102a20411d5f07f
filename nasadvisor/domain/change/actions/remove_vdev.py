"""A log or cache of ours, out of its pool."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Base, Category
from nasadvisor.domain.change.actions.pieces import Role, Slice
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


@dataclass(frozen=True)
class RemoveVdev(Base):
    """Take one log or cache vdev out of a pool, by guid. `slices` are those of the step that added it."""

    pool_name: str
    pool_guid: str
    role: Role
    vdev_guid: str
    slices: tuple[Slice, ...]
    action: Literal["remove-vdev"] = "remove-vdev"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        template = (
            _("Remove log {guid} from pool {pool}")
            if self.role is Role.LOG
            else _("Remove cache {guid} from pool {pool}")
        )
        return Statement(self.action, template, {"guid": self.vdev_guid, "pool": self.pool_name})

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "remove", self.pool_name, self.vdev_guid),)
