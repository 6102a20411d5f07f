"""What a host lets a console ask: read from its setting, told beforehand, and the reason that goes with each group."""

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.permissions import (
    ALL,
    NONE,
    MayNotChange,
    MayNotMeasure,
    MayNotUndo,
    Verbs,
    as_vetoes,
    may_not,
    permissions_of,
    why_not,
)
from nasadvisor.domain.fleet.platforms import PlatformReport, Veto

MEASURE, CHANGE, UNDO = Verbs.MEASURE, Verbs.CHANGE, Verbs.UNDO


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("", ALL),
        ("  ", ALL),
        ("measure", {MEASURE}),
        (" Change,\tundo ", {CHANGE, UNDO}),
        ("look", NONE),
        ("look measure", {MEASURE}),
        ("changes", NONE),
        ("un do", NONE),
        ("change;undo", NONE),
    ],
)
def test_a_setting_allows_what_it_names_and_a_word_that_is_not_understood_nothing(
    setting: str, allowed: frozenset[Verbs]
) -> None:
    assert permissions_of(setting) == allowed


def test_each_group_is_refused_with_its_own_reason() -> None:
    assert [may_not(group) for group in Verbs] == [MayNotMeasure(), MayNotChange(), MayNotUndo()]
    assert [may_not(group).code for group in Verbs] == [
        "console-may-not-measure",
        "console-may-not-change",
        "console-may-not-undo",
    ]


def test_a_host_tells_what_it_does_not_allow_as_vetoes_against_just_that() -> None:
    """A console that heard of the wrong goal would offer what is refused, or keep a run from being taken back."""
    assert tuple(as_vetoes(ALL)) == ()
    assert tuple(as_vetoes(ALL - {CHANGE})) == (Veto(MayNotChange(), forbids=(Goal.APPLY, Goal.FINISH)),)
    assert tuple(as_vetoes(frozenset({CHANGE}))) == (
        Veto(MayNotMeasure(), forbids=()),
        Veto(MayNotUndo(), forbids=(Goal.UNDO,)),
    )
    assert len(tuple(as_vetoes(NONE))) == 3


@pytest.mark.parametrize("group", Verbs)
def test_of_what_a_host_told_the_console_knows_why_it_may_not_ask(group: Verbs) -> None:
    others = PlatformReport("nas", "2026-08-25T20:00:00+00:00", vetoes=tuple(as_vetoes(frozenset({group}))))
    everything = PlatformReport("nas", "2026-08-25T20:00:00+00:00", vetoes=tuple(as_vetoes(NONE)))
    assert why_not(others, group) is None
    assert why_not(everything, group) == may_not(group)
