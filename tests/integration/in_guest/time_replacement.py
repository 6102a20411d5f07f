"""Runs inside the lab guest: replaces the device GUID of POOL by NEW, and tells how long it was said to take and took.

One JSON document: seconds at least and at most, seconds measured, bytes to fill.
"""

import json
import subprocess
import sys
import time

from nasadvisor.domain.health.replacement.advice import replacement_of
from nasadvisor.domain.health.replacement.evidence import survey_of
from nasadvisor.domain.health.replacement.member import member_with
from nasadvisor.host.build import machine_of
from nasadvisor.host.config import load_config
from nasadvisor.host.storage.machine import read_inventory


def main(pool: str, guid: str, new: str) -> None:
    survey = survey_of(read_inventory(machine_of(load_config())), {})
    member = member_with(guid, survey.members)
    assert member, f"no device {guid}"
    found = replacement_of(member, survey)
    assert found.seconds, "nothing is said of the time"
    began = time.monotonic()
    subprocess.run(["zpool", "replace", "-o", "ashift=12", pool, guid, new], check=True)
    subprocess.run(["zpool", "wait", "-t", "resilver,replace", pool], check=True)
    low, high = found.seconds
    took = time.monotonic() - began
    print(json.dumps({"low": low, "high": high, "took": took, "bytes": found.bytes_to_fill}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
