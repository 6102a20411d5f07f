"""Replacing a dead log, and taking it out, from the page of its pool and in the wizard."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from nasadvisor.console.change.models import StoredPlan, StoredRun
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_runs import deliver
from tests.unit.console.change.test_wizard import kept, press_on, show, text
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.domain.builders import tank_of
from tests.unit.machines import NVME1, NVME2, TANK, with_dead_log, with_pool

POOL = f"/pools/{TANK}/"
TAKE_OUT = f"/logs/{TANK}/61/take-out/"
BUTTONS = ("Replace the failed log", "Remove the failed log")


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, with_dead_log())


def run_of(plan: StoredPlan, host: SimulatedHost, operator: Client, sent: list[Sent]) -> StoredRun:
    """What came of the plan once its review was confirmed."""
    operator.post(f"/plans/{plan.pk}/", {"password": PASSWORD})
    deliver(host, sent)
    host.publish_inventory()
    return StoredRun.objects.get()


@pytest.mark.parametrize("page", [POOL, "/wizard/", f"/wizard/{TANK}/"])
def test_the_pool_and_the_wizard_lead_to_both_ways_out(operator: Client, page: str) -> None:
    shown = text(operator.get(page))
    assert TAKE_OUT in shown
    assert [button for button in BUTTONS if button not in shown] == []


def test_a_viewer_is_led_nowhere(viewer: Client) -> None:
    assert TAKE_OUT not in text(viewer.get(POOL))
    assert viewer.post(TAKE_OUT).status_code == 403


def test_to_take_it_out_is_reviewed_and_cannot_be_tried(operator: Client) -> None:
    assert operator.get(TAKE_OUT).status_code == 405
    answer = operator.post(TAKE_OUT)
    stored = StoredPlan.objects.get()
    assert answer["Location"] == f"/plans/{stored.pk}/"
    page = text(operator.get(f"/plans/{stored.pk}/"))
    assert "zpool remove tank 61" in page
    assert "The failed log" in page
    assert "is not restored" in page
    assert 'name="trial"' not in page
    assert f'href="{POOL}"' in page


def test_once_it_is_out_there_is_nothing_to_undo(host: SimulatedHost, operator: Client, sent: list[Sent]) -> None:
    operator.post(TAKE_OUT)
    run = run_of(StoredPlan.objects.get(), host, operator, sent)
    assert run.state == "applied"
    assert (tank_of(host.executor.state).state, tank_of(host.executor.state).logs) == ("ONLINE", ())
    page = text(operator.get(f"/runs/{run.pk}/"))
    assert f"/runs/{run.pk}/undo/" not in page
    assert TAKE_OUT not in text(operator.get(POOL))


def test_the_new_log_is_chosen_in_the_wizard_and_what_stays_out_is_said(
    host: SimulatedHost, operator: Client, sent: list[Sent]
) -> None:
    answer = operator.get(f"/wizard/{TANK}/?goal=instead")
    assert answer["Location"] == f"/wizard/{TANK}/devices/"
    draft = kept(operator)
    assert (draft.dead_log, draft.log_disks) == ("61", (NVME1, NVME2))
    page = text(operator.get(f"/wizard/{TANK}/devices/"))
    assert "The failed log is removed" in page
    assert "instead of the failed log: a mirror of 2 slices" in page
    press_on(operator, [NVME1, NVME2], [])
    stored = StoredPlan.objects.get()
    review = text(operator.get(f"/plans/{stored.pk}/"))
    assert "Removed first" in review
    assert "zpool remove tank 61" in review
    run = run_of(stored, host, operator, sent)
    assert run.state == "applied"
    pool = tank_of(host.executor.state)
    assert (pool.state, [len(top.children) for top in pool.logs]) == ("ONLINE", [2])
    assert f"/runs/{run.pk}/undo/" in text(operator.get(f"/runs/{run.pk}/"))


def test_a_new_log_needs_an_ssd_for_it(operator: Client) -> None:
    operator.post(f"/wizard/{TANK}/", {"goal": "instead"})
    assert "Choose at least one SSD for the new log." in text(press_on(operator, [], [NVME1]))


def test_what_is_not_dead_is_refused_with_its_way_out(host: SimulatedHost, operator: Client) -> None:
    for state, command in (("OFFLINE", "zpool online tank 61"), ("DEGRADED", "zpool offline -f tank 61")):
        show(host, with_dead_log(state))
        page = text(operator.get(POOL))
        assert TAKE_OUT not in page
        assert command in re.sub(r"<[^>]+>", "", page)
        assert command in text(operator.post(TAKE_OUT, follow=True))


def test_a_side_that_somebody_took_offline_is_not_called_broken(host: SimulatedHost, operator: Client) -> None:
    show(host, with_dead_log("ONLINE", "OFFLINE"))
    page = text(operator.get("/wizard/"))
    assert "zpool online tank 62" in page
    assert "one side has failed" not in page


def test_where_more_ails_the_pool_nothing_is_offered(host: SimulatedHost, operator: Client) -> None:
    inventory = with_dead_log()
    sick = tuple(replace(top, state="DEGRADED") for top in tank_of(inventory).data)
    show(host, with_pool(inventory, data=sick))
    for page in (POOL, "/wizard/"):
        assert TAKE_OUT not in text(operator.get(page))
    assert operator.get(f"/wizard/{TANK}/?goal=instead")["Location"] == f"/wizard/{TANK}/"
