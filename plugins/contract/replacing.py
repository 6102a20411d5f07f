"""The part of a platform integration that says how a device is replaced there. It is pure, for it is asked on the host
and in the console; what it says somebody types.
"""

from dataclasses import dataclass
from typing import Protocol

from nasadvisor.domain.health.replacement.advice import Replacement
from nasadvisor.domain.health.replacement.may_now import DATA
from nasadvisor.domain.statements import Statement


@dataclass(frozen=True)
class PlatformWay:
    """What to do there, and the command of its own that does it; "" where it has none.

    `is_only` is where the commands of OpenZFS must not be used instead.
    """

    said: Statement
    command: str = ""
    is_only: bool = False


class ReplacingPlatform(Protocol):
    """One platform; `name` is that by which its hosts report it."""

    name: str

    def way(self, found: Replacement) -> PlatformWay:
        """How a device with data is replaced, where OpenZFS would replace it by a command."""
        ...


def is_replaced(found: Replacement) -> bool:
    """Whether it is a device with data, and OpenZFS has a command that replaces it now."""
    return found.member.vdev_class in DATA and any("replace" in each.argv for each in found.commands)
