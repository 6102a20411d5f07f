"""Counting the blocks of a pool: not while it has other cares, and never without an end."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.metadata_blocks import BlockKind
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import KIB
from nasadvisor.host.adapters.process import Output
from nasadvisor.host.errors import CommandTimedOut, HostError
from nasadvisor.host.evidence.metadata import BlockCounter, CountRefused, CountUnfinished
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.fakes import FakeRunner
from tests.unit.host.adapters.test_zdb_blocks import BLOCKS, CACHE_FILE, COUNT
from tests.unit.host.evidence.test_curve import Pools, Unread
from tests.unit.machines import TANK, home_server

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
POOL = next(each for each in home_server().pools if each.guid == TANK)


def counter(tmp_path: Path, answer: str | Output | HostError = BLOCKS, pool: Pool = POOL) -> BlockCounter:
    runner = FakeRunner({CACHE_FILE: "-\n", COUNT: answer})
    roots = Roots(proc=tmp_path, sys=tmp_path)
    machine = Machine(runner, Unread(), Pools((pool,)), Unread(), lambda: AT, roots)
    return BlockCounter(machine, wait=lambda _: None, tick=iter(range(100, 999, 60)).__next__)


def ran(counting: BlockCounter) -> list[str]:
    runner = counting.machine.runner
    assert isinstance(runner, FakeRunner)
    return [str(each) for each in runner.ran]


def test_it_counts_and_says_when_and_how_long_it_took(tmp_path: Path) -> None:
    found = counter(tmp_path).count(TANK, 3600)
    assert (found.pool_name, found.at, found.seconds, found.is_partial) == ("tank", AT.isoformat(), 60, False)
    assert [each.kind for each in found.kinds] == [BlockKind.FILES, BlockKind.PLACES, BlockKind.POOL, BlockKind.VOLUMES]
    assert found.of(BlockKind.PLACES).stored_bytes == 16 * KIB


@pytest.mark.parametrize("change", [{"scan": "resilver"}, {"state": "DEGRADED"}, {"suspended": True}])
def test_a_pool_with_other_cares_is_left_alone(tmp_path: Path, change: dict[str, Any]) -> None:
    counting = counter(tmp_path, pool=replace(POOL, **change))
    with pytest.raises(CountRefused):
        counting.count(TANK, 3600)
    assert ran(counting) == []


def test_a_pool_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CountRefused, match="12345"):
        counter(tmp_path).count("12345", 3600)


def test_it_ends_after_its_time_and_says_nothing_of_a_part(tmp_path: Path) -> None:
    late = CommandTimedOut("zdb", 60, mutates=False, still_running=False)
    with pytest.raises(CountUnfinished, match="there is no partial result"):
        counter(tmp_path, late).count(TANK, 60)


def test_a_zdb_that_hangs_is_said_to_hang(tmp_path: Path) -> None:
    hanging = CommandTimedOut("zdb", 60, mutates=False, still_running=True)
    with pytest.raises(CommandTimedOut):
        counter(tmp_path, hanging).count(TANK, 60)
