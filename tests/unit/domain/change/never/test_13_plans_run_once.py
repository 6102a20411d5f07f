"""Rule 13: no plan runs twice, and none that was changed or made for another state of the host."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, make_plan
from nasadvisor.domain.storage.inventory import Hold, HoldKind, TableKind
from tests.unit.domain.builders import (
    LOG_GUID,
    TABLE_UUID,
    change_vdev,
    disk_of,
    ids_for,
    made,
    mirrored_log,
    slice_on,
    tank_of,
)
from tests.unit.domain.change.never.wishes import CACHE, SINGLE
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    home_server,
    leaf_on,
    plan_for,
    with_disk,
    with_pool,
)


def test_the_run_has_the_id_of_the_plan() -> None:
    plan = plan_for(SINGLE, home_server())
    assert plan.id == plan.ids.plan_id


def test_a_plan_is_made_again_the_same_and_no_other_passes_for_it() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    assert make_plan(plan.request, home_server(), plan.ids) == plan
    for other in (
        replace(plan, actions=plan.actions[:-1]),
        replace(plan, pool_name="rpool"),
        replace(plan, request=replace(plan.request, reserve_percent=0)),
    ):
        assert make_plan(other.request, home_server(), other.ids) != other


@pytest.mark.parametrize(
    "change",
    [
        lambda found: with_disk(found, NVME1, holds=(Hold(HoldKind.MOUNT, "/srv"),)),
        lambda found: with_disk(found, NVME1, table=TableKind.GPT),
        lambda found: with_disk(found, NVME1, table_uuid=TABLE_UUID),
        lambda found: with_disk(found, NVME1, unrecognised_at=0),
        lambda found: made(found, slice_on(disk_of(found, NVME1))),
        lambda found: with_pool(found, name="renamed"),
        lambda found: with_pool(found, state="DEGRADED"),
        lambda found: with_pool(found, checkpoint="1G"),
        lambda found: with_pool(found, read_only=True),
        lambda found: with_pool(found, suspended=True),
        lambda found: with_pool(found, data=tank_of(found).data[:1]),
        lambda found: with_pool(found, caches=(leaf_on(disk_of(found, NVME2), "61"),)),
    ],
)
def test_every_change_that_matters_shows_in_the_fingerprint(change: Any) -> None:
    assert change(home_server()).fingerprint != home_server().fingerprint


@pytest.mark.parametrize(
    "change",
    [
        lambda found: with_disk(found, NVME1, kernel_name="nvme7n1"),
        lambda found: with_pool(found, allocated_bytes=1),
        lambda found: change_vdev(found, LOG_GUID, write_errors=5),
        lambda found: replace(found, read_at="later", disks=found.disks[::-1], pools=found.pools[::-1]),
    ],
)
def test_what_changes_by_itself_does_not(change: Any) -> None:
    before, _ = mirrored_log()
    assert change(before).fingerprint == before.fingerprint


def test_a_plan_only_minds_its_own_pool_and_disks() -> None:
    plan = plan_for(SINGLE, home_server())
    elsewhere = with_disk(home_server(), NVME2, holds=(Hold(HoldKind.MOUNT, "/srv"),))
    elsewhere = replace(elsewhere, pools=(tank_of(elsewhere),))
    again = make_plan(plan.request, elsewhere, plan.ids)
    assert isinstance(again, Plan)
    assert again.fingerprint == plan.fingerprint
    assert plan.fingerprint != plan_for(CACHE, with_pool(home_server(), name="other")).fingerprint


def test_a_plan_with_too_few_identifiers_is_refused() -> None:
    answer = make_plan(SINGLE, home_server(), PlanIds("plan-1", "", ids_for(SINGLE).uuids[:1]))
    assert isinstance(answer, PlanRefused)
    assert [refusal.code for refusal in answer.refusals] == ["plan-foreign"]
