"""Where a disk stands in the machine: its slot in an enclosure, or of an NVMe SSD the PCI slot. Only sysfs is read.

An enclosure that answers SES has a directory for each slot, which the kernel links from the disk in it as
`enclosure_device:NAME` (drivers/misc/enclosure.c). A PCI slot with a number has its address in /sys/bus/pci/slots.
"""

from pathlib import Path

from nasadvisor.domain.storage.inventory import Slot
from nasadvisor.host.adapters.procfs import text_or_nothing


def slot_of(sys: Path, kernel_name: str) -> Slot | None:
    """The slot of a whole disk; None where the machine does not tell, as without an enclosure."""
    device = sys / "class/block" / kernel_name / "device"
    return _in_enclosure(device) or _in_pci(sys, device)


def _in_enclosure(device: Path) -> Slot | None:
    for place in sorted(device.glob("enclosure_device:*")):
        box = place.resolve().parent
        words = (text_or_nothing(box / "device" / fact) for fact in ("vendor", "model"))
        name = " ".join(" ".join(filter(None, words)).split())
        return Slot(place.name.partition(":")[2].strip(), name or text_or_nothing(box / "id"))
    return None


def _in_pci(sys: Path, device: Path) -> Slot | None:
    """A namespace hangs on its controller, or where several paths are put together on the subsystem above it."""
    addresses = (text_or_nothing(each / "address") for each in (device, *sorted(device.glob("nvme*"))))
    address = next(filter(None, addresses), "").rpartition(".")[0]
    for place in sorted((sys / "bus/pci/slots").glob("*")) if address else ():
        if text_or_nothing(place / "address") == address:
            return Slot(place.name)
    return None
