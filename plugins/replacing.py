"""How a device is replaced on the platforms of a host: each integration that has a part for it says so."""

from collections.abc import Collection

from nasadvisor.domain.health.replacement.advice import Replacement
from plugins.contract.replacing import PlatformWay, is_replaced
from plugins.registry import find


def ways_to_replace(names: Collection[str], found: Replacement) -> list[PlatformWay]:
    """How a device is replaced on the platforms of these names; none where OpenZFS's own commands are all there is."""
    if not is_replaced(found):
        return []
    platforms = (plugin.platform for plugin in find("replacing") if plugin.platform is not None)
    return [platform.way(found) for platform in platforms if platform.name in names]
