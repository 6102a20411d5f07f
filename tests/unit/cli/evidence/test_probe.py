"""`nasadvisor probe`: consent first, refusals with reasons, and a prediction from what was measured."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder, MeasureProgress, Stage
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.host.evidence.measuring.measure import MeasureHost, OrderForeign, measure
from nasadvisor.host.evidence.measuring.records import MeasuredBefore
from nasadvisor.host.evidence.measuring.replay import keep_commits
from nasadvisor.host.simulated.evidence import simulated_commits
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_advise import Recorded
from tests.unit.domain.evidence.pools import facts, sync_writers
from tests.unit.host.evidence.test_measuring import FakeZfs, candidate_host, probe_host
from tests.unit.machines import TANK, home_server, leaf_on, with_pool


def measure_host(shell: Shell, sample: Sample) -> MeasureHost:
    told = replace(sample, pool_guid=TANK)
    return MeasureHost(
        inventory=lambda: shell.inventory,
        sampler=lambda: Recorded(told, facts()),  # type: ignore[arg-type, return-value]
        probes=probe_host(shell.root, FakeZfs()),
        candidates=candidate_host(shell.root, shell.executor),
        wait=shell.waited.append,
        results=shell.root / "measurements",
        commits=shell.root / "commits",
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
    assert "Expected" in quiet.run("probe", "tank", "--disk", "N1", "--yes").output


def test_the_ssd_that_was_tested_last_is_what_the_verdict_on_the_pool_compares_with(quiet: Shell) -> None:
    quiet.sampler = lambda: Recorded(sync_writers(seconds=5), facts())
    assert "Untested SSD, assumed" in quiet.run("advise", "tank").output
    quiet.json("probe", "tank", "--disk", "N1", "--yes")
    said = quiet.run("advise", "tank").output
    assert "SSD, measured" in said
    assert "nasadvisor probe tank" not in said
    quiet.executor = SimulatedExecutor(with_pool(quiet.inventory, guid="77"))
    quiet.sampler = lambda: Recorded(sync_writers(seconds=5), facts(), guid="77")
    assert "Untested SSD, assumed" in quiet.run("advise", "tank").output


def test_commits_that_were_followed_are_replayed_on_the_ssd(quiet: Shell) -> None:
    args = ("probe", "tank", "--disk", "N1", "--yes")
    assert "replayed on this SSD" not in quiet.run(*args).output
    keep_commits(quiet.root / "commits", simulated_commits(TANK, "tank", "2026-11-21T20:00:00+00:00", 3600))
    said = " ".join(quiet.run(*args).output.split())
    assert "Replaying your commits on the SSD" in said
    assert "took 0.20 ms (median), 0.20 ms (99 in 100); on the pool it was" in said
    assert "The SSD kept up: 3000 blocks" in said
    assert "As a log, it would take 34.7 TB of writes per year at this rate." in said


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


def test_a_report_needs_both_sides(quiet: Shell) -> None:
    assert "not measured without a log" in quiet.run("report", "tank").output
    quiet.run("probe", "tank", "--yes", "--seconds", "1")
    assert "not measured with a log" in quiet.run("report", "tank").output


def test_a_report_sets_both_sides_and_the_prediction_side_by_side(quiet: Shell) -> None:
    quiet.run("probe", "tank", "--disk", "N1", "--yes", "--seconds", "1")
    quiet.executor.state = with_pool(quiet.inventory, logs=(leaf_on(quiet.inventory.disks[1], "31"),))
    quiet.run("probe", "tank", "--yes", "--seconds", "1")
    document = quiet.json("report", "tank")
    assert len(document["lines"]) == 5
    assert document["lines"][0]["expected_high_per_s"] > 0
    output = quiet.run("report", "tank").output
    assert "x 1.0" in output
    assert "P99 WITH" in output


def test_an_order_that_comes_twice_is_measured_once(quiet: Shell) -> None:
    order = MeasureOrder("0a1b2c3d-0000", TANK, seconds=1)
    measure(quiet.measure_host, order)
    ran = list(quiet.measure_host.probes.runner.ran)
    with pytest.raises(MeasuredBefore):
        measure(quiet.measure_host, order)
    assert quiet.measure_host.probes.runner.ran == ran


@pytest.mark.parametrize(
    "order",
    [
        MeasureOrder("../../etc", TANK),
        MeasureOrder("0a1b2c3d", TANK, seconds=86400),
        MeasureOrder("0a1b2c3d", TANK, test_bytes=-1),
    ],
)
def test_an_order_that_we_would_not_give_is_refused(quiet: Shell, order: MeasureOrder) -> None:
    with pytest.raises(OrderForeign):
        measure(quiet.measure_host, order)
    assert quiet.measure_host.probes.runner.ran == []


def test_it_says_what_it_does_and_how_long_the_rest_will_take(quiet: Shell) -> None:
    seen: list[MeasureProgress] = []
    order = MeasureOrder("0a1b2c3d4e5f", TANK, seconds=10)
    measure(quiet.measure_host, order, seen.append)
    assert [(each.stage, each.number, each.count) for each in seen] == [
        (Stage.LOOK, 1, 1),
        *((Stage.PROBE, number, 5) for number in range(1, 6)),
    ]
    assert [each.left_s for each in seen] == [65, 60, 48, 36, 24, 12]
    assert {each.total_s for each in seen} == {65}
    began = datetime.fromisoformat(seen[1].at)
    assert seen[1].left_at(began + timedelta(seconds=20)) == timedelta(seconds=40)
    assert seen[1].left_at(began + timedelta(hours=1)) == timedelta()


def test_the_command_says_so_on_standard_error(quiet: Shell) -> None:
    result = quiet.run("probe", "tank", "--yes", "--json")
    assert result.exit_code == 0
    assert "Writing to the pool 5/5, about" in result.stderr
    assert json.loads(result.stdout)
