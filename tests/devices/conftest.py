"""Tests on real block devices: loop devices, sgdisk, partx, mkfs.ext4, and no OpenZFS. They need root."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.devices.bench import Bench
from tests.devices.loops import LoopDisk, loop_ready
from tests.devices.machine import LoopMachine, loop_machine

HERE = Path(__file__).parent
why_not = cache(loop_ready)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.devices)
            if why_not():
                item.add_marker(pytest.mark.skip(reason=why_not()))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopMachine]:
    """A machine without disks; whatever a test does, its loop devices are freed."""
    memory = Path("/dev/shm")
    directory = Path(mkdtemp(prefix="nasadvisor-devices-", dir=memory if memory.is_dir() else None))
    try:
        with loop_machine(directory, monkeypatch) as machine:
            yield machine
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def bench(machine: LoopMachine, tmp_path: Path) -> Bench:
    return Bench(machine, tmp_path)


@pytest.fixture
def ssds(machine: LoopMachine) -> tuple[LoopDisk, LoopDisk]:
    """Two blank SSDs."""
    return machine.add_disk(), machine.add_disk()


@pytest.fixture(params=[pytest.param(3, id="some"), pytest.param(1, id="all", marks=pytest.mark.long)])
def every(request: pytest.FixtureRequest) -> int:
    """Of the points at which a run can be cut off, every so-manieth is tried; each one takes seconds."""
    return int(request.param)
