"""Findings from the counters of logs and caches."""

from dataclasses import replace

import pytest

from nasadvisor.domain.health.traffic_findings import Traffic, traffic_findings
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import GIB
from tests.unit.machines import home_server

DEVICE = Vdev("41", "disk", "x", "ONLINE", path="/dev/disk/by-id/x")


def tank() -> Pool:
    return replace(home_server().pools[0], logs=(DEVICE,), caches=(DEVICE,))


def codes(traffic: Traffic, pool: Pool | None = None) -> list[str]:
    return [finding.code for finding in traffic_findings(pool or tank(), traffic)]


def test_a_cache_that_wears_more_than_it_serves_is_pointed_out() -> None:
    assert codes(Traffic(48, cache_read_bytes=GIB, cache_written_bytes=5 * GIB)) == ["cache-serves-little"]


def test_a_log_that_spills_is_pointed_out() -> None:
    assert codes(Traffic(48, log_bytes=9 * GIB, spilled_bytes=GIB)) == ["log-spills"]


@pytest.mark.parametrize(
    "traffic",
    [
        Traffic(48, cache_read_bytes=5 * GIB, cache_written_bytes=GIB),
        Traffic(2, cache_read_bytes=0, cache_written_bytes=50 * GIB),
        Traffic(48, cache_written_bytes=GIB // 2),
        Traffic(48, log_bytes=100 * GIB, spilled_bytes=GIB),
        Traffic(48, spilled_bytes=GIB // 2),
        Traffic(48),
    ],
)
def test_what_serves_holds_or_was_not_watched_long_enough_is_not(traffic: Traffic) -> None:
    assert codes(traffic) == []


def test_a_pool_without_log_and_cache_is_not_judged() -> None:
    traffic = Traffic(48, cache_written_bytes=50 * GIB, spilled_bytes=50 * GIB)
    assert codes(traffic, home_server().pools[0]) == []
