from dataclasses import replace

import pytest

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.warnings import warnings_for, warnings_for_disk
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Bus, Inventory
from nasadvisor.domain.units import GIB, TIB
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    USB_STICK,
    home_server,
    plan_for,
    with_disk,
    with_pool,
    with_single_log,
)

SINGLE = PlanRequest(TANK, (NVME1,), 4 * GIB)


def found(request: PlanRequest, inventory: Inventory) -> dict[str, Finding]:
    return {finding.code: finding for finding in warnings_for(plan_for(request, inventory), inventory)}


def test_a_mirror_on_a_healthy_pool_has_no_warning_above_info() -> None:
    findings = found(MIRROR_AND_CACHES, home_server())
    assert {finding.level for finding in findings.values()} == {Level.INFO}
    assert "log-and-cache-share" in findings


def test_a_single_log_says_its_risk_in_numbers_and_first() -> None:
    inventory = home_server()
    first = warnings_for(plan_for(SINGLE, inventory), inventory)[0]
    assert first.code == "single-log"
    assert "the last ~5 s of synchronous writes are lost, and the pool can be imported only" in str(first)
    assert "the pool itself survives" in str(first)


def test_data_that_nobody_recognises_are_critical_and_told_with_their_place() -> None:
    inventory = with_disk(home_server(), NVME1, unrecognised_at=0)
    finding = found(SINGLE, inventory)["unrecognised-data"]
    assert (finding.level, finding.values["offset"]) == (Level.CRITICAL, "0")
    assert finding in warnings_for_disk(inventory.disks[[disk.key for disk in inventory.disks].index(NVME1)])
    assert "unrecognised-data" not in found(SINGLE, with_disk(home_server(), NVME2, unrecognised_at=0))


def test_unloaded_keys_are_named_up_to_three() -> None:
    inventory = with_pool(home_server(), locked_datasets=("tank/a", "tank/b", "tank/c", "tank/d"))
    finding = found(SINGLE, inventory)["keys-not-loaded"]
    assert "4 of the encrypted datasets" in str(finding)
    assert "(tank/a, tank/b, tank/c …)" in str(finding)


def test_unloaded_keys_do_not_matter_to_a_cache() -> None:
    inventory = with_pool(home_server(), locked_datasets=("tank/a",))
    assert "keys-not-loaded" not in found(PlanRequest(TANK, cache_disks=(NVME1,)), inventory)


def test_attaching_a_side_says_that_the_whole_pool_is_resilvered() -> None:
    finding = found(PlanRequest(TANK, (NVME2,), attach_to="31"), with_single_log())["attach-resilvers"]
    assert "resilvers the whole pool tank (3 TiB in use)" in str(finding)


def test_a_second_log_is_said_to_be_striped() -> None:
    assert "log-striped" in found(PlanRequest(TANK, (NVME2,), 4 * GIB), with_single_log())


def test_a_log_in_one_host_of_a_multihost_pool_is_warned_of() -> None:
    assert "log-on-one-host" in found(SINGLE, with_pool(home_server(), multihost=True))


def test_a_running_scrub_is_mentioned() -> None:
    assert "a scrub" in str(found(SINGLE, with_pool(home_server(), scan="scrub"))["scan-running"])


@pytest.mark.parametrize(
    ("scan", "words"),
    [
        ("expansion", "a RAID-Z expansion"),
        ("removal", "a device removal"),
        ("errorscrub", "a scrub of known errors"),
        ("something new", "a scan"),
    ],
)
def test_whatever_else_is_under_way_is_named_in_words(scan: str, words: str) -> None:
    warning = found(SINGLE, with_pool(home_server(), scan=scan))["scan-running"]
    assert str(warning.values["scan"]) == words


def test_headers_above_a_twentieth_of_the_memory_are_warned_of() -> None:
    inventory = home_server()
    small = replace(inventory, host=replace(inventory.host, memory_bytes=8 * GIB))
    assert "cache-headers-large" in found(MIRROR_AND_CACHES, small)
    assert "cache-headers-large" not in found(MIRROR_AND_CACHES, inventory)


def test_no_reserve_is_warned_of() -> None:
    assert "no-reserve" in found(replace(SINGLE, reserve_percent=0), home_server())


def test_large_physical_sectors_are_warned_of() -> None:
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk is not None
    identity = replace(disk.identity, physical_sector_bytes=16384)
    finding = found(SINGLE, with_disk(inventory, NVME1, identity=identity))["physical-sector-larger"]
    assert "16384 bytes" in str(finding)
    assert "ashift 12" in str(finding)


def test_power_loss_protection_is_asked_for_logs_only() -> None:
    assert "power-loss-protection-unknown" in found(SINGLE, home_server())
    assert "power-loss-protection-unknown" not in found(PlanRequest(TANK, cache_disks=(NVME1,)), home_server())


@pytest.mark.parametrize(
    ("protection", "said"),
    [
        ("confirmed", set()),
        ("likely", set()),
        ("unlikely", {"power-loss-protection-unlikely"}),
        ("unknown", {"power-loss-protection-unknown"}),
        ("", {"power-loss-protection-unknown"}),
    ],
)
def test_what_the_disks_told_about_their_power_loss_protection_is_what_is_said(protection: str, said: set[str]) -> None:
    inventory = home_server()
    told = warnings_for(plan_for(SINGLE, inventory), inventory, {NVME1: protection})
    assert {each.code for each in told if each.code.startswith("power-loss")} == said


def test_a_log_that_probably_has_no_protection_is_warned_of_and_one_of_which_nobody_knows_is_noted() -> None:
    inventory = home_server()
    levels = {
        each.code: each.level
        for protection in ("unlikely", "unknown")
        for each in warnings_for(plan_for(SINGLE, inventory), inventory, {NVME1: protection})
        if each.code.startswith("power-loss")
    }
    assert levels == {
        "power-loss-protection-unlikely": Level.WARNING,
        "power-loss-protection-unknown": Level.INFO,
    }


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"rotational": True}, "hard-disk"), ({"bus": Bus.USB}, "usb-disk"), ({"removable": True}, "removable-disk")],
)
def test_an_unsuitable_target_is_warned_of(changes: dict[str, object], code: str) -> None:
    assert code in found(SINGLE, with_disk(home_server(), NVME1, **changes))


def test_a_usb_stick_is_not_warned_of_twice() -> None:
    stick = home_server().disk(USB_STICK)
    assert stick is not None
    assert [finding.code for finding in warnings_for_disk(stick)] == ["usb-disk"]


def test_slices_are_called_a_trade_off() -> None:
    assert "slices-not-disks" in found(SINGLE, home_server())


def test_the_size_of_the_pool_does_not_matter() -> None:
    assert found(SINGLE, with_pool(home_server(), size_bytes=100 * TIB)).keys() == found(SINGLE, home_server()).keys()
