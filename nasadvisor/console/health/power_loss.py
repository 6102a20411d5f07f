"""What the disks of a host told about their power-loss protection, for whoever plans with them."""

from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.storage.inventory import Inventory


def known_protection(inventory: Inventory) -> dict[str, str]:
    """A `power_loss.Protection` for each disk of the inventory that was asked, by its key."""
    found = StoredDisk.objects.filter(node__name=inventory.host.node).exclude(power_loss="")
    return dict(found.values_list("key", "power_loss"))
