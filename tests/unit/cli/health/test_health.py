"""`nasadvisor health` and `nasadvisor report`."""

import json
from dataclasses import replace
from pathlib import Path

import weasyprint  # noqa: F401 - when it is loaded it runs ldconfig, and in a test that would fail
from pypdf import PdfReader

from nasadvisor.cli.health.sweep import page, verdict
from nasadvisor.domain.storage.inventory import Inventory
from tests.unit.cli.conftest import Shell
from tests.unit.machines import home_server


def well(shell: Shell) -> Shell:
    """A host whose one pool is healthy, without SSDs that are worn by chance."""
    machine = home_server()
    disks = tuple(disk for disk in machine.disks if disk.rotational)
    shell.executor.state = replace(machine, disks=disks, pools=machine.pools[:1])
    return shell


def test_it_says_what_needs_a_look_and_ends_with_code_5(shell: Shell) -> None:
    result = shell.run("health")
    assert result.exit_code == 5
    assert "WARNING  Pool archive is DEGRADED" in result.stdout
    assert "Samsung SSD 960 EVO 500GB" in result.stdout


def test_a_host_that_is_well_ends_with_code_0(shell: Shell) -> None:
    result = well(shell).run("health")
    assert result.exit_code == 0, result.stdout
    assert "WDC WD40EFRX" in result.stdout


def test_it_answers_in_json(shell: Shell) -> None:
    result = shell.run("health", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 5
    assert {each["code"] for each in answer["findings"]} >= {"pool-not-online"}
    assert len(answer["disks"]) == len(home_server().disks)
    assert any(each["percent_used"] is not None for each in answer["disks"])


def test_only_root_may_ask(shell: Shell) -> None:
    shell.is_root = False
    assert shell.run("health").exit_code == 3


def test_it_writes_a_report_to_print(shell: Shell, tmp_path: Path) -> None:
    result = shell.run("report", "--pdf", tmp_path / "report.pdf")
    assert result.exit_code == 0, result.output
    words = " ".join(" ".join(each.extract_text() for each in PdfReader(tmp_path / "report.pdf").pages).split())
    assert "Warning: Pool archive is DEGRADED" in words.partition("Needs attention")[0]
    assert "WDC WD40EFRX" in words.partition("Hard disks")[2]


def test_the_report_says_all_is_well_only_where_every_disk_answered(shell: Shell) -> None:
    found = json.loads(well(shell).run("health", "--json").stdout)
    assert verdict(found) == "Nothing needs attention."
    found["disks"][0]["outcome"] = "asleep"
    assert verdict(found) == "No open alerts, but some checks are incomplete."
    assert f"Not checked: WDC WD40EFRX {found['disks'][0]['serial']} was asleep and was not woken." in page(found)


def test_a_report_that_cannot_be_written_is_a_sentence(shell: Shell, tmp_path: Path) -> None:
    result = shell.run("report", "--pdf", tmp_path / "missing" / "report.pdf")
    assert result.exit_code != 0
    assert "could not be written" in result.stderr


def test_the_words_of_a_disk_are_escaped() -> None:
    odd: Inventory = home_server()
    found = {
        "node": odd.host.node,
        "read_at": odd.read_at,
        "findings": [],
        "pools": [],
        "disks": [
            {
                "model": "<img src=x>",
                "serial": "&",
                "is_rotational": False,
                "power_on_hours": 5,
                "outcome": "read",
                "percent_used": None,
                "bytes_written": None,
                "temperature_celsius": 1,
                "media_errors": 0,
            }
        ],
    }
    assert "<img" not in page(found)
