"""Whether TrueNAS starts the host part at its next boot: what stands in the way is a finding."""

import stat
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.statements import Level
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.truenas.host import TrueNASHost
from plugins.truenas.start import FAILED
from tests.unit.fakes import FakeRunner
from tests.unit.machines import home_server
from tests.unit.truenas.standin import Json, StandIn


@pytest.fixture
def host(local_root: Path) -> TrueNASHost:
    """A TrueNAS with Python 3.11 and the unpacked bundle."""
    program = local_root / "mnt/tank/nasadvisor/program"
    for folder in ("app", "python3.11", "python3.13"):
        (program / folder).mkdir(parents=True)
    (program / "run.py").touch()
    (program / "start").touch(mode=0o755)
    (local_root / "usr/bin").mkdir(parents=True)
    (local_root / "usr/bin/midclt").touch()
    python(local_root, "python3.11")
    (local_root / "data").mkdir()
    (local_root / "data/manifest.json").write_text('{"version": "25.10.6"}')
    (program.parent / "host").mkdir()
    return TrueNASHost(local_root, program)


def python(root: Path, name: str) -> None:
    """What python3 is on this host."""
    (root / "usr/bin" / name).touch()
    (root / "usr/bin/python3").unlink(missing_ok=True)
    (root / "usr/bin/python3").symlink_to(name)


def entry(path: Path, **changes: Any) -> Json:
    """InitShutdownScriptEntry (api/v25_10_0/initshutdownscript.py)."""
    answer = {"id": 1, "type": "SCRIPT", "command": "", "script": str(path), "when": "POSTINIT", "enabled": True}
    return {**answer, "timeout": 10, "comment": "", **changes}


def codes(host: TrueNASHost) -> list[str]:
    report = HostPlatforms(FakeRunner(), (host,)).report(home_server())
    assert {finding.level for finding in report.findings} <= {Level.WARNING}
    return [finding.code for finding in report.findings]


def test_where_all_is_well_nothing_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    assert codes(host) == []


@pytest.mark.parametrize("command", ["/bin/sh {}", "{} > /dev/null"])
def test_a_command_that_runs_the_start_script_is_as_good(middleware: StandIn, host: TrueNASHost, command: str) -> None:
    line = command.format(host.program / "start")
    middleware.init_scripts = [entry(Path(), type="COMMAND", script=None, command=line)]
    assert codes(host) == []


def test_an_init_script_whose_path_is_gone_is_said_with_the_right_one(middleware: StandIn, host: TrueNASHost) -> None:
    """TrueNAS passes over it without a word: execute_task in init_shutdown_script."""
    middleware.init_scripts = [entry(Path("/mnt/old/nasadvisor/program/start"))]
    report = HostPlatforms(FakeRunner(), (host,)).report(home_server())
    assert [finding.code for finding in report.findings] == ["init-script-path-gone"]
    assert "The init script /mnt/old/nasadvisor/program/start does not exist" in str(report.findings[0])
    assert f"to {host.program}/start" in report.findings[0].why


def test_no_init_script_at_all_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(Path("/mnt/tank/other.sh"))]
    assert codes(host) == ["init-script-missing"]


@pytest.mark.parametrize("changes", [{"enabled": False}, {"when": "PREINIT"}, {"when": "SHUTDOWN"}])
def test_an_init_script_that_is_not_run_after_the_boot_is_said(
    middleware: StandIn, host: TrueNASHost, changes: Json
) -> None:
    middleware.init_scripts = [entry(host.program / "start", **changes)]
    assert codes(host) == ["init-script-not-after-boot"]


def test_a_start_script_that_an_update_of_ours_lost_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    (host.program / "start").unlink()
    assert codes(host) == ["start-script-missing"]


def test_a_start_script_that_cannot_be_run_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    (host.program / "start").chmod(stat.S_IRUSR)
    assert codes(host) == ["start-script-missing"]


def test_a_python_without_packages_is_said_before_the_next_boot(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    python(host.root, "python3.13")
    assert codes(host) == []
    python(host.root, "python3.14")
    assert codes(host) == ["start-python-missing"]
    assert "(python3.14)" in str(host.findings(FakeRunner(), home_server())[0])


def test_no_python_at_all_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    (host.root / "usr/bin/python3").unlink()
    assert codes(host) == ["start-python-missing"]


def test_what_stopped_the_last_start_is_said(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.init_scripts = [entry(host.program / "start")]
    (host.program.parent / FAILED).write_text("/mnt/x can be changed by others than root.\n")
    report = HostPlatforms(FakeRunner(), (host,)).report(home_server())
    assert [str(each) for each in report.findings] == [
        "TrueNAS could not start the host part last time: /mnt/x can be changed by others than root."
    ]


def test_a_truenas_that_does_not_answer_is_said_and_hides_no_other_finding(host: TrueNASHost) -> None:
    assert codes(host) == ["start-not-seen"]


def test_of_a_host_part_that_was_not_unpacked_from_the_bundle_nothing_is_said(
    middleware: StandIn, local_root: Path, host: TrueNASHost
) -> None:
    elsewhere = TrueNASHost(local_root, local_root / "usr/lib/nasadvisor")
    assert codes(elsewhere) == []
    assert middleware.called("initshutdownscript.query") == []
