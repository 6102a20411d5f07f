"""Findings about a host."""

from dataclasses import replace

import pytest

from nasadvisor.domain.health.disk_findings import Subject, unanswered
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from nasadvisor.domain.storage.inventory import UNREADABLE, Inventory, Scan, ScanProgress, Vdev
from tests.unit.machines import NVME1, TANK, home_server, leaf_on, with_pool, with_single_log


def codes_of(inventory: Inventory) -> dict[str, Level]:
    return {finding.code: finding.level for finding in findings_of(only_tank(inventory))}


def only_tank(inventory: Inventory) -> Inventory:
    return replace(inventory, pools=inventory.pools[:1])


def test_it_finds_nothing_about_a_healthy_pool() -> None:
    assert codes_of(home_server()) == {}


@pytest.mark.parametrize(("state", "level"), [("DEGRADED", Level.WARNING), ("FAULTED", Level.CRITICAL)])
def test_it_finds_a_pool_that_is_not_online(state: str, level: Level) -> None:
    assert codes_of(with_pool(home_server(), state=state)) == {"pool-not-online": level}


def test_it_names_the_devices_at_fault() -> None:
    tank = home_server().pools[0]
    sides = tank.data[0].children
    bad = replace(tank.data[0], state="DEGRADED", children=(sides[0], replace(sides[1], state="UNAVAIL")))
    inventory = with_pool(home_server(), state="DEGRADED", data=(bad, tank.data[1]))
    (finding,) = findings_of(only_tank(inventory))
    assert "Pool tank is DEGRADED: WDC WD40EFRX (WD-2) UNAVAIL. " in str(finding)


def test_where_only_a_log_ails_a_pool_nobody_is_sent_to_its_disks() -> None:
    """Nothing needs to be replaced where somebody took a log offline."""
    pool, log = with_logs(side("31", "OFFLINE"), state="DEGRADED")
    assert (pool.code, pool.level, log.code) == ("pool-not-online", Level.WARNING, "log-out-of-service")
    assert "only because of its log" in str(pool)
    assert "Replace" not in str(pool)


def test_it_names_a_device_that_the_host_does_not_show_by_the_end_of_its_path() -> None:
    tank = home_server().pools[0]
    gone = Vdev("77", "disk", "wwn-0x77", "UNAVAIL", path="/dev/disk/by-id/wwn-0x77-part1")
    bad = replace(tank.data[0], state="DEGRADED", children=(tank.data[0].children[0], gone))
    inventory = with_pool(home_server(), state="DEGRADED", data=(bad, tank.data[1]))
    (finding,) = findings_of(only_tank(inventory))
    assert "wwn-0x77-part1 UNAVAIL" in str(finding)


def test_it_finds_errors_of_devices_in_a_pool_that_is_online() -> None:
    tank = home_server().pools[0]
    erring = replace(
        tank.data[0], children=(replace(tank.data[0].children[0], checksum_errors=3), tank.data[0].children[1])
    )
    assert codes_of(with_pool(home_server(), data=(erring, tank.data[1]))) == {"device-errors": Level.WARNING}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"suspended": True}, "pool-suspended"),
        ({"read_only": True}, "pool-read-only"),
        ({"checkpoint": "1G"}, "pool-checkpoint"),
        ({"last_scan": None}, "scrub-unknown"),
        ({"data_errors": 2}, "data-errors"),
    ],
)
def test_it_finds_pools_in_special_states(changes: dict[str, object], code: str) -> None:
    assert list(codes_of(with_pool(home_server(), **changes))) == [code]


def test_it_finds_that_openzfs_is_missing() -> None:
    host = replace(home_server().host, zfs_userland="")
    assert list(codes_of(replace(home_server(), host=host, pools=()))) == ["no-openzfs"]


def test_it_counts_the_days_since_the_last_scrub() -> None:
    def level(ended_at: str) -> dict[str, Level]:
        return codes_of(with_pool(home_server(), last_scan=Scan("scrub", f"{ended_at}T00:00:00+00:00", 0)))

    assert level("2026-07-12") == {}
    assert level("2026-07-10") == {"scrub-old": Level.INFO}
    assert level("2026-05-01") == {"scrub-old": Level.WARNING}


def test_it_does_not_ask_for_a_scrub_while_one_runs() -> None:
    assert codes_of(with_pool(home_server(), last_scan=None, scan="scrub")) == {}


def test_it_tells_of_a_scrub_that_began_long_ago_and_does_not_end() -> None:
    def level(began_at: str, scan: str = "scrub") -> dict[str, Level]:
        progress = ScanProgress(f"{began_at}T00:00:00+00:00", 5, 10)
        return codes_of(with_pool(home_server(), last_scan=None, scan=scan, scan_progress=progress))

    assert level("2026-07-12") == {}
    assert level("2026-07-10") == {"scrub-old": Level.INFO}
    assert level("2026-05-01") == {"scrub-old": Level.WARNING}
    assert level("2026-05-01", "resilver") == {}


def test_of_a_scrub_that_is_paused_it_says_what_resumes_it() -> None:
    began = "2026-05-01T00:00:00+00:00"
    working, paused = ScanProgress(began, 5, 10), ScanProgress(began, 5, 10, "2026-05-02T00:00:00+00:00")
    [old], [held] = (
        findings_of(only_tank(with_pool(home_server(), last_scan=None, scan="scrub", scan_progress=progress)))
        for progress in (working, paused)
    )
    assert (old.code, held.code) == ("scrub-old", "scrub-old")
    assert "`zpool scrub tank` resumes it" in str(held)
    assert "resumes" not in str(old)


def test_it_finds_slow_requests_and_counts_them() -> None:
    tank = home_server().pools[0]
    sides = tank.data[0].children
    slow = replace(tank.data[0], children=(replace(sides[0], slow_ios=7), replace(sides[1], slow_ios=2)))
    (finding,) = findings_of(only_tank(with_pool(home_server(), data=(slow, tank.data[1]))))
    assert (finding.code, finding.level, finding.measure) == ("slow-io", Level.WARNING, 9)


def with_logs(*logs: Vdev, **changes: object) -> tuple[Finding, ...]:
    return findings_of(only_tank(with_pool(home_server(), logs=logs, **changes)))


def side(guid: str, state: str = "ONLINE", path: str = "/dev/disk/by-partuuid/1") -> Vdev:
    return Vdev(guid, "disk", path, state, path=path)


def test_a_mirrored_log_without_fault_is_nothing_to_speak_of() -> None:
    assert with_logs(Vdev("30", "mirror", "mirror-2", "ONLINE", children=(side("31"), side("32")))) == ()


def test_a_single_log_is_pointed_out_and_leads_to_the_wizard() -> None:
    (finding,) = findings_of(only_tank(with_single_log()))
    assert (finding.code, finding.level) == ("log-single", Level.INFO)
    assert "without a mirror: Samsung SSD 960 EVO 500GB (N1)." in str(finding)
    assert (finding.step, finding.place) == (NextStep.MIRROR_LOG, TANK)


def test_logs_without_mirrors_beside_each_other_are_told_as_one_thing() -> None:
    (finding,) = with_logs(side("31", path="/dev/disk/by-id/a-part1"), side("32", path="/dev/disk/by-id/b-part1"))
    assert finding.code == "log-single"
    assert (finding.values["count"], finding.values["device"]) == ("2", "a-part1, b-part1")


def test_a_pool_that_could_not_be_read_is_told_with_the_reason_and_nothing_else_is_concluded_of_it() -> None:
    unread = only_tank(with_pool(home_server(), state=UNREADABLE, problem="/vdevs is missing", last_scan=None))
    (finding,) = findings_of(unread)
    assert (finding.code, finding.level, finding.place) == ("pool-unreadable", Level.WARNING, TANK)
    assert finding.values["problem"] == "/vdevs is missing"


def test_what_was_read_of_one_is_told_all_the_same() -> None:
    partly = only_tank(with_pool(home_server(), state="DEGRADED", problem="it has no size"))
    assert {finding.code for finding in findings_of(partly)} >= {"pool-unreadable", "pool-not-online"}


def test_a_cache_that_is_gone_is_not_called_by_the_disk_that_has_its_name_today() -> None:
    inventory = only_tank(home_server())
    (ssd,) = [disk for disk in inventory.disks if disk.key == NVME1]
    path = f"/dev/{ssd.kernel_name}"
    gone = Vdev("41", "disk", ssd.kernel_name, "FAULTED", path)
    (finding,) = [each for each in findings_of(with_pool(inventory, caches=(gone,))) if each.code == "cache-missing"]
    assert finding.values["devices"] == f"{ssd.kernel_name} FAULTED"


def test_a_disk_that_is_replaced_at_its_own_path_is_called_by_it() -> None:
    path = "/dev/disk/by-vdev/bay3-part1"
    old, new = Vdev("51", "disk", "x", "OFFLINE", f"{path}/old"), Vdev("52", "disk", "y", "ONLINE", path)
    replacing = Vdev("50", "replacing", "replacing-1", "DEGRADED", children=(old, new))
    degraded = only_tank(with_pool(home_server(), state="DEGRADED", data=(replacing,)))
    (finding,) = [each for each in findings_of(degraded) if each.code == "pool-not-online"]
    assert finding.values["devices"] == "bay3-part1/old OFFLINE"


def test_a_mirrored_log_with_one_side_left_names_the_command_that_takes_the_other_out() -> None:
    (finding,) = with_logs(Vdev("30", "mirror", "mirror-2", "DEGRADED", children=(side("31"), side("32", "UNAVAIL"))))
    assert (finding.code, finding.level, finding.step) == ("log-one-side", Level.WARNING, NextStep.REPLACE_LOG_SIDE)
    assert "`zpool detach tank 32`" in str(finding)


@pytest.mark.parametrize(("state", "errors"), [("REMOVED", 0), ("REMOVED", 3), ("FAULTED", 4), ("UNAVAIL", 1)])
def test_a_log_that_died_while_the_pool_ran_has_lost_nothing_and_its_way_out_is_named(state: str, errors: int) -> None:
    found = with_logs(replace(side("31", state), write_errors=errors))
    finding = next(finding for finding in found if finding.code.startswith("log-"))
    assert (finding.code, finding.level) == ("log-missing", Level.CRITICAL)
    assert "no acknowledged data is lost" in str(finding)
    assert "`zpool remove tank 31`" in str(finding)
    assert "`zpool import -m tank`" in finding.why


@pytest.mark.parametrize("state", ["UNAVAIL", "FAULTED"])
def test_of_a_log_that_was_missing_at_the_import_it_is_said_what_may_be_lost(state: str) -> None:
    """FAULTED is one whose label was not the pool's."""
    (finding,) = with_logs(side("31", state))
    assert (finding.code, finding.level) == ("log-lost", Level.CRITICAL)
    assert "no acknowledged data is lost" not in str(finding)
    assert "writes of its last seconds are lost" in str(finding)
    assert "`zpool remove tank 31`" in str(finding)


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        ((side("31", "UNAVAIL"), side("32", "UNAVAIL")), "log-lost"),
        ((side("31", "REMOVED"), side("32", "UNAVAIL")), "log-lost"),
        ((replace(side("31", "FAULTED"), write_errors=9), side("32", "UNAVAIL")), "log-missing"),
        ((side("31", "REMOVED"), side("32", "REMOVED")), "log-missing"),
    ],
)
def test_a_mirrored_log_was_missing_only_if_no_side_of_it_was_there(sides: tuple[Vdev, ...], code: str) -> None:
    found = with_logs(Vdev("30", "mirror", "mirror-2", "UNAVAIL", children=sides))
    finding = next(finding for finding in found if finding.code.startswith("log-"))
    assert finding.code == code
    assert "`zpool remove tank 30`" in str(finding)


def test_a_log_that_somebody_took_offline_is_not_called_dead() -> None:
    (single,) = with_logs(side("31", "OFFLINE"))
    assert (single.code, single.level) == ("log-out-of-service", Level.WARNING)
    assert "`zpool online tank 31`" in str(single)
    assert "`zpool remove tank 31`" in single.why
    both = (side("31", "OFFLINE"), side("32", "OFFLINE"))
    (mirrored,) = with_logs(Vdev("30", "mirror", "mirror-2", "UNAVAIL", children=both))
    assert "`zpool online tank 31 32`" in str(mirrored)
    assert "`zpool remove tank 30`" in mirrored.why
    assert "import -m" not in str(mirrored) + mirrored.why


def test_a_side_that_somebody_took_offline_is_put_back_and_not_replaced() -> None:
    sides = (side("31"), side("32", "OFFLINE"))
    (finding,) = with_logs(Vdev("30", "mirror", "mirror-2", "DEGRADED", children=sides))
    assert (finding.code, finding.step) == ("log-out-of-service", NextStep.LOOK_AT_POOL)
    assert "`zpool online tank 32`" in str(finding)
    assert "detach" not in str(finding)
    three = (*sides, side("33", "FAULTED"))
    found = with_logs(Vdev("30", "mirror", "mirror-2", "DEGRADED", children=three))
    assert [finding.code for finding in found] == ["log-one-side", "log-out-of-service"]
    assert "`zpool detach tank 33`" in str(found[0])


def test_a_log_with_errors_that_takes_writes_is_taken_out_of_use_first() -> None:
    (finding,) = with_logs(side("31", "DEGRADED"))
    assert (finding.code, finding.level) == ("log-failing", Level.CRITICAL)
    assert "`zpool offline -f tank 31`" in str(finding)
    assert "can hang permanently" in finding.why
    assert "`zpool remove tank" not in str(finding)
    sides = (side("31", "DEGRADED"), side("32", "UNAVAIL"))
    (mirrored,) = with_logs(Vdev("30", "mirror", "mirror-2", "DEGRADED", children=sides))
    assert "`zpool offline -f tank 31`" in str(mirrored)


def test_a_cache_that_is_gone_costs_no_data() -> None:
    (finding,) = with_logs(caches=(side("41", "UNAVAIL"), side("42")))
    assert (finding.code, finding.level, finding.measure) == ("cache-missing", Level.WARNING, 1)
    assert "Nothing is lost" in str(finding)


def test_a_cache_that_was_taken_out_of_service_is_not_called_gone_and_is_no_alert() -> None:
    (finding,) = with_logs(caches=(side("41", "OFFLINE"), side("42")))
    assert (finding.code, finding.level, finding.subject) == ("cache-out-of-service", Level.INFO, "41")
    assert "`zpool online tank 41`" in str(finding)
    assert "remove" not in str(finding)
    broken, out = with_logs(caches=(side("41", "OFFLINE"), side("42", "UNAVAIL")))
    assert (broken.code, broken.measure, out.code) == ("cache-missing", 1, "cache-out-of-service")
    assert "42" in str(broken)


@pytest.mark.parametrize("path", ["/dev/sdb1", "/dev/nvme0n1p3", "/dev/vdc"])
def test_a_cache_under_a_kernel_name_is_pointed_out(path: str) -> None:
    (finding,) = with_logs(caches=(side("41", path=path),))
    assert (finding.code, finding.subject) == ("unstable-path", "41")


def test_a_path_of_device_mapper_is_stable() -> None:
    assert with_logs(caches=(side("41", path="/dev/mapper/mpatha-part1"),)) == ()


def test_it_warns_of_bugs_that_the_layout_can_meet() -> None:
    single = with_single_log()
    disk = single.disk(NVME1)
    assert disk is not None
    old = replace(single, host=replace(single.host, zfs_kernel="2.3.7-1"))
    cached = with_pool(old, multihost=True, caches=(leaf_on(disk, "41"),))
    assert codes_of(cached).keys() == {"log-single", "bug-multihost-hole", "bug-stale-cache", "release-bugs"}


def test_it_warns_that_a_lost_log_may_not_be_removable_where_the_release_leaves_its_flag() -> None:
    def codes(state: str, release: str) -> set[str]:
        machine = with_pool(home_server(), logs=(side("31", state),), state="DEGRADED")
        return set(codes_of(replace(only_tank(machine), host=replace(machine.host, zfs_kernel=release))))

    for old in ("2.2.11-1", "2.3.7-1", "2.4.0", "2.4.2-pve1"):
        assert codes("UNAVAIL", old) - {"release-bugs"} == {"pool-not-online", "log-lost", "bug-log-replay-flag"}
        for state in ("ONLINE", "OFFLINE", "REMOVED"):
            assert "bug-log-replay-flag" not in codes(state, old)
    for new in ("2.3.8-1", "2.4.3-pve1"):
        assert codes("UNAVAIL", new) - {"release-bugs"} == {"pool-not-online", "log-lost"}


def test_every_finding_can_be_told_from_the_others() -> None:
    sides = (side("31"), side("32", "UNAVAIL"))
    found = with_logs(
        Vdev("30", "mirror", "mirror-2", "DEGRADED", children=sides), side("33", "REMOVED"), state="DEGRADED"
    )
    assert len({(finding.code, finding.subject) for finding in found}) == len(found) == 3
    assert all(finding.why for finding in found)


def test_a_disk_that_did_not_answer_is_told_of_with_the_reason_or_that_nobody_knows_it() -> None:
    disk = Subject("Samsung 870 (S1)", "ata-S1", "S1", "log")
    finding = unanswered(disk, Statement("said", "smartctl reported “no”."))
    assert str(finding) == "The disk Samsung 870 (S1) does not respond to health checks: smartctl reported “no”."
    assert (finding.subject, finding.place, finding.step) == ("S1", "ata-S1", NextStep.LOOK_AT_DISK)
    assert finding.why
    assert str(unanswered(disk, None)).endswith("reason unknown")
