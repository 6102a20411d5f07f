"""Runs inside the lab guest: writes to FILE and waits for each write to be safe, as NAME, until it is told to end.

It does so in waves: a minute with short pauses, half a minute with long ones. What it waited by its own clock it
prints.
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
    chance, waited, commits, began = random.Random(name), 0.0, 0, time.monotonic()
    while not ended:
        os.pwrite(descriptor, os.urandom(4096), 4096 * chance.randrange(256))
        before = time.monotonic()
        os.fsync(descriptor)
        waited, commits = waited + time.monotonic() - before, commits + 1
        is_quiet = (before - began) % 90 > 60
        time.sleep(chance.expovariate(1 / (pause_s * (10 if is_quiet else 1))))
    print(json.dumps({"waited_s": waited, "commits": commits, "seconds": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
