"""The picture of a machine: what of a pool only the machine as a whole tells."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Pool, Vdev
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.errors import CommandTimedOut
from nasadvisor.host.storage.machine import Machine, Roots, read_inventory
from tests.unit.fakes import FakeRunner
from tests.unit.machines import home_server

COMMAND = "zpool status -j -t -P -p tank"
NEVER = (
    '{"pools": {"tank": {"vdevs": {"tank": {"vdevs": {"/dev/x": {"trim_state": "UNTRIMMED", "trim_notsup": "0"}}}}}}}'
)
LATE = CommandTimedOut(COMMAND, 60.0, mutates=False, still_running=False)
SSD = next(disk for disk in home_server().disks if disk.links and not disk.rotational)


@dataclass(frozen=True)
class Recorded:
    """All ports of a machine with one pool."""

    pool: Pool

    def read(self, *_pools: object) -> tuple[Pool, ...]:
        return (self.pool,)


class Disks:
    def identify(self, device_number: int) -> DiskIdentity:
        raise NotImplementedError

    def read(self, pools: tuple[Pool, ...]) -> tuple[Disk, ...]:
        return home_server().disks


class Hosts:
    def read(self) -> Host:
        return home_server().host


def seen(pool: Pool, runner: FakeRunner, dev: Path = Path("/nowhere")) -> Pool:
    clock = datetime(2026, 8, 25, tzinfo=UTC)
    machine = Machine(runner, Hosts(), Recorded(pool), Disks(), lambda: clock, Roots(dev=dev))
    (found,) = read_inventory(machine).pools
    return found


def pool_on(disk: Disk, **changes: object) -> Pool:
    leaf = Vdev("9", "disk", "x", "ONLINE", path=disk.links[-1])
    return replace(home_server().pools[0], data=(leaf,), **{"autotrim": False, **changes})  # type: ignore[arg-type]


def test_a_pool_on_ssds_without_autotrim_is_asked_whether_it_was_ever_trimmed() -> None:
    runner = FakeRunner({COMMAND: NEVER})
    assert seen(pool_on(SSD), runner).trimmed is False
    assert len(runner.ran) == 1


@pytest.mark.parametrize("changes", [{"autotrim": True}, {"autotrim": None}, {"suspended": True}])
def test_others_are_not_asked(changes: dict[str, object]) -> None:
    runner = FakeRunner()
    assert seen(pool_on(SSD, **changes), runner).trimmed is None
    log_on_ssd = replace(home_server().pools[0], autotrim=False, logs=pool_on(SSD).data)
    assert seen(log_on_ssd, runner).trimmed is None
    assert not runner.ran


def test_a_pool_that_does_not_tell_is_shown_all_the_same() -> None:
    assert seen(pool_on(SSD), FakeRunner({COMMAND: LATE})).trimmed is None
    assert seen(pool_on(SSD), FakeRunner({COMMAND: "?"})).trimmed is None
    assert seen(pool_on(SSD), FakeRunner(missing=frozenset({Tool.ZPOOL}))).trimmed is None


def test_volumes_are_known_by_their_links(tmp_path: Path) -> None:
    pool = replace(home_server().pools[0], autotrim=True)
    assert not seen(pool, FakeRunner(), tmp_path).has_volumes
    (tmp_path / "zvol/tankette").mkdir(parents=True)
    assert not seen(pool, FakeRunner(), tmp_path).has_volumes
    (tmp_path / "zvol/tank").mkdir()
    assert seen(pool, FakeRunner(), tmp_path).has_volumes
