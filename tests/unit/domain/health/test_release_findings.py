"""What is said of the release that runs: one finding a pool, with what ends it."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Vdev, ZfsParameters
from tests.unit.machines import TANK, home_server


def said(kernel: str, userland: str = "", off: bool = False, **changes: Any) -> list[Finding]:
    machine = home_server()
    parameters = ZfsParameters(zfs_bclone_enabled=0) if off else ZfsParameters()
    host = replace(machine.host, zfs_kernel=kernel, zfs_userland=userland or kernel, parameters=parameters)
    pool = replace(machine.pools[0], **{"features": ("block_cloning",), **changes})
    found = findings_of(replace(machine, host=host, pools=(pool,)))
    return [finding for finding in found if finding.code.startswith("release-")]


def test_all_bugs_of_a_release_are_one_finding_about_the_pool() -> None:
    (finding,) = said("2.3.4-pve1")
    assert (finding.code, finding.level, finding.subject, finding.measure) == ("release-bugs", Level.CRITICAL, TANK, 4)
    assert (finding.values["count"], finding.values["version"]) == ("4", "2.3.4-pve1")
    assert "openzfs 18412" in str(finding)
    assert "Update to 2.3.9 or later." in str(finding)
    assert "This pool: block cloning is on. Fixed in 2.3.7, 2.4.2. Until then: From 2.2.1 on, `echo 0 > " in finding.why
    assert "your distribution may have a fix in an older version" in finding.why


def test_it_is_as_loud_as_the_worst_that_the_pool_can_meet() -> None:
    (finding,) = said("2.3.4", off=True)
    assert (finding.level, finding.measure) == (Level.WARNING, 3)
    (finding,) = said("2.4.4", features=("raidz_expansion",), data=_raidz())
    assert (finding.level, finding.measure) == (Level.INFO, 1)
    assert "No release has a fix yet." in str(finding)


@pytest.mark.parametrize("kernel", ["2.3.9-1", "2.4.4-1", "", "unknown"])
def test_nothing_is_said_of_a_release_without_bugs_or_one_that_cannot_be_read(kernel: str) -> None:
    assert said(kernel, "2.3.9-1") == []


@pytest.mark.parametrize(("installed", "is_told"), [("2.3.9-1", True), ("2.4.4", True), ("2.3.8", False), ("", False)])
def test_a_restart_is_advised_where_a_better_release_is_installed_already(installed: str, is_told: bool) -> None:
    (finding,) = said("2.3.4-1", installed)
    assert ("Restart the host" in str(finding)) is is_told
    assert ("Update to 2.3.9 or later." in str(finding)) is not is_told


def test_of_a_build_between_releases_only_what_is_certain_is_claimed() -> None:
    (finding,) = said("2.3.99-1", dedup_table_bytes=1)
    assert finding.code == "release-bugs"
    (finding,) = said("2.2.99-1", off=True, features=())
    assert "send-redacted" not in finding.why
    (finding,) = said("2.4.99-1", off=True)
    assert (finding.code, finding.level) == ("release-unclear", Level.INFO)


def _raidz() -> tuple[Vdev, ...]:
    return tuple(replace(top, kind="raidz", name="raidz1-0") for top in home_server().pools[0].data)
