from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from nasadvisor.console.change.models import StoredPlan
from nasadvisor.console.change.plans import own_plan, plan_for, refusal_of, store_plan
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.change.plan import Plan, PlanIds
from tests.simulated_host import simulated_host
from tests.unit.machines import MIRROR_AND_CACHES, home_server, with_pool


@pytest.fixture
def stored(tmp_path: Path) -> StoredPlan:
    host = simulated_host(tmp_path, home_server())
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    assert isinstance(plan, Plan)
    return store_plan(plan, Node.objects.get(name=host.node), User.objects.create_user("anna"))


def test_two_plans_never_share_an_identifier() -> None:
    first, second = (PlanIds.fresh(MIRROR_AND_CACHES, uuid4, datetime.now(UTC)) for _time in range(2))
    assert len(first.uuids) == PlanIds.uuids_needed(MIRROR_AND_CACHES)
    assert not {first.plan_id, *first.uuids} & {second.plan_id, *second.uuids}


def test_a_stored_plan_has_the_plans_id_and_reads_back_equal(stored: StoredPlan) -> None:
    again = StoredPlan.objects.get(pk=stored.pk)
    assert again.pk == UUID(again.plan.id)
    assert again.plan.request == MIRROR_AND_CACHES


def test_its_maker_gets_it(stored: StoredPlan) -> None:
    assert own_plan(stored.pk, User.objects.get(username="anna")) == stored


def test_nobody_else_gets_it(stored: StoredPlan) -> None:
    with pytest.raises(PermissionDenied, match="created by someone else"):
        own_plan(stored.pk, User.objects.create_user("bert"))


def test_an_unknown_id_is_not_found() -> None:
    with pytest.raises(Http404):
        own_plan(uuid4(), User.objects.create_user("carl"))


def test_a_plan_that_can_no_longer_be_read_is_not_found(stored: StoredPlan) -> None:
    StoredPlan.objects.filter(pk=stored.pk).update(document={"from": "another version"})
    with pytest.raises(Http404):
        own_plan(stored.pk, User.objects.get(username="anna"))


def test_it_is_current_while_its_pool_and_disks_are_as_they_were(stored: StoredPlan) -> None:
    assert refusal_of(own_plan(stored.pk, User.objects.get(username="anna"))) is None


def test_it_is_outdated_once_its_pool_changed(stored: StoredPlan, tmp_path: Path) -> None:
    simulated_host(tmp_path, with_pool(home_server(), checkpoint="1G"))
    refusal = refusal_of(own_plan(stored.pk, User.objects.get(username="anna")))
    assert refusal
    assert refusal.code == "plan-outdated"


def test_it_is_outdated_while_its_host_has_not_been_read(stored: StoredPlan) -> None:
    Node.objects.update(inventory_document=None, inventory_version=None)
    refusal = refusal_of(own_plan(stored.pk, User.objects.get(username="anna")))
    assert refusal
    assert refusal.code == "plan-outdated"
