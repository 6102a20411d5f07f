"""Whether the kernel and udev know the partition table that is on a disk.

They learn of a change only if they are told, and a busy disk is not read again as a whole: what they show can be years
old. Space that only looks free would get a slice planned over somebody's partition.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from nasadvisor.domain.storage.gpt import GptEntry
from nasadvisor.domain.storage.inventory import Disk, Partition
from nasadvisor.host.adapters.holds import EXAMINE_AGAIN

SHOWN: Final = 3
"""How many differences are told: more of them say nothing new."""


def differences(disk: Disk, entries: Iterable[GptEntry]) -> tuple[str, ...]:
    """How the table on the disk differs from the partitions that are known, each with what to do about it.

    partx(8) is always given a number: without, it passes over partitions and says nothing (util-linux 2.38).
    """
    return tuple(_differences(disk, {entry.number: entry for entry in entries}))[:SHOWN]


def _differences(disk: Disk, entries: dict[int, GptEntry]) -> Iterator[str]:
    known = {part.number: part for part in disk.partitions}
    name = disk.path or f"/dev/{disk.kernel_name}"
    for number in sorted(known.keys() - entries.keys()):
        yield (
            f"the kernel still has partition {number}, which the table on the disk no longer lists; "
            f"`partx --delete --nr {number} {name}` makes the kernel forget it"
        )
    for number in sorted(entries.keys() - known.keys()):
        yield (
            f"the table on the disk lists partition {number}, which the kernel does not know; "
            f"`partx --update --nr {number} {name}` or a reboot lets it know"
        )
    for number in sorted(entries.keys() & known.keys()):
        entry, part = entries[number], known[number]
        if (entry.start_bytes, entry.end_bytes) != (part.start_bytes, part.end_bytes):
            yield (
                f"by the table on the disk, partition {number} lies elsewhere than the kernel has it; "
                f"`partx --update --nr {number} {name}` or a reboot lets it know"
            )
        elif not _is_same(entry, part):
            yield (
                f"udev shows another PARTUUID or type of partition {number} than the table on the disk has; "
                f"{EXAMINE_AGAIN}"
            )


def _is_same(entry: GptEntry, part: Partition) -> bool:
    return (entry.partuuid, entry.type_uuid) == (part.partuuid, part.type_uuid)
