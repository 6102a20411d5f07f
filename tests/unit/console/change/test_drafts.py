"""The choices made in the wizard outlive session and browser, and are never silently others."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.roles import UserRole
from nasadvisor.console.change.models import StoredDraft
from nasadvisor.console.change.wizard.draft import Draft, DraftStore
from nasadvisor.console.fleet.models import Node
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import LAYOUT, choose, kept, plan_of, show, text
from tests.unit.console.conftest import PASSWORD, sign_in
from tests.unit.machines import NVME1, NVME2, TANK, home_server

DEVICES = f"/wizard/{TANK}/devices/"


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


def test_choices_outlive_the_end_of_a_session(operator: Client) -> None:
    choose(operator, [NVME1, NVME2], [NVME2], **{**LAYOUT, "log_size": "6G", "log_on": NVME2})
    before = kept(operator)
    operator.logout()
    assert operator.get(DEVICES).status_code == 302
    operator.force_login(User.objects.get(username="operator"))
    page = text(operator.get(DEVICES))
    assert kept(operator) == before
    assert 'value="6G"' in page
    assert "Your choices are kept." in page


def test_what_somebody_else_chose_is_not_shown(operator: Client) -> None:
    choose(operator, [NVME1, NVME2], [], **{**LAYOUT, "log_size": "6G"})
    sign_in(operator, UserRole.ADMIN)
    assert 'value="6G"' not in text(operator.get(DEVICES))
    assert kept(operator) == Draft("nothing kept")


def test_choices_of_another_release_are_left_out_and_that_is_said(operator: Client) -> None:
    choose(operator, [NVME1], [])
    damaged: list[object] = [{"unknown": "field"}, {**StoredDraft.objects.get().document, "log_size": "big"}, [], "x"]
    for document in damaged:
        StoredDraft.objects.update(document=document)
        assert "This release cannot read" in text(operator.get(DEVICES))
    choose(operator, [NVME1], [])
    assert "This release cannot read" not in text(operator.get(DEVICES))


def test_a_chosen_disk_that_is_gone_is_left_out_and_that_is_said(operator: Client, host: SimulatedHost) -> None:
    choose(operator, [NVME1, NVME2], [])
    inventory = home_server()
    show(host, replace(inventory, disks=tuple(disk for disk in inventory.disks if disk.key != NVME2)))
    assert "A disk that you chose is no longer present" in text(operator.get(DEVICES))


def test_one_can_start_over_with_what_is_proposed(operator: Client) -> None:
    choose(operator, [NVME1], [])
    operator.post(DEVICES, {"anew": "yes"})
    assert kept(operator) == Draft("nothing kept")
    assert "Start over" not in text(operator.get(DEVICES))


def test_a_request_that_came_earlier_does_not_overwrite_a_later_one(operator: Client) -> None:
    place = DraftStore(User.objects.get(username="operator"), Node.objects.get(), TANK)
    now = timezone.now()
    place.save(Draft(TANK, log_size="6G"), now)
    place.save(Draft(TANK, log_size="5G"), now - timedelta(seconds=1))
    assert kept(operator).log_size == "6G"
    place.save(Draft(TANK, log_size="7G"), now + timedelta(seconds=1))
    assert kept(operator).log_size == "7G"


def test_choices_are_forgotten_once_applied(operator: Client) -> None:
    stored = plan_of(operator, log_size="6G")
    assert kept(operator).log_size == "6G"
    operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
    assert not StoredDraft.objects.exists()
