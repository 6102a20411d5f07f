"""What disks hold if the power fails at some moment of a record: what was flushed, and of the rest what one likes."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from .guest_disks import written_blocks
from .recorder import DURABLE, FLUSH, ZERO, Entry, entries_of

PAGE: Final = 4096


@dataclass
class Content:
    """What a disk holds, by pages; one that is not there is all zeros."""

    size: int
    pages: dict[int, bytes]

    @classmethod
    def of_file(cls, image: Path) -> Self:
        """What a sparse file holds."""
        content = cls(image.stat().st_size, {})
        for offset, block in written_blocks(image):
            content.write(offset, block)
        return content

    def copy(self) -> Self:
        """The same, to be changed by itself."""
        return type(self)(self.size, dict(self.pages))

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from a place on."""
        first, last = offset // PAGE, (offset + length - 1) // PAGE
        data = b"".join(self.pages.get(page, bytes(PAGE)) for page in range(first, last + 1))
        return data[offset - first * PAGE :][:length]

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes at a place."""
        at = 0
        while at < len(data):
            page, inside = divmod(offset + at, PAGE)
            piece = data[at : at + PAGE - inside]
            old = self.pages.get(page, bytes(PAGE))
            new = old[:inside] + piece + old[inside + len(piece) :]
            if any(new):
                self.pages[page] = new
            else:
                self.pages.pop(page, None)
            at += len(piece)

    def zero(self, offset: int, length: int) -> None:
        """Make a stretch zeros, however long."""
        end = offset + length
        for page in [page for page in self.pages if page * PAGE < end and (page + 1) * PAGE > offset]:
            start = max(offset, page * PAGE)
            self.write(start, bytes(min(end, (page + 1) * PAGE) - start))

    def carry_out(self, entry: Entry) -> None:
        """Do what a request asks."""
        if entry.kind == ZERO:
            self.zero(entry.offset, entry.length)
        else:
            self.write(entry.offset, entry.data)

    def save(self, image: Path) -> None:
        """Make a sparse file hold this and nothing else."""
        with image.open("r+b" if image.exists() else "wb") as file:
            os.truncate(file.fileno(), 0)
            os.truncate(file.fileno(), self.size)
            for page, data in self.pages.items():
                os.pwrite(file.fileno(), data, page * PAGE)


@dataclass(frozen=True)
class Moment:
    """A moment in which the power may fail. By the disks' numbers: what lasts, and what was not flushed yet, in order.

    The contents are those of the replay, which goes on with them: copy what you keep.
    """

    number: int
    lasting: dict[int, Content]
    unflushed: dict[int, list[Entry]]
    lasted: dict[int, int]

    def written(self, disk: int, *, keeps_unflushed: bool) -> tuple[int, int]:
        """How many requests last, and how many more the disk had carried out: where these are equal, its content is."""
        return self.lasted[disk], (len(self.unflushed[disk]) if keeps_unflushed else 0)

    def content(self, disk: int, *, keeps_unflushed: bool) -> Content:
        """What a disk holds afterwards, with all that was not flushed or with none of it."""
        content = self.lasting[disk].copy()
        for entry in self.unflushed[disk] if keeps_unflushed else ():
            content.carry_out(entry)
        return content


def moments(
    record: Path, start: int, end: int, before: dict[int, Content], liars: frozenset[int] = frozenset()
) -> Iterator[Moment]:
    """Each moment right before a request, and the end; `before` is what the disks held at the start of the record.

    Liars are disks that answer a flush and do nothing.
    """
    lasting = {disk: content.copy() for disk, content in before.items()}
    unflushed: dict[int, list[Entry]] = {disk: [] for disk in before}
    lasted = dict.fromkeys(before, 0)
    number = 0
    for entry in entries_of(record, start, end):
        if entry.disk not in lasting:
            continue
        yield Moment(number, lasting, unflushed, lasted)
        number += 1
        if entry.kind == FLUSH and entry.disk in liars:
            continue
        if entry.kind == FLUSH:
            for waiting in unflushed[entry.disk]:
                lasting[entry.disk].carry_out(waiting)
            lasted[entry.disk] += len(unflushed[entry.disk])
            unflushed[entry.disk].clear()
        elif entry.kind == DURABLE:
            # Once more with the rest, so that an older write to the same place does not come after it.
            lasting[entry.disk].carry_out(entry)
            lasted[entry.disk] += 1
            unflushed[entry.disk].append(entry)
        else:
            unflushed[entry.disk].append(entry)
    yield Moment(number, lasting, unflushed, lasted)
