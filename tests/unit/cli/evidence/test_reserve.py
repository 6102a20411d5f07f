"""`nasadvisor reserve`: consent that names what it costs, progress, and what a reserve is worth."""

import pytest

from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_probe import measure_host
from tests.unit.domain.evidence.pools import sync_writers
from tests.unit.machines import home_server


@pytest.fixture
def quiet(shell: Shell) -> Shell:
    shell.executor = SimulatedExecutor(home_server())
    shell.measure_host = measure_host(shell, sync_writers(1, 60))
    return shell


def test_without_consent_nothing_is_written(quiet: Shell) -> None:
    result = quiet.run("reserve", "tank", "--disk", "N1")
    assert result.exit_code == 2
    assert "--yes" in result.output
    assert quiet.measure_host.candidates.runner.ran == []


def test_it_tells_what_it_does_and_what_it_found(quiet: Shell) -> None:
    result = quiet.run("reserve", "tank", "--disk", "N1", "--hours", "2", "--yes")
    assert result.exit_code == 0, result.output
    assert "50 % free: filling the rest, at most 2 h to go" in result.output
    assert "10 % free: writing scattered, measured again, at most 5 min to go" in result.output
    assert "SSD Samsung SSD 960 EVO 500GB (N1)" in result.output
    assert "the SSD was not written over once" in " ".join(result.output.split())


def test_its_answer_can_be_read_by_a_program(quiet: Shell) -> None:
    document = quiet.json("reserve", "tank", "--disk", "N1", "--yes")
    assert [each["free_percent"] for each in document["figures"]] == [50, 30, 10]
    assert document["finding"]["code"] == "reserve-not-settled"


def test_an_ssd_in_use_is_refused(quiet: Shell) -> None:
    result = quiet.run("reserve", "tank", "--disk", "S1", "--yes")
    assert result.exit_code == 3
    assert quiet.measure_host.candidates.runner.ran == []
