"""Where findings lead."""

from django.test import Client

from nasadvisor.console.change.models import StoredDraft
from nasadvisor.console.wording.statements import lead_from
from nasadvisor.domain.statements import Finding, Level, NextStep
from tests.unit.console.test_pages import load, page
from tests.unit.machines import TANK, home_server, with_broken_log, with_single_log


def finding(step: NextStep | None) -> Finding:
    return Finding("code", "text", {}, Level.INFO, step=step, place=TANK)


def test_an_operator_is_led_to_the_wizard_prefilled() -> None:
    lead = lead_from(finding(NextStep.MIRROR_LOG), may_change=True)
    assert lead is not None
    assert lead.url == f"/wizard/{TANK}/?goal=mirror"


def test_a_viewer_is_led_to_a_page_to_look_at() -> None:
    lead = lead_from(finding(NextStep.MIRROR_LOG), may_change=False)
    assert lead is not None
    assert lead.url == f"/pools/{TANK}/"


def test_nothing_leads_nowhere() -> None:
    assert lead_from(finding(None), may_change=True) is None


def test_the_link_opens_the_wizard_at_the_devices_with_the_log_to_mirror(operator: Client) -> None:
    load(with_single_log())
    assert f'href="/wizard/{TANK}/?goal=mirror"' in page(operator, f"/pools/{TANK}/")
    response = operator.get(f"/wizard/{TANK}/?goal=mirror")
    assert response.headers["Location"] == f"/wizard/{TANK}/devices/"
    assert StoredDraft.objects.get().document["attach_to"] == "31"


def test_a_broken_side_leads_to_its_replacement(operator: Client) -> None:
    load(with_broken_log())
    assert f'href="/wizard/{TANK}/?goal=replace"' in page(operator, f"/pools/{TANK}/")
    response = operator.get(f"/wizard/{TANK}/?goal=replace")
    assert response.headers["Location"] == f"/wizard/{TANK}/devices/"
    draft = StoredDraft.objects.get().document
    assert (draft["attach_to"], draft["replaces"], draft["cache_disks"]) == ("31", "32", [])


def test_the_link_shows_the_choice_where_there_is_no_log_to_mirror(operator: Client) -> None:
    load(home_server())
    assert operator.get(f"/wizard/{TANK}/?goal=mirror").status_code == 200
