"""Starting a scrub: by the guid that was asked for, under the lock of runs; what OpenZFS says against it is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters.process import Output
from nasadvisor.host.change.lock import HostBusy, host_lock, is_held
from nasadvisor.host.health import scrub
from nasadvisor.host.health.scrub import ScrubPoolAway, ScrubRefused, start_scrub
from tests.unit.fakes import FakeRunner
from tests.unit.machines import TANK, home_server, with_pool

RESILVERS = "cannot scrub tank: currently resilvering\n"


def test_the_pool_with_the_guid_is_scrubbed_by_the_name_that_it_has_now(tmp_path: Path) -> None:
    runner = FakeRunner({"zpool scrub renamed": ""})
    start_scrub(lambda: with_pool(home_server(), name="renamed"), runner, (tmp_path / "lock",), TANK)
    assert [str(each) for each in runner.ran] == ["zpool scrub renamed"]
    assert runner.ran[0].mutates


def test_nothing_is_typed_where_another_pool_has_the_name(tmp_path: Path) -> None:
    runner = FakeRunner()
    with pytest.raises(ScrubPoolAway, match=f"guid {TANK} is imported"):
        start_scrub(lambda: with_pool(home_server(), guid="42"), runner, (tmp_path / "lock",), TANK)
    assert runner.ran == []


def test_what_openzfs_says_against_it_is_told(tmp_path: Path) -> None:
    runner = FakeRunner({"zpool scrub tank": Output("", RESILVERS, 1, 0.0)})
    with pytest.raises(ScrubRefused, match=r"did not start a scrub.*currently resilvering”") as refused:
        start_scrub(home_server, runner, (tmp_path / "lock",), TANK)
    assert refused.value.statement.values["answer"] == RESILVERS.strip()


def test_none_begins_while_a_run_changes_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrub, "LOCK_WAIT_S", 0.0)
    lock, runner = tmp_path / "lock", FakeRunner()
    with host_lock((lock,), 0), pytest.raises(HostBusy):
        start_scrub(home_server, runner, (lock,), TANK)
    assert runner.ran == []


def test_the_lock_is_held_from_the_look_on(tmp_path: Path) -> None:
    lock, held = tmp_path / "lock", list[bool]()

    def look() -> Inventory:
        held.append(is_held(lock))
        return replace(home_server(), pools=())

    with pytest.raises(ScrubPoolAway):
        start_scrub(look, FakeRunner(), (lock,), TANK)
    assert held == [True]
