"""Every finding about pools and disks with its level: just below a threshold, at it, and just above.

What is told by a level goes out as an alert, wakes somebody, or is left unsaid. Each row says it for one input.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from nasadvisor.domain.health.disk_findings import CRITICAL_WARNINGS, Subject, disk_findings, unanswered
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.pool_findings import member_finding
from nasadvisor.domain.health.smart.power_loss import Protection, ProtectionEvidence
from nasadvisor.domain.health.smart.reading import SelfTests, decode
from nasadvisor.domain.health.traffic_findings import Traffic, traffic_findings
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Inventory, Scan, Vdev, VdevClass
from nasadvisor.domain.units import GIB
from tests.unit.machines import home_server, with_pool

NOTE, WARN, BAD = Level.INFO, Level.WARNING, Level.CRITICAL
WELL: Final = decode({})
BROKEN_PROTECTION: Final = (ProtectionEvidence("capacitor", Protection.CONFIRMED, failed=True),)
WORKING_PROTECTION: Final = (ProtectionEvidence("capacitor", Protection.CONFIRMED),)


def of_disk(role: str = "data", **changes: Any) -> dict[str, Level]:
    found = disk_findings(Subject("Disk (S1)", "key", "1", role), replace(WELL, **changes))
    return {each.code: each.level for each in found}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"passed": None}, {}),
        ({"passed": True}, {}),
        ({"passed": False}, {"disk-failing": BAD}),
        ({"exit_bits": ("prefail-below-threshold",)}, {"disk-prefail": WARN}),
        ({"exit_bits": ("prefail-below-threshold",), "passed": False}, {"disk-failing": BAD}),
        ({"exit_bits": ("was-below-threshold", "error-log-has-errors")}, {}),
        ({"self_tests": SelfTests(3, 0, True)}, {}),
        ({"self_tests": SelfTests(3, 1, True)}, {"self-test-failed": WARN}),
        ({"self_tests": SelfTests(3, 0, False)}, {}),
        ({"exit_bits": ("self-test-log-has-errors",)}, {"self-test-failed": WARN}),
        ({"exit_bits": ("self-test-log-has-errors",), "self_tests": SelfTests(3, 0, True)}, {}),
        ({"media_errors": None}, {}),
        ({"media_errors": 0}, {}),
        ({"media_errors": 1}, {"media-errors": WARN}),
        ({"media_errors": 2}, {"media-errors": WARN}),
        ({"pending": 0}, {}),
        ({"pending": 1}, {"pending-sectors": WARN}),
        ({"pending": 2}, {"pending-sectors": WARN}),
        ({"reallocated": 0}, {}),
        ({"reallocated": 1}, {"reallocated-sectors": NOTE}),
        ({"reallocated": 2000}, {"reallocated-sectors": NOTE}),
        ({"percent_used": None}, {}),
        ({"percent_used": 89.9}, {}),
        ({"percent_used": 90.0}, {"worn": WARN}),
        ({"percent_used": 91.0}, {"worn": WARN}),
        ({"percent_used": 100.0}, {"worn": WARN}),
        ({"percent_used": 255.0}, {"worn": WARN}),
    ],
)
def test_what_a_disk_says_of_itself_has_its_level(changes: dict[str, Any], expected: dict[str, Level]) -> None:
    assert of_disk(**changes) == expected


@pytest.mark.parametrize("warning", CRITICAL_WARNINGS)
def test_a_critical_warning_of_an_nvme_ssd_is_critical(warning: str) -> None:
    assert of_disk(warnings=(warning,)) == {f"disk-{warning}": BAD}


@pytest.mark.parametrize(
    ("role", "level"),
    [("log", BAD), ("log+cache", BAD), ("data", WARN), ("cache", WARN), ("special", WARN), ("", WARN)],
)
def test_power_loss_protection_that_failed_is_critical_for_a_log_alone(role: str, level: Level) -> None:
    told = {"power-loss-protection-failed": level}
    assert of_disk(role, power_loss=BROKEN_PROTECTION) == told
    assert of_disk(role, warnings=("volatile-memory-backup-failed",)) == told
    assert of_disk(role, power_loss=WORKING_PROTECTION) == {}


@pytest.mark.parametrize(
    ("percent", "words"),
    [(90.0, "has used 90 %"), (99.0, "99 %"), (100.0, "has reached the end"), (101.0, "has reached the end")],
)
def test_from_a_hundred_percent_on_the_rating_is_used_up(percent: float, words: str) -> None:
    (found,) = disk_findings(Subject("Disk", "key", "1", ""), replace(WELL, percent_used=percent))
    assert words in str(found)


def test_a_disk_that_does_not_answer_is_a_warning() -> None:
    assert unanswered(Subject("Disk", "key", "1", ""), None).level is WARN


@pytest.mark.parametrize(
    ("is_ssd", "own", "celsius", "expected"),
    [
        (True, None, 70, {}),
        (True, None, 71, {"too-hot": WARN}),
        (True, 80, 80, {}),
        (True, 80, 81, {"too-hot": WARN}),
        (False, None, 55, {}),
        (False, None, 56, {"too-hot": WARN}),
        (False, 60, 60, {}),
        (False, 60, 61, {"too-hot": WARN}),
        (False, 85, 70, {}),
        (False, 85, 71, {"too-hot": WARN}),
    ],
)
def test_a_disk_is_too_hot_above_its_limit(
    is_ssd: bool, own: int | None, celsius: int, expected: dict[str, Level]
) -> None:
    identity = replace(WELL.identity, solid_state=is_ssd)
    found = of_disk(identity=identity, temperature_limit_celsius=own, temperature_celsius=celsius)
    assert found == expected


def of_pool(inventory: Inventory) -> dict[str, Level]:
    return {each.code: each.level for each in findings_of(replace(inventory, pools=inventory.pools[:1]))}


def with_side(state: str, **errors: int) -> Inventory:
    """The home server whose first disk of its first mirror is so."""
    tank = home_server().pools[0]
    first, second = tank.data[0].children
    mirror = replace(tank.data[0], children=(replace(first, state=state, **errors), second))  # type: ignore[arg-type]
    pool_state = "ONLINE" if state == "ONLINE" else "DEGRADED"
    return with_pool(home_server(), state=pool_state, data=(mirror, tank.data[1]))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"data_errors": 1}, {"data-errors": BAD}),
        ({"data_errors": 2}, {"data-errors": BAD}),
        ({"suspended": True}, {"pool-suspended": BAD}),
        ({"suspended": True, "state": "FAULTED"}, {"pool-suspended": BAD}),
        ({"state": "DEGRADED"}, {"pool-not-online": WARN}),
        ({"state": "FAULTED"}, {"pool-not-online": BAD}),
        ({"state": "UNAVAIL"}, {"pool-not-online": BAD}),
        ({"read_only": True}, {"pool-read-only": NOTE}),
        ({"checkpoint": "1G"}, {"pool-checkpoint": NOTE}),
        ({"last_scan": None}, {"scrub-unknown": NOTE}),
    ],
)
def test_what_ails_a_pool_has_its_level(changes: dict[str, Any], expected: dict[str, Level]) -> None:
    assert of_pool(with_pool(home_server(), **changes)) == expected


@pytest.mark.parametrize(
    ("state", "level"),
    [("FAULTED", BAD), ("UNAVAIL", BAD), ("REMOVED", BAD), ("OFFLINE", WARN), ("DEGRADED", WARN)],
)
def test_a_degraded_pool_is_critical_if_a_disk_of_its_data_failed_or_is_gone(state: str, level: Level) -> None:
    assert of_pool(with_side(state)) == {"pool-not-online": level}


@pytest.mark.parametrize("kind", list(VdevClass))
@pytest.mark.parametrize("state", ["ONLINE", "AVAIL", "INUSE", "DEGRADED", "OFFLINE", "FAULTED", "UNAVAIL", "REMOVED"])
def test_a_member_is_critical_if_it_held_data_and_is_out(kind: VdevClass, state: str) -> None:
    found = member_finding(home_server().pools[0], kind, Vdev("7", "disk", "sdx", state), "Disk")
    holds_data = kind in (VdevClass.NORMAL, VdevClass.SPECIAL, VdevClass.DEDUP)
    if state in ("ONLINE", "AVAIL", "INUSE") or (kind is VdevClass.CACHE and state == "OFFLINE"):
        assert found is None
    else:
        assert found is not None
        assert found.level is (BAD if holds_data and state in ("FAULTED", "UNAVAIL", "REMOVED") else WARN)


@pytest.mark.parametrize("counter", ["read_errors", "write_errors", "checksum_errors"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_one_error_of_a_device_is_worth_a_warning(counter: str, count: int) -> None:
    assert of_pool(with_side("ONLINE", **{counter: count})) == ({"device-errors": WARN} if count else {})


@pytest.mark.parametrize("count", [0, 1, 2])
def test_one_slow_request_is_worth_a_warning(count: int) -> None:
    assert of_pool(with_side("ONLINE", slow_ios=count)) == ({"slow-io": WARN} if count else {})


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (44, {}),
        (45, {}),
        (46, {"scrub-old": NOTE}),
        (99, {"scrub-old": NOTE}),
        (100, {"scrub-old": NOTE}),
        (101, {"scrub-old": WARN}),
    ],
)
def test_a_scrub_grows_old_in_two_steps(days: int, expected: dict[str, Level]) -> None:
    read_at = datetime.fromisoformat(home_server().read_at)
    ended = Scan("scrub", (read_at - timedelta(days=days)).isoformat(), 0)
    assert of_pool(with_pool(home_server(), last_scan=ended)) == expected


def test_a_host_without_openzfs_is_a_warning() -> None:
    host = replace(home_server().host, zfs_userland="")
    assert of_pool(replace(home_server(), host=host)) == {"no-openzfs": WARN}


def of_traffic(traffic: Traffic) -> dict[str, Level]:
    device = Vdev("41", "disk", "x", "ONLINE", path="/dev/disk/by-id/x")
    tank = replace(home_server().pools[0], logs=(device,), caches=(device,))
    return {each.code: each.level for each in traffic_findings(tank, traffic)}


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        (Traffic(23.9, cache_written_bytes=2 * GIB), {}),
        (Traffic(24.0, cache_written_bytes=2 * GIB), {"cache-serves-little": WARN}),
        (Traffic(48, cache_written_bytes=GIB - 1), {}),
        (Traffic(48, cache_written_bytes=GIB), {"cache-serves-little": WARN}),
        (Traffic(48, cache_written_bytes=GIB + 1), {"cache-serves-little": WARN}),
        (Traffic(48, cache_written_bytes=2 * GIB, cache_read_bytes=2 * GIB - 1), {"cache-serves-little": WARN}),
        (Traffic(48, cache_written_bytes=2 * GIB, cache_read_bytes=2 * GIB), {}),
        (Traffic(48, spilled_bytes=GIB - 1), {}),
        (Traffic(48, spilled_bytes=GIB), {"log-spills": WARN}),
        (Traffic(48, log_bytes=95 * GIB, spilled_bytes=5 * GIB), {}),
        (Traffic(48, log_bytes=95 * GIB - 1, spilled_bytes=5 * GIB + 1), {"log-spills": WARN}),
    ],
)
def test_the_traffic_of_logs_and_caches_has_its_levels(traffic: Traffic, expected: dict[str, Level]) -> None:
    assert of_traffic(traffic) == expected
