"""The host's settings: what they are called, and what holds where nothing is set."""

from pathlib import Path

import pytest

from nasadvisor.domain.fleet.permissions import ALL, NONE, Verbs
from nasadvisor.host.config import config_from, watch_only_path_in


def test_without_settings_everything_is_where_the_installer_puts_it() -> None:
    config = config_from({})
    assert config.journals == Path("/var/lib/nasadvisor/host/runs")
    assert config.lock_path == Path("/run/nasadvisor-host/host.lock")
    assert config.redis_url == "redis+socket:///run/nasadvisor/redis.sock"


def test_the_journals_go_where_the_host_state_is_and_not_where_the_console_has_its_own() -> None:
    config = config_from({"NASADVISOR_HOST_STATE": "/srv/host", "NASADVISOR_CONSOLE_STATE": "/srv/console"})
    assert config.journals == Path("/srv/host/runs")


@pytest.mark.parametrize(
    ("said", "watched"), [("", False), ("no", False), ("yes", True), ("1", True), ("whatever", True)]
)
def test_whatever_is_not_a_no_makes_a_host_watched_only(said: str, watched: bool, tmp_path: Path) -> None:
    settings = {"NASADVISOR_HOST_STATE": str(tmp_path), "NASADVISOR_WATCH_ONLY": said}
    assert config_from(settings).allowed == (NONE if watched else ALL)


@pytest.mark.parametrize(("said", "has"), [("", True), ("yes", True), ("no", False), ("off", False)])
def test_spells_are_traced_unless_it_says_no(said: str, has: bool, tmp_path: Path) -> None:
    assert config_from({"NASADVISOR_HOST_STATE": str(tmp_path), "NASADVISOR_SPELLS": said}).has_spells is has


def test_the_mark_of_joining_makes_a_host_watched_only(tmp_path: Path) -> None:
    watch_only_path_in(tmp_path).touch()
    assert config_from({"NASADVISOR_HOST_STATE": str(tmp_path)}).allowed == NONE


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        ("", ALL),
        ("measure, change,undo", ALL),
        ("undo", {Verbs.UNDO}),
        ("Measure UNDO", {Verbs.MEASURE, Verbs.UNDO}),
        ("look", NONE),
        ("look,change", {Verbs.CHANGE}),
        ("everything", NONE),
        (",", NONE),
    ],
)
def test_a_console_may_ask_for_what_is_named_and_a_word_that_is_not_understood_allows_nothing(
    said: str, allowed: frozenset[Verbs], tmp_path: Path
) -> None:
    settings = {"NASADVISOR_HOST_STATE": str(tmp_path), "NASADVISOR_CONSOLE_MAY": said}
    assert config_from(settings).allowed == allowed
    assert config_from({**settings, "NASADVISOR_WATCH_ONLY": "yes"}).allowed == NONE
