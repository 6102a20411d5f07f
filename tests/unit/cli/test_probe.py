"""`nasadvisor probe`: consent first, refusals with reasons, and a prediction from what was measured."""

from dataclasses import replace

import pytest

from nasadvisor.domain.samples import Sample
from nasadvisor.host.measure import MeasureHost
from nasadvisor.host.simulated import SimulatedExecutor
from tests.unit.cli.conftest import Shell
from tests.unit.cli.test_advise import Recorded
from tests.unit.evidence.pools import facts, sync_writers
from tests.unit.evidence.test_probe import FakeZfs, candidate_host, probe_host
from tests.unit.machines import TANK, home_server, with_pool


def measure_host(shell: Shell, sample: Sample) -> MeasureHost:
    told = replace(sample, pool_guid=TANK)
    return MeasureHost(
        inventory=lambda: shell.inventory,
        sampler=lambda: Recorded(told, facts()),  # type: ignore[arg-type, return-value]
        probes=probe_host(shell.root, FakeZfs()),
        candidates=candidate_host(shell.root, shell.executor),
        wait=shell.waited.append,
    )


@pytest.fixture
def quiet(shell: Shell) -> Shell:
    shell.executor = SimulatedExecutor(with_pool(home_server(), allocated_bytes=0))
    shell.measure_host = measure_host(shell, sync_writers(1, 60))
    return shell


def test_without_consent_nothing_is_written(quiet: Shell) -> None:
    result = quiet.run("probe", "tank")
    assert result.exit_code == 2
    assert "--yes" in result.output
    assert quiet.measure_host.probes.runner.ran == []


def test_it_prints_what_was_measured(quiet: Shell) -> None:
    result = quiet.run("probe", "tank", "--yes", "--seconds", "2")
    assert result.exit_code == 0, result.output
    assert "Pool tank, without a log" in result.output
    assert "3088/s" in result.output


def test_with_an_ssd_it_predicts_a_range(quiet: Shell) -> None:
    document = quiet.json("probe", "tank", "--disk", "N1", "--yes", "--seconds", "2")
    assert len(document["candidate"]["figures"]) == 8
    first = document["predictions"][0]
    assert first["after_per_s"]["low"] <= first["after_per_s"]["likely"] <= first["after_per_s"]["high"]
    assert "expected" in quiet.run("probe", "tank", "--disk", "N1", "--yes").output


def test_a_busy_pool_is_left_alone(quiet: Shell) -> None:
    quiet.measure_host = measure_host(quiet, sync_writers(300, 5))
    result = quiet.run("probe", "tank", "--yes")
    assert result.exit_code == 3
    assert "is busy" in result.output
    assert quiet.measure_host.probes.runner.ran == []


def test_a_degraded_pool_is_left_alone(quiet: Shell) -> None:
    result = quiet.run("probe", "archive", "--yes")
    assert result.exit_code == 3
    assert "DEGRADED" in result.output
