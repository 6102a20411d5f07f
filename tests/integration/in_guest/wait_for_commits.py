"""Runs inside the lab guest: writes to FILE and waits for each write to be safe, as NAME, until it is told to end.

It does so in waves: a minute with short pauses, half a minute with long ones. It prints what it waited by its own
clock: in all, and for each wait the time of day at which it ended and its length.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path


def main(name: str, file: str, pause_s: float) -> None:
    Path("/proc/self/comm").write_text(name)
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: ended.append(number))
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT)
    chance, waits, began = random.Random(name), list[tuple[float, float]](), time.monotonic()
    while not ended:
        os.pwrite(descriptor, os.urandom(4096), 4096 * chance.randrange(256))
        before = time.monotonic()
        os.fsync(descriptor)
        waits.append((time.time(), time.monotonic() - before))
        is_quiet = (before - began) % 90 > 60
        time.sleep(chance.expovariate(1 / (pause_s * (10 if is_quiet else 1))))
    waited_s = sum(wait_s for _, wait_s in waits)
    print(json.dumps({"waited_s": waited_s, "seconds": time.monotonic() - began, "waits": waits}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
