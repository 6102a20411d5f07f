from dataclasses import replace

from nasadvisor.domain.change.actions import AddLog, OfflineCache, OnlineCache
from nasadvisor.domain.change.consequences import losses_of
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import tank_of
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_cache,
    with_pool,
    with_single_log,
)


def codes(request: PlanRequest, inventory: Inventory) -> list[list[str]]:
    losses = losses_of(plan_for(request, inventory), inventory)
    return [[finding.code for finding in loss.findings] for loss in losses]


MEANT = {
    "cache-dies": (Level.INFO, "read from pool tank", "replacing a failed one is not urgent"),
    "log-side-dies": (Level.INFO, "pool tank shows DEGRADED", "Replace it soon"),
    "single-log-dies": (Level.WARNING, "Pool tank shows DEGRADED", "while the host is running"),
    "single-log-dies-and-crash": (Level.CRITICAL, "the import of pool tank is refused", "A mirror removes this risk"),
    "other-log-striped": (Level.WARNING, "Pool tank has another log", "Mirror each log"),
}
"""How much each loss matters, what is said of it, and what it means."""


def test_what_is_lost_is_said_with_how_much_it_matters_and_what_it_means() -> None:
    wishes = (
        (MIRROR_AND_CACHES, home_server()),
        (PlanRequest(TANK, (NVME2,), 4 * GIB), with_single_log()),
        (PlanRequest(TANK, (NVME2,), attach_to="31"), with_single_log()),
    )
    told = [
        finding
        for request, inventory in wishes
        for loss in losses_of(plan_for(request, inventory), inventory)
        for finding in loss.findings
    ]
    assert {finding.code for finding in told} == MEANT.keys()
    for finding in told:
        level, said, meant = MEANT[finding.code]
        assert finding.level is level
        assert said in str(finding)
        assert meant in finding.why


def test_what_no_undo_brings_back_and_what_it_leaves_is_said_with_what_it_means() -> None:
    cache = tank_of(with_cache()).caches[0]
    back = OnlineCache("tank", TANK, cache.guid, cache.path)
    told = [
        *AddLog("tank", TANK, 12, ()).never_undone(),
        *OfflineCache("tank", TANK, cache.guid, cache.path).never_undone(),
        *back.left_with(with_pool(with_cache(), caches=())),
        *back.left_with(with_cache("FAULTED")),
        *back.left_with(replace(home_server(), pools=())),
    ]
    assert [(finding.code, finding.level) for finding in told] == [
        ("log-leaves-hole", Level.INFO),
        ("cache-comes-back-colder", Level.INFO),
        ("cache-not-in-pool", Level.INFO),
        ("cache-back-broken", Level.WARNING),
        ("cache-away", Level.WARNING),
    ]
    means = (
        "`zdb -C` shows it",
        "from lists that it keeps on the device",
        "Someone has removed it",
        "only reverses",
        "itself records",
    )
    assert [words for finding, words in zip(told, means, strict=True) if words not in finding.why] == []


def test_an_ssd_is_told_of_what_stands_on_itself_only() -> None:
    inventory = home_server()
    plan = plan_for(PlanRequest(TANK, (NVME1,), 4 * GIB, cache_disks=(NVME2,)), inventory)
    found = [[finding.code for finding in loss.findings] for loss in losses_of(plan, inventory)]
    assert found == [["single-log-dies", "single-log-dies-and-crash"], ["cache-dies"]]


def test_of_a_pool_that_is_not_imported_it_is_not_known_whether_it_has_another_log() -> None:
    inventory = with_single_log()
    plan = plan_for(PlanRequest(TANK, (NVME2,), 4 * GIB), inventory)
    (loss,) = losses_of(plan, replace(inventory, pools=()))
    assert [finding.code for finding in loss.findings] == ["single-log-dies", "single-log-dies-and-crash"]


def test_an_ssd_with_log_and_cache_says_what_both_mean() -> None:
    assert codes(MIRROR_AND_CACHES, home_server()) == [["log-side-dies", "cache-dies"]] * 2


def test_a_single_log_says_what_a_crash_costs() -> None:
    request = PlanRequest(TANK, (NVME1,), 4 * GIB)
    assert codes(request, home_server()) == [["single-log-dies", "single-log-dies-and-crash"]]


def test_the_crash_of_a_single_log_is_told_as_openzfs_behaves() -> None:
    inventory = home_server()
    (loss,) = losses_of(plan_for(PlanRequest(TANK, (NVME1,), 4 * GIB), inventory), inventory)
    crash = loss.findings[1]
    assert crash.level is Level.CRITICAL
    assert "`zpool import -m tank`" in str(crash)
    assert "normally up to 5 s, more if the pool was slow" in str(crash)
    assert "After a clean shutdown, nothing is lost." in str(crash)


def test_a_cache_alone_is_harmless() -> None:
    request = PlanRequest(TANK, cache_disks=(NVME1,))
    inventory = home_server()
    (loss,) = losses_of(plan_for(request, inventory), inventory)
    assert [finding.level for finding in loss.findings] == [Level.INFO]
    assert "nothing is lost" in str(loss.findings[0])


def test_attaching_a_side_speaks_of_the_old_side_too() -> None:
    inventory = with_single_log()
    request = PlanRequest(TANK, (NVME2,), attach_to="31")
    losses = losses_of(plan_for(request, inventory), inventory)
    assert [loss.device for loss in losses] == ["Samsung SSD 960 EVO 500GB (N2)", "Samsung SSD 960 EVO 500GB (N1)"]
    assert [[finding.code for finding in loss.findings] for loss in losses] == [["log-side-dies"]] * 2


def test_a_log_beside_another_log_is_said_to_be_no_stand_in() -> None:
    request = PlanRequest(TANK, (NVME2,), 4 * GIB)
    assert codes(request, with_single_log()) == [["single-log-dies", "single-log-dies-and-crash", "other-log-striped"]]
