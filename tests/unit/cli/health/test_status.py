"""`nasadvisor status`, and `nasadvisor` alone."""

import json
from dataclasses import replace

import pytest

from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory
from tests.unit.cli.conftest import Shell
from tests.unit.machines import home_server, with_broken_log

MIRROR = ("--pool", "tank", "--log", "N1", "N2", "--log-size", "4G")


def test_alone_it_says_how_the_host_is(shell: Shell) -> None:
    assert shell.run().stdout == shell.run("status").stdout
    lines = shell.run().stdout.splitlines()
    assert lines[0].startswith("nas: ")
    assert "1 warning" in lines[0]
    assert [line.split()[:2] for line in lines[1:4]] == [["POOL", "STATE"], ["tank", "ONLINE"], ["archive", "DEGRADED"]]
    assert any(line.startswith("Warning: ") for line in lines)
    assert lines[-1].endswith("nasadvisor health")


def test_a_host_without_trouble_says_so_in_few_lines(shell: Shell) -> None:
    fine = tuple(pool for pool in home_server().pools if pool.state == "ONLINE")
    shell.executor.state = replace(shell.inventory, pools=tuple(replace(pool, last_scan=None) for pool in fine))
    lines = shell.run().stdout.splitlines()
    assert len(lines) <= 10
    shell.executor.state = Inventory(shell.inventory.host, (), (), shell.inventory.read_at)
    assert shell.run().stdout.splitlines()[0] == "nas: no pool is imported"


def test_what_a_platform_says_counts_too(shell: Shell) -> None:
    finding = Finding("x", "Slices are not supported.", {}, Level.WARNING, "")
    host = shell.inventory.host
    shell.platforms = PlatformReport(host.node, shell.inventory.read_at, cautions=(finding,))
    assert "x" in [each["code"] for each in shell.json("status")["findings"]]


def test_changes_that_are_in_place_name_what_can_be_done_with_them(shell: Shell) -> None:
    plan = shell.plan_file(MIRROR)
    run = json.loads(plan.read_text())["ids"]["plan_id"]
    shell.run("apply", plan, "--yes", "--trial", "24h")
    assert f"nasadvisor keep {run}" in shell.run().stdout
    shell.run("keep", run)
    assert f"nasadvisor undo {run}" in shell.run().stdout
    assert [each["run"] for each in shell.json("status")["runs"]] == [run]
    shell.run("undo", run, "--yes")
    assert run not in shell.run().stdout


def test_a_device_that_does_not_work_is_told_in_the_line_of_its_pool(shell: Shell) -> None:
    shell.executor.state = with_broken_log()
    (tank,) = (line for line in shell.run().stdout.splitlines() if line.startswith("tank"))
    assert "mirror of 2, 1 " in tank


def test_it_is_shown_again_until_somebody_ends_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(seconds: float) -> None:
        shell.waited.append(seconds)
        if len(shell.waited) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(shell, "wait", wait)
    result = shell.run("status", "--watch", "5")
    assert (result.exit_code, shell.waited) == (0, [5, 5])
    assert result.stdout.count("POOL") == 2


def test_who_is_not_root_is_told_what_to_do(shell: Shell) -> None:
    shell.is_root = False
    result = shell.run()
    assert (result.exit_code, "sudo" in result.stderr) == (3, True)
