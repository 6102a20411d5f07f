"""Jobs that move data between the tiers of TrueNAS 26; against a stand-in on the host's own socket.

The shapes are those of ZfsTierRewriteJobEntry and ZfsTierRewriteJobStatusEntry (api/v26_0_0/zfs_tier.py).
"""

from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.fleet.platforms import Rewrite
from nasadvisor.host.errors import HostError
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.truenas import host as truenas_host
from plugins.truenas.host import QUERY, STATUS, TrueNASHost
from tests.unit.fakes import FakeRunner
from tests.unit.machines import home_server
from tests.unit.truenas.standin import Json, StandIn

STATS = {
    "start_time": 1_790_000_500,
    "initial_time": 1_790_000_000,
    "update_time": 1_790_003_600,
    "count_items": 12,
    "count_bytes": 3 * 2**30,
    "total_items": 40,
    "total_bytes": 9 * 2**30,
    "failures": 0,
    "success": 12,
    "parent": "/mnt/tank/media",
    "name": "film.mkv",
}


def job(status: str, dataset: str = "tank/media", stats: Json | None = STATS) -> Json:
    identity = {"tier_job_id": f"{dataset}@a5", "dataset_name": dataset, "job_uuid": "a5", "status": status}
    return {**identity, "stats": stats, "error": None}


@pytest.fixture
def host(local_root: Path, middleware: StandIn) -> TrueNASHost:
    middleware.api_versions = ("v26.0.0",)
    return TrueNASHost(local_root)


def told(host: TrueNASHost) -> tuple[Rewrite, ...]:
    return host.rewrites(FakeRunner(), home_server())


@pytest.mark.parametrize(("status", "is_running"), [("RUNNING", True), ("COMPLETE", False), ("STOPPED", False)])
def test_a_job_is_told_with_its_dataset_its_times_and_how_much_it_wrote(
    host: TrueNASHost, middleware: StandIn, status: str, is_running: bool
) -> None:
    middleware.tier_jobs = [job(status)]
    assert told(host) == (Rewrite("tank/media", is_running, 1_790_000_000, 1_790_003_600, 3 * 2**30),)
    assert middleware.called(QUERY) == [[{}]]
    assert middleware.called(STATUS) == [[{"tier_job_id": "tank/media@a5"}]]


def test_one_that_has_not_begun_is_not_and_one_that_has_just_begun_is(host: TrueNASHost, middleware: StandIn) -> None:
    middleware.tier_jobs = [job("QUEUED", stats=None), job("RUNNING", "tank/now", None)]
    assert told(host) == (Rewrite("tank/now", True, 0, 0, 0),)


def test_of_very_many_those_that_run_are_asked(
    host: TrueNASHost, middleware: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truenas_host, "MOST_JOBS", 2)
    middleware.tier_jobs = [*(job("COMPLETE", f"tank/{number}") for number in range(3)), job("RUNNING", "tank/now")]
    assert [each.dataset for each in told(host)] == ["tank/now", "tank/0"]


def test_a_release_without_tiers_is_not_asked(local_root: Path, middleware: StandIn) -> None:
    assert told(TrueNASHost(local_root)) == ()
    assert middleware.calls == []


def test_a_beta_without_the_method_has_no_jobs(host: TrueNASHost, middleware: StandIn) -> None:
    middleware.refused[QUERY] = {"code": -32601, "message": "Method does not exist"}
    assert told(host) == ()


def test_whatever_else_is_refused_is_no_answer(host: TrueNASHost, middleware: StandIn) -> None:
    middleware.refused[QUERY] = {"code": -32000, "message": "the daemon is down"}
    with pytest.raises(HostError):
        told(host)


@pytest.mark.parametrize(("status", "told_of"), [("RUNNING", ["tank/media"]), ("COMPLETE", [])])
def test_one_that_is_gone_when_its_figures_are_asked_for_hides_no_other(
    host: TrueNASHost, middleware: StandIn, status: str, told_of: list[str]
) -> None:
    middleware.tier_jobs = [job(status)]
    middleware.refused[STATUS] = {"code": -32001, "message": "no such job"}
    assert [each.dataset for each in told(host)] == told_of


@pytest.mark.parametrize("stats", [[], {"initial_time": "soon"}, 5])
def test_what_cannot_be_understood_is_an_error(host: TrueNASHost, middleware: StandIn, stats: Any) -> None:
    middleware.tier_jobs = [job("RUNNING", stats=stats)]
    with pytest.raises(HostError):
        told(host)


def test_where_they_cannot_be_told_the_rest_of_the_report_is(host: TrueNASHost, middleware: StandIn) -> None:
    (host.root / "data").mkdir()
    (host.root / "data/manifest.json").write_text('{"version": "26.0.0"}')
    middleware.refused[QUERY] = {"code": -32000, "message": "the daemon is down"}
    report = HostPlatforms(FakeRunner(), (host,)).report(home_server())
    assert report.rewrites == ()
    assert [caution.code for caution in report.cautions] == ["slices-not-supported"]
    middleware.refused.clear()
    middleware.tier_jobs = [job("RUNNING")]
    assert [each.dataset for each in HostPlatforms(FakeRunner(), (host,)).report(home_server()).rewrites] == [
        "tank/media"
    ]
