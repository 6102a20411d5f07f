"""A disk's reading with another value in each field, so that two that were mixed up are told apart."""

import base64
from typing import Any

from nasadvisor.stored.packing import DiskReading, pack_readings

INDICATORS = [
    {"code": "nvme-percentage-used", "name": "Used", "percent_used": 12.0, "trust": "standard", "ceiling": 255.0},
    {"code": "attribute-233", "name": "Wear", "percent_used": 12.5, "trust": "documented", "ceiling": 100.0},
]
COUNTER = {"code": "nvme-data-units", "name": "Units", "unit_bytes": 512_000, "may_wrap": False}


def said(at: int) -> DiskReading:
    """What a disk said at a moment; of what it counts more each time."""
    counters = [{**COUNTER, "bytes_written": at * 512_000}, {**COUNTER, "code": "241", "bytes_written": at * 7}]
    return DiskReading(at, at // 3600, 12.0, at * 512_000, 41, 97, 2, "log+cache", INDICATORS, counters)


READINGS = (said(1_790_000_000), said(1_790_021_600), DiskReading(1_790_043_200, indicators=[], counters=[]))


def packed_readings_example() -> dict[str, Any]:
    """`READINGS` as they are packed today, in base64."""
    return {"packed": base64.b64encode(pack_readings(READINGS)).decode()}
