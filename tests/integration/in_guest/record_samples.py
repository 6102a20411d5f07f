"""Runs inside the lab guest: the sampler, for SECONDS, a reading every EVERY seconds, as JSON lines with their cost."""

import json
import os
import sys
import time

from nasadvisor.host.build import machine_of
from nasadvisor.host.config import load_config
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.stored.documents import to_document


def main(seconds: int, every: int) -> None:
    sampler = Sampler(machine_of(load_config()))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = os.times()
        reading = sampler.sample()
        after = os.times()
        cost = sum(after[:4]) - sum(before[:4])  # user and system, of children too
        print(json.dumps({"reading": to_document(reading), "process_s": round(cost, 4)}), flush=True)
        time.sleep(every)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
