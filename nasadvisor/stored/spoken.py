"""What this release speaks."""

from nasadvisor import __version__
from nasadvisor.domain.fleet.spoken import Spoken
from nasadvisor.stored.kinds import kinds_between_console_and_host


def spoken(node: str = "") -> Spoken:
    """What a host of this name speaks, or the console of this release."""
    return Spoken(node, __version__, {kind.name: kind.number for kind in kinds_between_console_and_host()})
