"""A slice of ours as it was made."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import NO_COMMANDS, Argv, Base, Category
from nasadvisor.domain.change.actions.pieces import Slice, place_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


@dataclass(frozen=True)
class ClearSlice(Base):
    """Write zeros over what a step that was cut off left at both ends of a slice of ours."""

    slice: Slice
    pool_name: str
    pool_guid: str
    action: Literal["clear-slice"] = "clear-slice"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Clear the remains of an interrupted step from partition {number} on {disk}")
        return Statement(self.action, template, place_of(self.slice))

    def commands(self) -> tuple[Argv, ...]:
        return NO_COMMANDS
