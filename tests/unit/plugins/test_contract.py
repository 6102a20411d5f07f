"""The contract of plugins/README.md, with a platform that registers itself by entry point."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from nasadvisor.domain.change.runs import Goal, RunState
from nasadvisor.domain.fleet.platforms import Notice, PlatformReport, Veto
from nasadvisor.domain.statements import Level, Refused
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, undo_run
from nasadvisor.host.errors import HostError
from nasadvisor.host.fleet.platforms import HostPlatforms, NobodyNotifies, platforms_of
from nasadvisor.stored.documents import from_document, to_document
from plugins.contract import VersionRange
from plugins.registry import find
from tests.unit.fakes import FakeRunner
from tests.unit.host.change.conftest import Bench, Killed, killer
from tests.unit.machines import NVME1, NVME2, TANK, home_server

ROOT = Path(__file__).parents[3]
WHY = Refused("dummy-veto", "The dummy does not want it.")


def platforms() -> HostPlatforms:
    return platforms_of(FakeRunner())


def on(bench: Bench) -> RunHost:
    """The bench's host, with the platforms of this machine."""
    return replace(bench.host, vetoes=platforms().vetoes)


def test_a_host_of_no_known_platform_is_asked_for_nothing() -> None:
    here = platforms()
    assert (here.detected, here.locks, here.tail_bytes) == ((), (), MIB)
    assert here.report(home_server()) == PlatformReport("nas", home_server().read_at)


def test_a_third_party_registers_by_entry_point(dummy_host: ModuleType) -> None:
    assert platforms().detected == (dummy_host.PLATFORM,)


def test_a_platform_that_is_not_here_is_left_out(dummy_host: ModuleType) -> None:
    dummy_host.PLATFORM.is_here = False
    assert platforms().detected == ()


def test_the_host_is_asked_without_importing_what_is_for_the_console(dummy_installed: None) -> None:
    find("host")
    assert "nasadvisor_dummy.host" in sys.modules
    assert "nasadvisor_dummy.console" not in sys.modules


def test_the_console_is_asked_without_importing_what_is_for_the_host(dummy_installed: None) -> None:
    find("console")
    assert "nasadvisor_dummy.console" in sys.modules
    assert "nasadvisor_dummy.host" not in sys.modules


def test_its_locks_and_its_room_at_the_end_are_kept(dummy_host: ModuleType) -> None:
    dummy_host.PLATFORM.lock_files = (Path("/run/lock/dummy"),)
    assert platforms().locks == (Path("/run/lock/dummy"),)
    assert platforms().tail_bytes == 3 * GIB


def test_what_it_says_reaches_the_console_as_a_document(dummy_host: ModuleType) -> None:
    dummy_host.PLATFORM.forbidden = (Veto(WHY, NVME1),)
    report = platforms().report(home_server())
    assert [(each.name, each.version) for each in report.platforms] == [("Dummy NAS", "2.0")]
    assert [guest.name for guest in report.guests][:1] == ["Jail 7 (mail)"]
    assert [each.dataset for each in report.rewrites][:1] == ["tank/mail"]
    assert from_document(PlatformReport, to_document(report)) == report


@pytest.mark.parametrize("scope", ["", TANK, NVME2])
def test_a_veto_on_the_host_the_pool_or_an_ssd_stops_a_run_before_anything_is_changed(
    bench: Bench, dummy_host: ModuleType, scope: str
) -> None:
    before = bench.executor.inventory()
    dummy_host.PLATFORM.forbidden = (Veto(WHY, scope),)
    run = apply_plan(on(bench), bench.plan(), "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert run.refusals == (WHY,)
    assert bench.executor.inventory() == before


def test_a_veto_on_something_else_stops_nothing(bench: Bench, dummy_host: ModuleType) -> None:
    dummy_host.PLATFORM.forbidden = (Veto(WHY, "another pool"),)
    assert apply_plan(on(bench), bench.plan(), "root", bench.watch).state is RunState.APPLIED


def test_a_veto_does_not_forbid_an_undo_unless_it_says_so(bench: Bench, dummy_host: ModuleType) -> None:
    apply_plan(on(bench), bench.plan(), "root", bench.watch)
    dummy_host.PLATFORM.forbidden = (Veto(WHY, TANK, (Goal.UNDO,)),)
    assert undo_run(on(bench), "run-1", "root", bench.watch).refusals == (WHY,)
    dummy_host.PLATFORM.forbidden = (Veto(WHY, TANK),)
    assert undo_run(on(bench), "run-1", "root", bench.watch).state is RunState.UNDONE


@pytest.mark.parametrize("error", [HostError("The dummy is asleep."), OSError(107, "The dummy is asleep.")])
def test_a_platform_that_cannot_be_asked_stops_a_run(
    bench: Bench, dummy_host: ModuleType, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Be it by an error of ours, or of the system: a cluster file system whose daemon has ended answers ENOTCONN."""

    def fail(_runner: object, _inventory: Inventory) -> tuple[Veto, ...]:
        raise error

    monkeypatch.setattr(dummy_host.PLATFORM, "vetoes", fail)
    run = apply_plan(on(bench), bench.plan(), "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert "The dummy is asleep." in str(run.refusals[0])


@pytest.mark.parametrize(
    ("version", "code"),
    [("1.4.9", "platform-untested"), ("3.0", "platform-untested"), ("", "platform-version-unknown")],
)
def test_on_an_untested_version_nothing_is_added_and_an_undo_stays_possible_with_a_warning(
    bench: Bench, dummy_host: ModuleType, version: str, code: str
) -> None:
    first = bench.executor.inventory()
    second = bench.plan(plan_id="run-2")
    with pytest.raises(Killed):
        apply_plan(on(bench), bench.plan(), "root", killer(after_records=8))
    dummy_host.PLATFORM.installed = version
    before = bench.executor.inventory()
    refused = [
        apply_plan(on(bench), second, "root", bench.watch),
        finish_run(on(bench), "run-1", "root", bench.watch),
    ]
    assert [run.refusals[0].code for run in refused] == [code] * 2
    assert [run.state for run in refused] == [RunState.REFUSED, RunState.INTERRUPTED]
    assert bench.executor.inventory() == before
    report = platforms().report(before)
    assert [veto.reason.code for veto in report.vetoes] == [code]
    assert (report.guests, report.findings) == ((), ())
    undone = undo_run(on(bench), "run-1", "root", bench.watch)
    assert (undone.state, undone.refusals) == (RunState.UNDONE, ())
    (said,) = [finding for finding in undone.findings if finding.code == "undo-on-untested-platform"]
    assert (said.level, said.values["name"]) == (Level.WARNING, "Dummy NAS")
    assert bench.executor.inventory().disks == first.disks


def test_the_warning_of_an_undo_on_an_untested_version_stays_when_the_undo_fails(
    bench: Bench, dummy_host: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_plan(on(bench), bench.plan(), "root", bench.watch)
    dummy_host.PLATFORM.installed = "3.0"

    def fail(*_args: object) -> None:
        raise HostError("The SSD does not answer.")

    monkeypatch.setattr(bench.executor, "do", fail)
    run = undo_run(on(bench), "run-1", "root", bench.watch)
    assert run.state is RunState.ATTENTION
    assert [finding.code for finding in run.findings] == ["undo-on-untested-platform"]


def test_an_undo_on_a_version_that_we_know_warns_of_none(bench: Bench, dummy_host: ModuleType) -> None:
    apply_plan(on(bench), bench.plan(), "root", bench.watch)
    run = undo_run(on(bench), "run-1", "root", bench.watch)
    assert "undo-on-untested-platform" not in {finding.code for finding in run.findings}


def test_the_same_run_goes_on_once_the_version_is_known(bench: Bench, dummy_host: ModuleType) -> None:
    with pytest.raises(Killed):
        apply_plan(on(bench), bench.plan(), "root", killer(after_records=8))
    dummy_host.PLATFORM.installed = "3.0"
    finish_run(on(bench), "run-1", "root", bench.watch)
    dummy_host.PLATFORM.installed = "2.9"
    assert finish_run(on(bench), "run-1", "root", bench.watch).state is RunState.APPLIED


def test_an_integration_that_cannot_be_loaded_leaves_only_reading(
    bench: Bench, dummy_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nasadvisor_dummy.host", ModuleType("nasadvisor_dummy.host"))
    run = apply_plan(on(bench), bench.plan(), "root", bench.watch)
    assert [refusal.code for refusal in run.refusals] == ["platform-broken"]
    assert "nasadvisor_dummy" in str(run.refusals[0])


def test_messages_go_out_by_the_platform_that_has_the_means(dummy_host: ModuleType) -> None:
    notice = Notice(Level.WARNING, "A log wears out", "…")
    platforms().notify(notice)
    assert dummy_host.PLATFORM.notices == [notice]
    dummy_host.PLATFORM.notifies = False
    with pytest.raises(NobodyNotifies):
        platforms().notify(notice)


@pytest.mark.parametrize(
    ("version", "is_inside"),
    [("8.2", True), ("8.2.1", True), ("9.2.11~1", True), ("8.1.99", False), ("10", False), ("10.0", False)],
)
def test_versions_are_compared_by_their_numbers(version: str, is_inside: bool) -> None:
    assert VersionRange("8.2", "10").holds(version) is is_inside


@pytest.mark.parametrize("version", ["", "unknown", "-1"])
def test_a_version_without_a_number_is_in_no_range(version: str) -> None:
    assert not VersionRange("0", "99").holds(version)


def test_no_platform_is_named_outside_its_plugin() -> None:
    ours = [found for part in ("host", "console") for found in find(part) if found.package.startswith("plugins.")]
    assert len(ours) >= 3
    names = {found.package.removeprefix("plugins.") for found in ours} | {found.platform.name for found in ours}
    pattern = re.compile("|".join([*map(re.escape, names), r"\bpve"]), re.IGNORECASE)
    places = ("nasadvisor", "templates", "static/css", "static/js", "static/img", "benchmarks", "manage.py")
    files = [file for place in places for file in [ROOT / place, *(ROOT / place).rglob("*")] if file.is_file()]
    texts = {file: file.read_text() for file in files if file.suffix in {".py", ".html", ".css", ".js", ".svg", ".txt"}}
    assert len(texts) > 300
    assert [str(file) for file, text in texts.items() if pattern.search(text)] == []
