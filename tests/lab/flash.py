"""Serves one disk to QEMU that is as slow as flash must be: before it can erase a block, it moves what is in use there.

    python -m tests.lab.flash PID_FILE SOCKET IMAGE SPARE_PERCENT

A page is written where the last one ended, wherever it is asked for; the page that it takes the place of is in use no
more. Once hardly any block is free, the one with the fewest pages in use is emptied and erased, and each page that is
moved takes as long as one that is written. `SPARE_PERCENT` is how much more flash there is than the disk is large.
"""

import os
import sys
import time
from pathlib import Path
from typing import Final

from .nbd import go_into_background, serve, zero_in_file

PAGE_BYTES: Final = 16 * 1024
BLOCK_PAGES: Final = 128
PAGE_S: Final = 0.002
"""Long beside what emulation costs, so that it is the flash that is measured."""
ERASE_S: Final = 0.002
FREE_BLOCKS: Final = 3
"""With fewer it collects."""


class Flash:
    """Which page is where. Pages of the disk, and places of the flash, are counted from 0."""

    def __init__(self, pages: int, spare_percent: int) -> None:
        blocks = -(-pages * (100 + spare_percent) // (100 * BLOCK_PAGES)) + FREE_BLOCKS
        self.place_of: list[int | None] = [None] * pages
        self._page_at: list[int | None] = [None] * (blocks * BLOCK_PAGES)
        self._in_use = [0] * blocks
        self._free = list(range(1, blocks))
        self._block = 0
        self._next = 0

    def write(self, page: int) -> float:
        """Write a page of the disk; how long it takes, in seconds."""
        took_s = PAGE_S
        self._put(page)
        while len(self._free) < FREE_BLOCKS:
            took_s += self._collect()
        return took_s

    def forget(self, page: int) -> None:
        """The page is in use no more."""
        place = self.place_of[page]
        if place is not None:
            self.place_of[page] = self._page_at[place] = None
            self._in_use[place // BLOCK_PAGES] -= 1

    def _put(self, page: int) -> None:
        self.forget(page)
        if self._next == BLOCK_PAGES:
            self._block, self._next = self._free.pop(0), 0
        place = self._block * BLOCK_PAGES + self._next
        self.place_of[page], self._page_at[place] = place, page
        self._in_use[self._block] += 1
        self._next += 1

    def _collect(self) -> float:
        """Empty and erase the block with the fewest pages in use."""
        idle = {self._block, *self._free}
        block = min((each for each in range(len(self._in_use)) if each not in idle), key=self._in_use.__getitem__)
        places = range(block * BLOCK_PAGES, (block + 1) * BLOCK_PAGES)
        moved = [page for page in map(self._page_at.__getitem__, places) if page is not None]
        for page in moved:
            self._put(page)
        self._free.append(block)
        return ERASE_S + len(moved) * PAGE_S


class FlashDisk:
    """The disk on it: see `nbd.ServedDisk`. Its bytes are in the image, where they are asked for."""

    def __init__(self, image: Path, spare_percent: int) -> None:
        self._image = os.open(image, os.O_RDWR)
        self.size_bytes = os.fstat(self._image).st_size
        self._flash = Flash(self.size_bytes // PAGE_BYTES, spare_percent)
        self._busy_until = 0.0

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._image, length, offset)

    def write(self, offset: int, data: bytes, is_durable: bool) -> None:
        os.pwrite(self._image, data, offset)
        first, last = offset // PAGE_BYTES, (offset + len(data) - 1) // PAGE_BYTES
        self._wait(sum(self._flash.write(page) for page in range(first, last + 1)))

    def zero(self, offset: int, length: int) -> None:
        zero_in_file(self._image, offset, length)
        for page in range(-(-offset // PAGE_BYTES), (offset + length) // PAGE_BYTES):
            self._flash.forget(page)

    def flush(self) -> None:
        """It has no cache of its own."""

    def _wait(self, seconds: float) -> None:
        """Be busy for so long; what a sleep takes too long is had back from the next one."""
        now = time.monotonic()
        self._busy_until = max(self._busy_until, now - 0.01) + seconds
        time.sleep(max(self._busy_until - now, 0.0))


def main() -> None:
    """Go into the background once the socket is there."""
    pid_file, path, image = (Path(argument) for argument in sys.argv[1:4])
    go_into_background(pid_file, Path(f"{pid_file}.log"), (path,))
    serve(FlashDisk(image, int(sys.argv[4])), path)


if __name__ == "__main__":
    main()
