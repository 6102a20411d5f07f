"""What we would choose ourselves: which SSDs, of those that may be used at all."""

from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.statements import Allowed
from nasadvisor.domain.storage.inventory import Bus, Disk


def is_free_ssd(disk: Disk) -> bool:
    """Whether a disk is an SSD inside the machine with nothing on it."""
    is_inside = not disk.removable and disk.bus is not Bus.USB
    return is_inside and not disk.rotational and not disk.partitions and isinstance(can_use_disk(disk), Allowed)
