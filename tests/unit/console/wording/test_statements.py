"""Sentences and figures in the user's language."""

import pytest
from django.test import Client
from django.utils import translation

from nasadvisor.console.change.models import StoredDraft
from nasadvisor.console.wording.statements import lead_from, localized, marked, said, said_below, unbroken
from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from tests.unit.console.test_pages import load, page
from tests.unit.machines import TANK, home_server, with_broken_log, with_single_log


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("9.3 %", "9,3 %"),
        ("1.82 TiB", "1,82 TiB"),
        ("0.05–0.3 ms", "0,05–0,3 ms"),
        ("447 GiB / 1.50 GiB", "447 GiB / 1,50 GiB"),
        ("108.7 GB", "108,7 GB"),
        ("OpenZFS 2.3.9", "OpenZFS 2.3.9"),
        ("2.3", "2.3"),
        ("192.168.1.5 s", "192.168.1.5 s"),
        ("kernel 6.12 breaks", "kernel 6.12 breaks"),
    ],
)
def test_figures_with_a_unit_are_written_as_in_the_language_that_is_on(text: str, german: str) -> None:
    with translation.override("de"):
        assert localized(text) == german
    with translation.override("en"):
        assert localized(text) == text


def test_a_sentence_has_its_figures_in_the_same_language_as_its_words() -> None:
    inner = Statement("share", "{share} of `zpool 1.5 GiB`", {"share": "9.3 %"})
    with translation.override("de"):
        assert said(Statement("outer", "So: {inner}", {"inner": inner})) == "So: 9,3 % of `zpool 1.5 GiB`"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("24 ms → 0.14–2.1 ms", "24_ms → 0.14–2.1_ms"),
        ("slices of 16 GiB; 1.56 TiB cache", "slices of 16_GiB; 1.56_TiB cache"),
        ("50 % of 2 h, 41 °C", "50_% of 2_h, 41_°C"),
        ("1.92 MiB/s, 200 µs", "1.92_MiB/s, 200_µs"),
        ("2 slices, 3 disks", "2 slices, 3 disks"),
    ],
)
def test_no_line_ends_between_a_figure_and_its_unit(text: str, kept: str) -> None:
    assert unbroken(text) == kept.replace("_", "\u00a0")
    assert marked(text) == kept.replace("_", "\u00a0")


def test_no_line_ends_within_an_option_of_a_command() -> None:
    shown = marked("Run `systemctl enable --now <timer>`.")
    assert '<code>systemctl enable <span class="text-nowrap">--now</span> &lt;timer&gt;</code>' in shown


def test_a_sentence_below_the_name_of_its_disk_does_not_say_it_again() -> None:
    failing = Statement(
        "f",
        "The disk {disk} reports that it is failing (SMART status FAILED). Replace it as soon as possible.",
        {"disk": "WDC (S1)"},
    )
    assert said_below(failing).startswith("The disk reports")
    with translation.override("de"):
        assert said_below(failing).startswith("Die Platte meldet selbst")
    of_pool = Statement("p", "Pool {pool} has lost {disk}.", {"pool": "tank", "disk": "WDC (S1)"})
    assert said_below(of_pool) == said(of_pool)


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
