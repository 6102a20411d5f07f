"""How the disks of a pool are, for pages of rooms that know nothing of health: {% load disk_badges %}."""

from django import template

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import DiskBadge, badges_in_pool
from nasadvisor.domain.storage.inventory import Inventory, Pool

register = template.Library()


@register.simple_tag
def unwell_disks(node: Node, inventory: Inventory, pool: Pool) -> list[DiskBadge]:
    """The badges of the disks of a pool, the worst first: {% unwell_disks node inventory pool as unwell %}."""
    return badges_in_pool(node, inventory, pool)
