"""Rule 7: `-o ashift=` of the pool's own vdevs, always."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.checks import can
from tests.unit.domain.builders import LOG_GUID, attach_to_log, cache_on, code_of, disk_of, log_on
from tests.unit.domain.change.never.wishes import CACHE, SECOND, SINGLE, refused
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    home_server,
    plan_for,
    with_disk,
    with_pool,
    with_single_log,
)


def test_every_addition_says_the_ashift_of_the_pool() -> None:
    for ashift in (9, 12, 13):
        for request, inventory in ((MIRROR_AND_CACHES, home_server()), (SECOND, with_single_log())):
            plan = plan_for(request, with_pool(inventory, ashift=ashift))
            argvs = [argv for action in plan.actions for argv in action.commands() if argv[0] == "zpool"]
            assert {argv[2:4] for argv in argvs} == {("-o", f"ashift={ashift}")}


def test_a_side_is_attached_to_the_guid_of_the_side_that_is_there() -> None:
    plan = plan_for(SECOND, with_single_log())
    side = plan.slices[0].path
    assert plan.actions[-1].commands() == (("zpool", "attach", "-o", "ashift=12", "tank", LOG_GUID, side),)


@pytest.mark.parametrize("ashift", [0, 8, 17, -1, 10**9])
def test_a_pool_whose_ashift_is_not_known_gets_nothing(ashift: int) -> None:
    for request in (SINGLE, CACHE):
        assert refused(request, with_pool(home_server(), ashift=ashift)) == {"ashift-unknown"}


def test_a_plan_with_another_ashift_is_refused() -> None:
    for inventory, action in (log_on(NVME1), cache_on(NVME1), attach_to_log()):
        assert code_of(can(replace(action, ashift=9), inventory)) == "wrong-ashift"


def test_a_disk_with_sectors_larger_than_that_is_refused() -> None:
    for sector, ashift, code in (
        *((1024, 9, {"sector-too-large"}), (1024, 10, set()), (4096, 11, {"sector-too-large"}), (4096, 12, set())),
        *((4096, 13, set()), (65536, 16, set())),
    ):
        identity = replace(disk_of(home_server(), NVME1).identity, logical_sector_bytes=sector)
        inventory = with_disk(with_pool(home_server(), ashift=ashift), NVME1, identity=identity)
        assert refused(SINGLE, inventory) == refused(CACHE, inventory) == code
