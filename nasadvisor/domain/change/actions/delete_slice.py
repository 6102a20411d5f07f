"""A slice of ours, cleared and deleted."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Base, Category
from nasadvisor.domain.change.actions.pieces import Role, Slice, place_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


@dataclass(frozen=True)
class DeleteSlice(Base):
    """Clear the ZFS labels of a slice that we made for this pool, and delete the partition."""

    slice: Slice
    pool_guid: str
    action: Literal["delete-slice"] = "delete-slice"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        template = (
            _("Clear and delete the log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Clear and delete the cache slice (partition {number}) on {disk}")
        )
        return Statement(self.action, template, place_of(self.slice))

    def commands(self) -> tuple[Argv, ...]:
        piece = self.slice
        return (
            ("zpool", "labelclear", piece.partuuid_path),
            ("blkdiscard", piece.partuuid_path),
            ("sgdisk", f"--delete={piece.number}", piece.disk_path),
        )
