"""Runs inside the lab guest: read blocks of FILE in the order that ORDER has them, again and again, until it is killed.

ORDER is a file of unsigned 32-bit numbers, BLOCK the bytes of a block. Each time it begins anew it adds a line to the
file PASSES.
"""

import os
import sys
from array import array
from itertools import count
from pathlib import Path


def main(file: str, order: str, block: int, passes: str) -> None:
    numbers = array("I", Path(order).read_bytes())
    descriptor = os.open(file, os.O_RDONLY)
    with Path(passes).open("w", encoding="ascii") as told:
        for number in count():
            print(number, file=told, flush=True)
            for each in numbers:
                os.pread(descriptor, block, each * block)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
