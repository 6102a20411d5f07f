"""How the guest sees the disks of its scenario, and what is on them."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .disks import by_path
from .errors import LabError
from .scenario import Scenario

BLOCK = 1 << 16
# What a person would choose: a name that tells the model, before a bare number.
PREFERRED = ("ata-", "nvme-", "scsi-S", "wwn-", "scsi-")
# Prints each link below /dev/disk after the node it leads to.
LIST_LINKS = ("find", "/dev/disk", "-type", "l", "-printf", r"%l %p\n")


@dataclass(frozen=True)
class GuestDisk:
    """One disk as the guest sees it now."""

    # /dev/sda or /dev/nvme0n1: valid until the next reboot.
    device: str
    # Every link below /dev/disk that leads to it.
    links: tuple[str, ...]

    @property
    def by_id(self) -> str:
        """A persistent name, as a person would choose it."""
        links = [link for link in self.links if link.startswith("/dev/disk/by-id/")]
        if not links:
            raise LabError(f"{self.device} has no link in /dev/disk/by-id.")
        return min(links, key=lambda link: (_rank(link), len(link), link))


def _rank(link: str) -> int:
    name = link.rsplit("/", 1)[1]
    return next((place for place, start in enumerate(PREFERRED) if name.startswith(start)), len(PREFERRED))


@dataclass(frozen=True)
class DiskDigest:
    """What is on a disk. Equal digests: not one byte differs."""

    content: str
    # `sfdisk --dump`, empty without a partition table; the device is called by its name in the lab.
    partitions: str
    # `wipefs --no-act`.
    signatures: str


def find_disks(scenario: Scenario, listing: str) -> dict[str, GuestDisk]:
    """The scenario's disks by the lab's names, from the output of LIST_LINKS."""
    links: dict[str, list[str]] = {}
    for line in listing.splitlines():
        target, link = line.split(" ", 1)
        links.setdefault(f"/dev/{target.rsplit('/', 1)[1]}", []).append(link)
    owners = {link: device for device, names in links.items() for link in names}
    found: dict[str, GuestDisk] = {}
    for disk in scenario.disks:
        for namespace in range(1, disk.namespaces + 1):
            device = owners.get(by_path(scenario, disk, namespace))
            if device is not None:
                key = disk.name if namespace == 1 else f"{disk.name}-{namespace}"
                found[key] = GuestDisk(device, tuple(sorted(links[device])))
    return found


def digests_from(described: str, disks: Mapping[str, GuestDisk], contents: Mapping[str, str]) -> dict[str, DiskDigest]:
    """Put together the output of `in_guest/describe.sh` and what the host read."""
    digests: dict[str, DiskDigest] = {}
    for (name, disk), section in zip(disks.items(), described.split("\x1c")[1:], strict=True):
        partitions, signatures = section.replace(disk.device, name).split("\x1d")
        digests[name] = DiskDigest(contents[name], partitions.strip(), signatures.strip())
    return digests


def is_blank(image: Path) -> bool:
    """Whether there are only zeros on a disk."""
    return not any(block.strip(b"\0") for _, block in written_blocks(image))


def content_digest(image: Path) -> str:
    """A hash of everything on a disk but zeros, empty for a disk that is blank from end to end."""
    digest = hashlib.sha256()
    blank = True
    for offset, block in written_blocks(image):
        if block.strip(b"\0"):
            blank = False
            digest.update(offset.to_bytes(8))
            digest.update(block)
    return "" if blank else digest.hexdigest()


def written_blocks(image: Path) -> Iterator[tuple[int, bytes]]:
    """The blocks of a sparse file that hold data."""
    with image.open("rb", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        offset = 0
        while offset < end:
            try:
                offset = file.seek(offset, os.SEEK_DATA)
            except OSError:
                # Nothing but a hole up to the end.
                return
            # Whole blocks at fixed places, however the host splits the file into extents.
            offset = file.seek(offset - offset % BLOCK)
            yield offset, file.read(BLOCK)
            offset += BLOCK
