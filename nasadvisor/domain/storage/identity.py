"""What tells one disk from another. It is decided here, for plans, the host and the console alike.

None of model, serial, WWN and namespace is enough alone: makers gave one WWN to all SSDs of a model, docks give one
serial to the disks in all bays, and all namespaces of an NVMe SSD have its serial.
"""

import re
from dataclasses import dataclass
from typing import Final

_SHORTEST_PART: Final = 6
"""[policy] So many characters of a serial are no chance: bridges cut serials off, or put something before them."""

_MADE_UP: Final = re.compile(r"0x.?0+|0x50{6}.{9}|eui\.0{6}.{10}|(?:eui|uuid)\.[0-]+|(?:0x|eui\.|uuid\.)[f-]+")
"""Zeros everywhere, or where the vendor's number must stand: in NAA 5 (SPC-4, 7.8.6.6) and in an EUI-64. Or flash that
nobody wrote, which reads as ones."""


@dataclass(frozen=True)
class DiskIdentity:
    """What stays the same when cables, slots and kernel names change.

    `wwn` is the WWN (SATA, SAS) or EUI-64/NGUID (NVMe) as udev reports it, "" where it has none or a made-up one.
    `namespace` is the number of an NVMe namespace, "" of other disks.
    """

    model: str
    serial: str
    wwn: str
    size_bytes: int
    logical_sector_bytes: int
    physical_sector_bytes: int
    namespace: str = ""

    @property
    def key(self) -> str:
        """The name by which documents refer to this disk."""
        namespace = "" if self.namespace in ("", "1") else f"ns{self.namespace}"
        words = " ".join((self.model, self.serial, self.wwn, namespace)).split()
        return "_".join(words) or "_"

    @property
    def is_told(self) -> bool:
        """Whether anything tells the disk from others of its model."""
        return bool(self.serial or self.wwn)

    @property
    def hardware(self) -> str:
        """What devices share that are one piece of hardware, as namespaces do; "" where nothing tells."""
        return self.serial.strip().upper()

    def own_serial(self, told: str) -> str:
        """The serial that the disk itself told, "" unless it is another than the one here, as behind a USB bridge."""
        own, known = (re.sub(r"[^A-Z0-9]", "", serial.upper()) for serial in (told, self.serial))
        shorter, longer = sorted((own, known), key=len)
        is_part = len(shorter) >= _SHORTEST_PART and shorter in longer
        return "" if not own or own == known or is_part else told


def is_made_up(wwn: str) -> bool:
    """Whether no vendor stands in a WWN, as in those of some cheap SSDs and USB bridges: then it is nobody's."""
    return _MADE_UP.fullmatch(wwn) is not None
