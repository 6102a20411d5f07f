"""Looking for data that no tool recognises, on a disk that is open."""

from collections.abc import Callable

from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.storage.unrecognised import first_data, stretches_to_read

ReadAt = Callable[[int, int], bytes]
"""Reads a disk: from this offset, so many bytes."""


def find_unrecognised(disk: Disk, read_at: ReadAt) -> int | None:
    """Where such data begin on a disk on which nothing is recognised; None where all that is read is empty."""
    for stretch in stretches_to_read(disk):
        found = first_data(read_at(stretch.start_bytes, stretch.size_bytes), stretch.start_bytes)
        if found is not None:
            return found
    return None
