"""Findings about room, spares and TRIM: each at its threshold, one below and one above."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.pool_findings import has_no_redundancy
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Pool, Scan, Vdev, ZfsParameters
from nasadvisor.domain.units import GIB
from tests.unit.machines import READ_AT, TANK, home_server


def found(growth: float | None = None, parameters: ZfsParameters | None = None, **changes: Any) -> list[Finding]:
    machine = home_server()
    host = replace(machine.host, parameters=parameters or ZfsParameters())
    machine = replace(machine, host=host, pools=(tank(**changes),))
    return list(findings_of(machine, growth=None if growth is None else {TANK: growth}))


def tank(**changes: Any) -> Pool:
    return replace(home_server().pools[0], **changes)


def levels(**changes: Any) -> dict[str, Level]:
    return {finding.code: finding.level for finding in found(**changes)}


FULL = (
    (84, None),
    (85, Level.INFO),
    (86, Level.INFO),
    (89, Level.INFO),
    (90, Level.WARNING),
    (91, Level.WARNING),
    (94, Level.WARNING),
    (95, Level.CRITICAL),
    (97, Level.CRITICAL),
    (100, Level.CRITICAL),
)


@pytest.mark.parametrize(("percent", "level"), FULL)
def test_a_pool_that_fills_up_is_told_louder_and_louder(percent: int, level: Level | None) -> None:
    assert levels(size_bytes=100 * GIB, allocated_bytes=percent * GIB).get("pool-full") == level


def test_it_rounds_down_and_a_pool_whose_size_is_not_told_is_not_full() -> None:
    assert levels(size_bytes=100 * GIB, allocated_bytes=85 * GIB - 1) == {}
    assert levels(size_bytes=0, allocated_bytes=0) == {}


@pytest.mark.parametrize(
    ("growth", "day"),
    [(GIB, "2026-09-04"), (10 * GIB, "2026-08-26"), (0.0, ""), (-GIB, ""), (None, ""), (GIB / 1000, "")],
)
def test_the_day_on_which_nothing_is_free_is_named_where_growth_tells_one(growth: float | None, day: str) -> None:
    (finding,) = found(growth, size_bytes=100 * GIB, allocated_bytes=90 * GIB)
    assert READ_AT.startswith("2026-08-25")
    assert (finding.values["day"], day in str(finding)) == (day, True)
    assert finding.values["free"] == "10 GiB"
    assert finding.measure == 90


SPECIAL = (
    (64, None),
    (65, ("special-near-reserve", Level.INFO)),
    (66, ("special-near-reserve", Level.INFO)),
    (89, ("special-near-reserve", Level.INFO)),
    (90, ("special-full", Level.WARNING)),
    (91, ("special-full", Level.WARNING)),
)


@pytest.mark.parametrize(("percent", "expected"), SPECIAL)
def test_special_vdevs_are_told_before_their_reserve_and_before_they_are_full(
    percent: int, expected: tuple[str, Level] | None
) -> None:
    told = levels(special_size_bytes=100 * GIB, special_allocated_bytes=percent * GIB)
    assert told == (dict([expected]) if expected else {})


@pytest.mark.parametrize(("percent", "is_told"), [(79, False), (80, True), (81, True)])
def test_the_reserve_is_the_one_that_is_set(percent: int, is_told: bool) -> None:
    parameters = ZfsParameters(zfs_special_class_metadata_reserve_pct=10)
    told = found(parameters=parameters, special_size_bytes=100, special_allocated_bytes=percent)
    assert [finding.values["mark"] for finding in told] == (["90"] if is_told else [])


def leaf(guid: int, state: str = "ONLINE") -> Vdev:
    return Vdev(str(guid), "disk", f"d{guid}", state, path=f"/dev/disk/by-id/wwn-0x{guid}")


def vdev(name: str, disks: int, *lost: Vdev) -> Vdev:
    kind = next(kind for kind in ("mirror", "raidz", "draid") if name.startswith(kind))
    children = tuple(leaf(number) for number in range(disks)) + lost
    return Vdev("7", kind, name, "DEGRADED" if lost else "ONLINE", children=children)


GONE = leaf(99, "UNAVAIL")
SPARED = Vdev("98", "spare", "spare-1", "DEGRADED", children=(leaf(97, "FAULTED"), leaf(96)))
REDUNDANCY = (
    (vdev("mirror-0", 2), False),
    (vdev("mirror-0", 1, GONE), True),
    (vdev("mirror-0", 2, GONE), False),
    (vdev("mirror-0", 1, GONE, leaf(95, "OFFLINE")), True),
    (vdev("raidz1-0", 3, GONE), True),
    (vdev("raidz2-0", 3, GONE), False),
    (vdev("raidz2-0", 3, GONE, leaf(95, "FAULTED")), True),
    (vdev("raidz3-0", 3, GONE, leaf(95, "FAULTED")), False),
    (vdev("draid1:2d:4c:1s-0", 3, GONE), True),
    (vdev("draid2:2d:5c:1s-0", 4, GONE), False),
    (vdev("raidz1-0", 2, SPARED), False),  # the spare has all of it
    (vdev("raidz1-0", 2, leaf(95, "DEGRADED")), False),  # it still works
)


@pytest.mark.parametrize(("top", "is_gone"), REDUNDANCY)
def test_it_is_known_when_a_vdev_can_lose_no_more_disk(top: Vdev, is_gone: bool) -> None:
    assert has_no_redundancy(tank(data=(top,))) is is_gone
    assert has_no_redundancy(tank(specials=(top,))) is is_gone
    assert not has_no_redundancy(tank(logs=(top,)))


def test_a_pool_that_can_lose_no_more_disk_is_told_so() -> None:
    (finding,) = found(data=(vdev("raidz1-0", 3, GONE),), state="DEGRADED")
    assert (finding.code, finding.level) == ("pool-not-online", Level.CRITICAL)
    assert "can destroy the pool" in str(finding)
    (finding,) = found(data=(vdev("raidz2-0", 3, GONE),), state="DEGRADED")
    assert "with it" not in str(finding)


def test_a_spare_that_is_free_and_a_resilver_that_runs_mend_it() -> None:
    top = vdev("raidz1-0", 3, GONE)
    assert not has_no_redundancy(tank(data=(top,), spares=(leaf(5, "AVAIL"),)))
    assert has_no_redundancy(tank(data=(top,), spares=(leaf(5, "INUSE"),)))
    assert not has_no_redundancy(tank(data=(top,), scan="resilver"))
    assert has_no_redundancy(tank(data=(top,), scan="scrub"))


def test_a_vdev_without_redundancy_has_none_to_lose() -> None:
    assert not has_no_redundancy(tank(data=(leaf(1), leaf(2, "UNAVAIL"))))


@pytest.mark.parametrize(("disks", "is_told"), [(11, False), (12, True), (13, True)])
def test_many_disks_without_a_spare_are_a_note(disks: int, is_told: bool) -> None:
    told = levels(data=(vdev("raidz2-0", disks),))
    assert told == ({"no-spare": Level.INFO} if is_told else {})
    assert levels(data=(vdev("raidz2-0", disks),), spares=(leaf(50, "AVAIL"),)) == {}
    assert levels(data=tuple(leaf(number) for number in range(disks))) == {}


@pytest.mark.parametrize(("trimmed", "expected"), [(False, {"never-trimmed": Level.INFO}), (True, {}), (None, {})])
def test_ssds_that_were_never_trimmed_are_a_note(trimmed: bool | None, expected: dict[str, Level]) -> None:
    assert levels(trimmed=trimmed) == expected


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-07-11", None),
        ("2026-07-10", Level.INFO),
        ("2026-07-09", Level.INFO),
        ("2026-05-17", Level.INFO),
        ("2026-05-16", Level.WARNING),
        ("2026-05-15", Level.WARNING),
    ],
)
def test_a_scrub_long_ago_is_a_note_and_later_a_warning(day: str, expected: Level | None) -> None:
    assert levels(last_scan=Scan("scrub", f"{day}T20:15:00+00:00", 0)).get("scrub-old") == expected
