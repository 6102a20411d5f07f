"""What a reserve does for an SSD: each share filled, then written scattered, on one slice of all of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.measuring.reserve import Part, ReserveOrder, ReserveProgress
from nasadvisor.host.evidence.measuring import reserve
from nasadvisor.host.evidence.measuring.candidate import CandidateRefused, MadeSlice, SliceStays
from nasadvisor.host.evidence.measuring.measure import MeasureHost, MeasurementRefused, OrderForeign
from nasadvisor.host.evidence.measuring.reserve import CannotDiscard, measure_reserve
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.host.evidence.test_measuring import FakeZfs, candidate_host, disks, probe_host, with_slice_as_log
from tests.unit.machines import NVME1, TANK, home_server

ORDER = ReserveOrder("0a1b2c3d4e5f", TANK, NVME1, quarter_s=30)


def unseen(progress: ReserveProgress) -> None:
    del progress


def measure_host(root: Path, executor: SimulatedExecutor, zfs: FakeZfs) -> MeasureHost:
    return MeasureHost(
        inventory=executor.inventory,
        sampler=lambda: pytest.fail("no pool is looked at"),
        probes=probe_host(root, zfs),
        candidates=candidate_host(root, executor, zfs),
        wait=lambda _seconds: None,
        results=root / "measurements",
        commits=root / "commits",
    )


def test_less_and_less_is_left_free_and_the_ssd_is_as_before(tmp_path: Path) -> None:
    executor, zfs = SimulatedExecutor(home_server()), FakeZfs()
    host, begun = measure_host(tmp_path, executor, zfs), list[ReserveProgress]()
    result = measure_reserve(host, ORDER, begun.append)
    assert [each.free_percent for each in result.figures] == [50, 30, 10]
    disk = home_server().disk(NVME1)
    assert disk
    sizes = [each.area_bytes / disk.identity.size_bytes for each in result.figures]
    assert sizes == pytest.approx([0.5, 0.7, 0.9], abs=0.01)
    assert disks(executor.state) == disks(home_server())
    assert host.candidates.leftovers.candidates() == ()
    assert [(each.free_percent, each.part) for each in begun] == [
        (percent, part) for percent in (50, 30, 10) for part in Part
    ]
    assert [each.most_left_s for each in begun] == [720, 600, 540, 510, 480, 360, 300, 270, 240, 120, 60, 30]


def test_all_is_discarded_first_and_only_its_own_slice_is_written_to(tmp_path: Path) -> None:
    zfs = FakeZfs()
    measure_reserve(measure_host(tmp_path, SimulatedExecutor(home_server()), zfs), ORDER, unseen)
    first, *jobs = zfs.ran
    [target] = {arg for command in jobs for arg in command.split() if arg.startswith("--filename")}
    path = target.removeprefix("--filename=")
    assert path.startswith("/dev/disk/by-partuuid/")
    assert first == f"blkdiscard {path}"
    assert ["--time_based" in each for each in jobs] == [False, True, True, True] * 3
    assert ["--rw=randwrite --randrepeat=0 --norandommap" in each for each in jobs] == [False, True, True, True] * 3


def test_an_ssd_that_cannot_discard_is_not_written_to(tmp_path: Path) -> None:
    executor, zfs = SimulatedExecutor(home_server()), FakeZfs(fail="blkdiscard")
    with pytest.raises(CannotDiscard, match="it broke"):
        measure_reserve(measure_host(tmp_path, executor, zfs), ORDER, unseen)
    assert len(zfs.ran) == 1
    assert disks(executor.state) == disks(home_server())


def test_a_slice_that_somebody_uses_since_it_was_made_is_not_discarded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor, zfs = SimulatedExecutor(home_server()), FakeZfs()
    host = measure_host(tmp_path, executor, zfs)
    made = reserve._discard

    def used_meanwhile(piece: MadeSlice) -> None:
        executor.state = with_slice_as_log(executor.state)
        made(piece)

    monkeypatch.setattr(reserve, "_discard", used_meanwhile)
    with pytest.raises(SliceStays):
        measure_reserve(host, ORDER, unseen)
    assert zfs.ran == []


def test_a_slice_that_somebody_uses_by_now_is_written_to_no_more(tmp_path: Path) -> None:
    executor, zfs = SimulatedExecutor(home_server()), FakeZfs()

    def use(progress: ReserveProgress) -> None:
        if (progress.free_percent, progress.part) == (30, Part.SETTLE):
            executor.state = with_slice_as_log(executor.state)

    with pytest.raises(SliceStays):
        measure_reserve(measure_host(tmp_path, executor, zfs), ORDER, use)
    assert len(zfs.ran) == 1 + 4 + 1


@pytest.mark.parametrize(
    "change", [{"id": "../../etc"}, {"quarter_s": 0}, {"quarter_s": 43200}, {"disk_key": "gone"}, {"pool_guid": "8"}]
)
def test_an_order_that_we_would_not_give_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    zfs = FakeZfs()
    with pytest.raises((OrderForeign, MeasurementRefused)):
        measure_reserve(measure_host(tmp_path, SimulatedExecutor(home_server()), zfs), replace(ORDER, **change), unseen)
    assert zfs.ran == []


def test_an_ssd_with_partitions_is_refused(tmp_path: Path) -> None:
    zfs = FakeZfs()
    busy = next(disk for disk in home_server().disks if disk.partitions)
    with pytest.raises(CandidateRefused):
        measure_reserve(
            measure_host(tmp_path, SimulatedExecutor(home_server()), zfs),
            replace(ORDER, disk_key=busy.key),
            unseen,
        )
    assert zfs.ran == []
