"""What the platform of a host says, as the pages show it."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.templatetags.nasadvisor import owner_of
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import EVERYTHING, Guest, Platform, PlatformReport, Veto
from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.stored.documents import DocumentError, to_document
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import plan_of, text
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.machines import NVME1, TANK, home_server

WHY = Refused("dummy-veto", "The dummy does not want it.")


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


def tell(**parts: object) -> None:
    """The platforms of the host say this."""
    report = replace(PlatformReport("nas", home_server().read_at), **parts)  # type: ignore[arg-type]
    take_answer("nas", "platform-report", to_document(report))


def test_a_report_is_kept_with_its_host() -> None:
    tell(platforms=(Platform("Dummy NAS", "2.0"),))
    assert Node.objects.get().platform.platforms == (Platform("Dummy NAS", "2.0"),)


def test_a_report_of_another_host_or_form_is_refused() -> None:
    with pytest.raises(ValueError, match="came from"):
        take_answer("other", "platform-report", to_document(PlatformReport("nas", "")))
    with pytest.raises(DocumentError):
        take_answer("nas", "platform-report", {"node": "nas"})


def test_a_host_that_has_said_nothing_has_no_platform() -> None:
    assert Node.objects.get().platform == PlatformReport("nas", "")


def test_the_settings_name_the_platform_and_why_only_reading_is_possible(viewer: Client) -> None:
    tell(platforms=(Platform("Dummy NAS", "3.0"),), vetoes=(Veto(WHY, forbids=EVERYTHING),))
    page = text(viewer.get("/settings/"))
    assert "Dummy NAS 3.0" in page
    assert "The dummy does not want it." in page


def test_the_overview_shows_what_the_platform_forbids_and_finds(viewer: Client) -> None:
    tell(vetoes=(Veto(WHY),), findings=(Finding("dummy", "The dummy found something."),))
    page = text(viewer.get("/"))
    assert "The dummy does not want it." in page
    assert "The dummy found something." in page


@pytest.mark.parametrize("scope", ["", TANK])
def test_a_pool_that_the_platform_forbids_cannot_be_begun_with(operator: Client, scope: str) -> None:
    tell(vetoes=(Veto(WHY, scope),))
    assert "The dummy does not want it." in text(operator.get(f"/pools/{TANK}/"))
    assert "The dummy does not want it." in text(operator.get("/wizard/"))
    assert operator.post(f"/wizard/{TANK}/").headers["Location"] == f"/wizard/{TANK}/"


def test_an_ssd_that_the_platform_forbids_is_shown_with_the_reason(operator: Client) -> None:
    tell(vetoes=(Veto(WHY, NVME1),))
    assert "The dummy does not want it." in text(operator.get(f"/wizard/{TANK}/devices/?all"))


def test_a_veto_that_comes_after_the_preview_stops_the_apply(operator: Client, sent: list[Sent]) -> None:
    plan = plan_of(operator)
    tell(vetoes=(Veto(WHY, NVME1),))
    page = operator.post(f"/plans/{plan.id}/", {"password": PASSWORD})
    assert "The dummy does not want it." in text(page)
    assert not [each for each in sent if each.task == "host.apply"]


def test_what_the_platform_wants_read_is_in_the_preview(operator: Client) -> None:
    tell(cautions=(Finding("dummy-caution", "The dummy's vendor does not support this.", level=Level.WARNING),))
    page = text(operator.get(f"/plans/{plan_of(operator).id}/"))
    assert "The dummy's vendor does not support this." in page.replace("&#x27;", "'")


def test_a_veto_on_undoing_only_does_not_stop_an_apply(operator: Client, sent: list[Sent]) -> None:
    tell(vetoes=(Veto(WHY, "", (Goal.UNDO,)),))
    operator.post(f"/plans/{plan_of(operator).id}/", {"password": PASSWORD})
    assert [each for each in sent if each.task == "host.apply"]


def test_the_owner_of_a_dataset_is_a_filter() -> None:
    assert owner_of((Guest("tank/vm-100-disk-0", "VM 100 (mail)"),), "tank/vm-100-disk-0") == "VM 100 (mail)"
    assert owner_of((), "tank") == ""
