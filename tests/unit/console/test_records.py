"""Storing what hosts tell: the newest document wins, whatever the order of arrival."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from nasadvisor.console.change.models import Pending, StoredPlan, StoredRun
from nasadvisor.console.change.runs import orders
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.change.runs import Run, RunState, as_interrupted, steps_of
from nasadvisor.domain.fleet.questions import UNDO
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import DocumentError, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.people import person
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

NODE = "nas"
PAGES = ("/", "/storage/", "/disks/", "/settings/", "/runs/", "/wizard/")
SILENT = Statement("silent", "zpool did not answer.")


def run_at(seq: int, state: RunState) -> Run:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    return Run(plan.id, NODE, plan, state, "olga", "2026-08-25T20:15:00+00:00", "", seq, steps_of(plan.actions))


def store(run: Run) -> StoredRun:
    take_answer(NODE, "run", to_document(run))
    return StoredRun.objects.get()


def stored_plan() -> StoredPlan:
    take_answer(NODE, "inventory", to_document(home_server()))
    node = Node.objects.get(name=NODE)
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    return StoredPlan.objects.create(id=plan.id, node=node, document=to_document(plan))


def read_later(inventory: Inventory, by: timedelta) -> Inventory:
    read_at = datetime.fromisoformat(inventory.read_at) + by
    return replace(inventory, read_at=read_at.isoformat())


def test_it_stores_an_inventory_and_gives_it_back() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    node = Node.objects.get()
    assert node.inventory == home_server()
    assert node.last_contact


def test_it_keeps_the_newer_inventory_when_an_older_one_arrives_late() -> None:
    newer = read_later(home_server(), timedelta(minutes=1))
    take_answer(NODE, "inventory", to_document(newer))
    take_answer(NODE, "inventory", to_document(home_server()))
    assert Node.objects.get().inventory == newer


def test_it_follows_a_host_whose_clock_was_set_back() -> None:
    take_answer(NODE, "inventory", to_document(read_later(home_server(), timedelta(days=1))))
    take_answer(NODE, "inventory", to_document(home_server()))
    assert Node.objects.get().inventory == home_server()


def test_it_refuses_an_inventory_of_another_node() -> None:
    with pytest.raises(ValueError, match="came from other"):
        take_answer("other", "inventory", to_document(home_server()))
    assert not Node.objects.exists()


def test_it_refuses_a_document_with_a_field_too_many() -> None:
    with pytest.raises(DocumentError):
        take_answer(NODE, "inventory", {**to_document(home_server()), "surprise": 1})


def test_it_keeps_the_last_inventory_when_a_host_cannot_read_itself() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    take_error(NODE, "read_inventory", "", to_document(SILENT))
    node = Node.objects.get()
    assert node.inventory_error == SILENT
    assert node.inventory == home_server()


def test_it_forgets_the_error_with_the_next_good_reading() -> None:
    take_error(NODE, "read_inventory", "", to_document(SILENT))
    take_answer(NODE, "inventory", to_document(home_server()))
    assert Node.objects.get().inventory_error is None


def test_it_decodes_an_inventory_once_for_all_requests_until_a_newer_one_is_stored() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    first, second = Node.objects.get(), Node.objects.get()
    assert first.inventory is second.inventory
    changed = replace(home_server(), pools=())
    take_answer(NODE, "inventory", to_document(changed))  # in the same second
    assert Node.objects.get().inventory == changed


WHOLE_DOCUMENT = re.compile(r'"inventory_document"(?!, \'\$| ->)')
"""In a query; not a part of it by its path, which the database takes out itself."""


def test_pages_never_load_the_document_of_an_inventory_they_know(operator: Client) -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    for path in PAGES:
        operator.get(path)
        with CaptureQueriesContext(connection) as queries:
            assert operator.get(path).status_code == 200
        assert [query["sql"] for query in queries if WHOLE_DOCUMENT.search(query["sql"])] == [], path


def test_it_takes_an_inventory_of_another_version_for_none() -> None:
    node = Node.objects.create(name=NODE, inventory_document={"of": "long ago"}, inventory_version=uuid4())
    assert node.inventory is None


def test_it_moves_a_run_forward() -> None:
    store(run_at(3, RunState.APPLYING))
    assert store(run_at(9, RunState.APPLIED)).run == run_at(9, RunState.APPLIED)


def test_a_further_record_of_a_run_costs_five_statements(django_assert_num_queries: Any) -> None:
    store(run_at(2, RunState.APPLYING))
    Node.objects.update(last_contact=None)
    with django_assert_num_queries(5):
        take_answer(NODE, "run", to_document(run_at(5, RunState.APPLYING)))
    assert StoredRun.objects.get().seq == 5
    assert Node.objects.get().last_contact


def test_it_never_moves_a_run_back() -> None:
    store(run_at(9, RunState.APPLIED))
    stored = store(run_at(3, RunState.APPLYING))
    assert (stored.seq, stored.state) == (9, RunState.APPLIED)
    assert stored.run.state is RunState.APPLIED


def test_it_notes_that_a_run_was_interrupted_although_its_journal_did_not_grow() -> None:
    store(run_at(3, RunState.APPLYING))
    assert store(as_interrupted(run_at(3, RunState.APPLYING))).state == RunState.INTERRUPTED


def test_it_refuses_a_run_of_another_node() -> None:
    store(run_at(3, RunState.APPLYING))
    with pytest.raises(ValueError, match="came from other"):
        take_answer("other", "run", to_document(run_at(9, RunState.APPLIED)))


def test_it_does_not_let_another_node_overwrite_a_run() -> None:
    store(run_at(3, RunState.APPLYING))
    take_answer("other", "run", to_document(replace(run_at(9, RunState.APPLIED), node="other")))
    assert StoredRun.objects.get().seq == 3


def test_it_shows_runs_that_were_started_on_the_command_line() -> None:
    stored = store(run_at(9, RunState.APPLIED))
    assert (stored.requested_by, stored.pool_name, stored.node.name) == ("olga", "tank", NODE)


def test_it_knows_a_requested_run_before_the_host_answers() -> None:
    run = orders.apply_plan(stored_plan(), person("olga"))
    assert (run.seq, run.state, run.pending) == (0, "requested", Pending.APPLY)
    assert {step.state for step in run.run.steps} == {"pending"}


def test_it_forgets_what_was_asked_for_when_the_host_has_moved_on() -> None:
    orders.apply_plan(stored_plan(), person("olga"))
    assert store(run_at(1, RunState.APPLYING)).pending == Pending.NOTHING


def test_it_still_waits_for_an_undo_while_the_host_repeats_the_old_state() -> None:
    orders.order(store(run_at(9, RunState.APPLIED)), UNDO, person("olga"))
    assert store(run_at(9, RunState.APPLIED)).pending == Pending.UNDO
    assert store(run_at(10, RunState.UNDOING)).pending == Pending.NOTHING


def test_it_gives_up_on_a_request_that_no_host_took_up() -> None:
    orders.apply_plan(stored_plan(), person("olga"))
    orders.expire_requests(timezone.now() + timedelta(seconds=100))
    assert StoredRun.objects.get().state == "requested"
    orders.expire_requests(timezone.now() + timedelta(seconds=200))
    assert StoredRun.objects.get().state == "unanswered"


def test_it_believes_the_host_even_after_it_has_given_up() -> None:
    orders.apply_plan(stored_plan(), person("olga"))
    orders.expire_requests(timezone.now() + timedelta(seconds=200))
    assert store(run_at(1, RunState.APPLYING)).state == RunState.APPLYING


@pytest.mark.parametrize("state", [RunState.APPLYING, RunState.UNDOING, RunState.PUTTING_BACK, RunState.INTERRUPTED])
def test_it_asks_how_an_unfinished_run_stands(state: RunState, sent: list[Sent]) -> None:
    run = store(run_at(3, state))
    tasks.follow_runs()
    assert [(each.task, each.args) for each in sent] == [("host.report_run", [str(run.id)])]


@pytest.mark.parametrize("state", [RunState.APPLIED, RunState.UNDONE, RunState.PUT_BACK, RunState.REFUSED])
def test_it_leaves_a_finished_run_alone(state: RunState, sent: list[Sent]) -> None:
    store(run_at(9, state))
    tasks.follow_runs()
    assert sent == []


def test_it_asks_about_a_finished_run_whose_undo_was_asked_for(sent: list[Sent]) -> None:
    orders.order(store(run_at(9, RunState.APPLIED)), UNDO, person("olga"))
    tasks.follow_runs()
    assert [each.task for each in sent] == ["host.undo", "host.report_run"]
