"""Wishes that the tests of the rules start from, and every command that can come of them."""

from collections.abc import Iterator
from dataclasses import replace

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    Argv,
    Naming,
    Outcome,
    UndoAction,
)
from nasadvisor.domain.change.plan import PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.undo import undo_preview
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import (
    LOG_GUID,
    ids_for,
)
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_broken_log,
    with_dead_log,
    with_single_log,
)

SINGLE = PlanRequest(TANK, (NVME1,), 4 * GIB)
CACHE = PlanRequest(TANK, cache_disks=(NVME1,))
REPLACE = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, replaces="32")
TAKE_OUT = PlanRequest(TANK, dead_log="61")
INSTEAD = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB, dead_log="61")
SECOND = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID)


def refused(request: PlanRequest, inventory: Inventory) -> set[str]:
    """The codes of every reason against a wish."""
    answer = make_plan(request, inventory, ids_for(request))
    return {refusal.code for refusal in answer.refusals} if isinstance(answer, PlanRefused) else set()


def every_action() -> Iterator[Action]:
    for naming in Naming:
        yield from plan_for(replace(MIRROR_AND_CACHES, naming=naming), home_server()).actions
        yield from plan_for(replace(SINGLE, naming=naming), home_server()).actions
        yield from plan_for(replace(SECOND, naming=naming), with_single_log()).actions
        yield from plan_for(replace(REPLACE, naming=naming), with_broken_log()).actions
        yield from plan_for(replace(INSTEAD, naming=naming), with_dead_log()).actions
    yield from plan_for(TAKE_OUT, with_dead_log()).actions


def every_undo() -> Iterator[UndoAction]:
    outcome = Outcome(("17", "18"))
    return (step for action in every_action() for step in action.undo(outcome))


def every_argv() -> Iterator[Argv]:
    adds = (action for action in every_action() if isinstance(action, AddLog | AddCache))
    yield from (argv for action in (*every_action(), *every_undo()) for argv in action.commands())
    yield from (add.dry_run() for add in adds)
    yield from undo_preview(plan_for(MIRROR_AND_CACHES, home_server()))
