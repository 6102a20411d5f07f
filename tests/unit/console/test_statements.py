"""Sentences and figures in the user's language."""

import pytest
from django.utils import translation

from nasadvisor.console.statements import localized, said
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
