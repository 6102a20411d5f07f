"""Sentences and figures in the user's language."""

import pytest
from django.utils import translation

from nasadvisor.console.wording.statements import localized, marked, said, said_below, unbroken
from nasadvisor.domain.statements import Statement


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
