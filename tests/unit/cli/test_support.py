"""`nasadvisor support`: one file, for its owner only, whole or not at all."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from nasadvisor.cli import support as support_module
from nasadvisor.cli.fleet.backup import ConsoleFiles
from nasadvisor.cli.main import COMMANDS
from nasadvisor.console.home import support as console_support
from nasadvisor.domain.fleet.known_names import KnownName, NameKind, names_in
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.errors import HostError
from nasadvisor.host.storage.machine import Machine
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.cli.test_doctor import KnownHost, KnownPools, NoDisks, told_by_systemd
from tests.unit.fakes import FakeRunner
from tests.unit.machines import home_server
from tests.unit.stored.bundles import documents, leaks, unpacked

LOG = "journalctl --no-pager --no-hostname --output=short-iso --since=-7d --lines=2000 --unit=nasadvisor-{}.service"
SAID = (
    "2026-11-27T20:15:00+0000 python[7]: anna@muster.example from 192.0.2.7 asked nas for tank/vms "
    "on WD-1 wwn-0x50014ee2b0000001"
)


@pytest.fixture(autouse=True)
def machine(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    logs = {LOG.format(name): SAID for name in ("web", "console", "host")}
    runner = FakeRunner(told_by_systemd() | logs)
    shell.machine = Machine(runner, KnownHost(home_server().host), KnownPools(), NoDisks(), lambda: datetime.now(UTC))
    monkeypatch.setattr(support_module, "here", lambda: ConsoleFiles(tmp_path / "console", tmp_path / "environment"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bundle.tar.gz"


def files_in(file: Path) -> dict[str, str]:
    return unpacked(file.read_bytes())


def test_a_host_without_a_console_tells_what_it_is_now(shell: Shell, file: Path) -> None:
    told = shell.run("support", file)
    assert told.exit_code == 0, told.output
    files = files_in(file)
    assert {
        "README.txt",
        "versions.json",
        "settings.json",
        "doctor.json",
        "host/inventory.json",
        "host/runs.json",
    } < set(files)
    assert len(from_document(Inventory, documents(files)["host/inventory.json"]).disks) == len(home_server().disks)
    assert [name for name in files if name.startswith("disks/WDC")]
    assert "There is no console on this host" in told.output
    assert "Look through it before you send it." in told.output
    for name in files:
        assert name in told.output


def test_the_example_of_the_help_runs_as_it_stands(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (command,) = (command for command in COMMANDS if command.name == "support")
    (example,) = command.examples
    assert shell.run(*example.split()[1:]).exit_code == 0
    assert "inventory.json" in "".join(files_in(tmp_path / "report.tar.gz"))


def test_no_name_is_in_it_and_none_in_the_logs(shell: Shell, file: Path) -> None:
    shell.run("support", file)
    files = files_in(file)
    known = [
        *names_in(home_server()),
        KnownName(NameKind.MAIL, "anna@muster.example"),
        KnownName(NameKind.IP, "192.0.2.7"),
    ]
    assert leaks(files, known) == []
    assert files["log/nasadvisor-web.txt"].startswith(
        "2026-11-27T20:15:00+0000 python[7]: mail-1 from ip-1 asked host-"
    )


def test_the_file_is_for_its_owner_only(shell: Shell, file: Path) -> None:
    shell.run("support", file)
    assert oct(file.stat().st_mode)[-3:] == "600"


def test_a_file_that_is_there_is_not_written_over(shell: Shell, file: Path) -> None:
    file.write_text("mine")
    told = shell.run("support", file)
    assert told.exit_code == 3
    assert "No bundle was written" in told.output
    assert file.read_text() == "mine"


def test_nothing_is_left_of_one_that_could_not_be_written(
    shell: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(support_module, "write_bundle", full)
    told = shell.run("support", file)
    assert told.exit_code == 3
    assert "No space left on device. No bundle was written." in told.output
    assert not file.exists()


def test_what_cannot_be_read_is_said_in_its_place(shell: Shell, file: Path) -> None:
    shell.machine = replace(shell.machine, runner=FakeRunner(told_by_systemd(), missing=frozenset({Tool.JOURNALCTL})))

    class Broken:
        state = shell.executor.state

        def inventory(self) -> Inventory:
            raise HostError("The pools of {host} cannot be read.", host="nas")

    shell.executor = Broken()  # type: ignore[assignment]
    told = shell.run("support", file)
    assert told.exit_code == 0, told.output
    found = documents(files_in(file))
    assert found["host/inventory.json"]["not readable"].startswith("The pools of host-")
    assert "journalctl" in files_in(file)["log/nasadvisor-web.txt"]


def test_only_root_can_ask_for_it(shell: Shell, file: Path) -> None:
    shell.is_root = False
    assert shell.run("support", file).exit_code == 3
    assert not file.exists()


@pytest.fixture
def console(tmp_path: Path, db: None) -> Path:
    state = tmp_path / "console"
    state.mkdir()
    (state / "secret-key").write_text("signs sessions")
    return state


@pytest.mark.usefixtures("console")
def test_with_a_console_its_history_is_in_it(shell: Shell, file: Path) -> None:
    told = shell.json("support", file)
    assert told["said"] == ""
    found = documents(files_in(file))
    assert found["versions.json"]["database"].startswith("sqlite")
    assert "doctor.json" in found
    assert {each["name"] for each in told["files"]} == set(files_in(file))


@pytest.mark.usefixtures("console")
def test_a_console_whose_database_is_ill_does_not_keep_the_host_from_telling(
    shell: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ill(*_arguments: Any) -> None:
        raise OperationalError("database disk image is malformed")

    monkeypatch.setattr(console_support, "all_of", ill)
    told = shell.run("support", file)
    assert told.exit_code == 0
    assert "database disk image is malformed" in told.output
    assert "host/inventory.json" in files_in(file)
