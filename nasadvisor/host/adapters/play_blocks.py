"""Writes the blocks of a ZIL to a slice as they once came: each no earlier than it did, and flushed before it counts.

python3 -I play_blocks.py SLICE FILE SECONDS. FILE is JSON: `after_us` and `sizes` of the blocks, and how many are under
way `at_once` at most. It begins none after SECONDS, even if who started it is gone, and prints what each block took.

A program of its own, with nothing but the standard library: in the process of the worker its other threads would be
measured as well. fio replays too (--read_iolog), but tells nothing of a write and its flush together, nor how late they
came.
"""

import json
import mmap
import os
import sys
import time
from itertools import accumulate
from pathlib import Path
from threading import Lock, Thread


class Player:
    """The blocks that are left, and what those took that are done."""

    def __init__(self, descriptor: int, after_us: list[int], sizes: list[int], limit_s: float) -> None:
        self.descriptor = descriptor
        self.took_ns: list[int] = [-1] * len(sizes)
        self.sizes = sizes
        self.due_s = [at / 1e6 for at in accumulate([0, *after_us[1:]])]
        self.offsets = offsets_in(os.lseek(descriptor, 0, os.SEEK_END), sizes)
        self.limit_s = limit_s
        self.page = mmap.mmap(-1, max(sizes))  # aligned, as O_DIRECT wants it
        self.page.write(os.urandom(max(sizes)))
        self.next = iter(range(len(sizes)))
        self.one = Lock()
        self.error: OSError | None = None

    def play(self, at_once: int) -> float:
        """All of them, so many at once; how long it took."""
        self.began = time.monotonic()
        lanes = [Thread(target=self._lane) for _ in range(at_once)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        if self.error:
            raise self.error
        return time.monotonic() - self.began

    def _lane(self) -> None:
        """One block after another: whoever is free takes the next, so a slow SSD is never asked for more at once."""
        with memoryview(self.page) as content:
            while (number := self._take()) is not None and not self.error:
                time.sleep(max(self.began + self.due_s[number] - time.monotonic(), 0))
                begun = time.perf_counter_ns()
                try:
                    os.pwrite(self.descriptor, content[: self.sizes[number]], self.offsets[number])
                    os.fdatasync(self.descriptor)
                except OSError as error:
                    self.error = error
                    return
                self.took_ns[number] = time.perf_counter_ns() - begun

    def _take(self) -> int | None:
        with self.one:
            number = next(self.next, None)
        late = number is None or max(time.monotonic() - self.began, self.due_s[number]) > self.limit_s
        return None if late else number


def offsets_in(room: int, sizes: list[int]) -> list[int]:
    """One behind the other, and from the beginning again where the slice ends."""
    offsets, at = [], 0
    for size in sizes:
        if size > room:
            raise ValueError(f"a block of {size} bytes does not fit into {room}")
        if at + size > room:
            at = 0
        offsets.append(at)
        at += size
    return offsets


def main(slice_path: str, play_path: str, seconds: str) -> None:
    """Play a file to a slice that nobody else has open, and print what came of it."""
    play = json.loads(Path(play_path).read_text(encoding="ascii"))
    descriptor = os.open(slice_path, os.O_WRONLY | os.O_DIRECT | os.O_EXCL | os.O_CLOEXEC)
    try:
        player = Player(descriptor, play["after_us"], play["sizes"], float(seconds))
        played_s = player.play(play["at_once"])
    finally:
        os.close(descriptor)
    done = [took for took in player.took_ns if took >= 0]
    sys.stdout.write(json.dumps({"took_ns": done, "played_s": played_s}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(str(error))
