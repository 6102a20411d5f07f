"""What the doctor looks at of caches that are switched."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nasadvisor.domain.evidence.switch_words import not_back
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.switch_records import SwitchRecords


def switching_looks(directory: Path, service_runs: bool) -> Iterator[tuple[bool, str]]:
    """Whether each is all right, and what was found; nothing of those that have ended well.

    Without its service a cache could stay out of service for good.
    """
    records = SwitchRecords(directory)
    for record_id in sorted(records.ids()):
        try:
            found = _look(records.read(record_id), service_runs)
        except HostError as error:
            found = False, str(error)
        if found:
            yield found


def _look(record: CacheSwitching, service_runs: bool) -> tuple[bool, str] | None:
    finding = not_back(record)
    if finding:
        return False, str(finding)
    if record.ended_at:
        return None
    if not service_runs:
        return False, (
            f"the cache of pool {record.pool_name} is being switched, but nasadvisor-host.service does not run, so it "
            f"may stay out of service. To end it and put the cache back: nasadvisor switching {record.pool_name} --stop"
        )
    until = datetime.fromtimestamp(record.plan.end, UTC).strftime("%Y-%m-%d %H:%M")
    return True, f"the cache of pool {record.pool_name} is being switched until {until} UTC."
