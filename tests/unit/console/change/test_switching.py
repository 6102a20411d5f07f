"""Taking a cache out of service from the page of its pool, and back."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from nasadvisor.console.accounts.roles import UserRole
from nasadvisor.console.change.models import StoredPlan, StoredRun
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_runs import deliver
from tests.unit.console.change.test_wizard import show, text
from tests.unit.console.conftest import PASSWORD, Sent, sign_in
from tests.unit.domain.builders import tank_of
from tests.unit.machines import CACHE_GUID, TANK, with_cache, with_pool

POOL = f"/pools/{TANK}/"
TAKE_OUT = f"/caches/{TANK}/{CACHE_GUID}/take-out/"


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, with_cache())


@pytest.fixture
def taken_out(host: SimulatedHost, operator: Client, sent: list[Sent]) -> StoredRun:
    """The run of an operator who took the cache out of service."""
    operator.post(TAKE_OUT)
    operator.post(f"/plans/{StoredPlan.objects.get().pk}/", {"password": PASSWORD})
    deliver(host, sent)
    host.publish_inventory()
    return StoredRun.objects.get()


def test_the_page_of_a_pool_leads_to_a_review_that_says_what_is_done(operator: Client) -> None:
    assert TAKE_OUT in text(operator.get(POOL))
    assert operator.get(TAKE_OUT).status_code == 405
    answer = operator.post(TAKE_OUT)
    stored = StoredPlan.objects.get()
    assert answer["Location"] == f"/plans/{stored.pk}/"
    page = text(operator.get(f"/plans/{stored.pk}/"))
    assert f"zpool offline tank {CACHE_GUID}" in page
    assert f"zpool online tank {CACHE_GUID}" in page
    assert "out of service; it stays in the pool" in page
    assert f'href="{POOL}"' in page
    assert "Devices and size" not in page


def test_once_it_is_out_the_page_names_the_run_whose_undo_puts_it_back(
    taken_out: StoredRun, host: SimulatedHost, operator: Client
) -> None:
    assert taken_out.state == "applied"
    assert tank_of(host.executor.state).caches[0].state == "OFFLINE"
    page = text(operator.get(POOL))
    assert TAKE_OUT not in page
    assert f'href="/runs/{taken_out.pk}/"' in page
    assert "undo the run to put it back" in page
    assert "is gone" not in page


def test_its_run_is_told_in_words_where_nothing_was_added(taken_out: StoredRun, operator: Client) -> None:
    assert "out of service; it stays in the pool" in text(operator.get("/runs/"))
    assert "Devices and size" not in text(operator.get(f"/runs/{taken_out.pk}/"))
    assert operator.get(f"/runs/{taken_out.pk}/proof/").status_code == 200


def test_what_somebody_took_out_by_hand_is_no_run_of_ours(host: SimulatedHost, operator: Client) -> None:
    show(host, with_cache("OFFLINE"))
    page = text(operator.get(POOL))
    assert "undo the run to put it back" not in page
    assert f"zpool online tank {CACHE_GUID}" in page


def test_what_cannot_be_taken_out_is_said_on_the_page_of_the_pool(host: SimulatedHost, operator: Client) -> None:
    show(host, with_cache("UNAVAIL"))
    assert TAKE_OUT not in text(operator.get(POOL))
    assert "is UNAVAIL, not ONLINE" in text(operator.post(TAKE_OUT, follow=True))
    show(host, with_pool(with_cache(), checkpoint="1.2G"))
    assert TAKE_OUT not in text(operator.get(POOL))
    assert "has a checkpoint" in text(operator.post(TAKE_OUT, follow=True))
    assert not StoredPlan.objects.exists()


def test_a_viewer_takes_nothing_out(client: Client) -> None:
    sign_in(client, UserRole.VIEWER)
    assert TAKE_OUT not in text(client.get(POOL))
    assert client.post(TAKE_OUT).status_code == 403
    assert not StoredPlan.objects.exists()


def test_a_pool_without_a_cache_has_no_place_for_them(host: SimulatedHost, operator: Client) -> None:
    show(host, with_pool(replace(with_cache()), caches=()))
    assert "A cache out of service stays" not in text(operator.get(POOL))
