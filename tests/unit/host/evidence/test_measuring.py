"""The measurements that write: bounded, refused where they would harm, and gone after a kill at any moment."""

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change.plan import PlanIds, PlanRequest
from nasadvisor.domain.evidence.measuring.measurement import Stage
from nasadvisor.domain.evidence.measuring.prediction import predict
from nasadvisor.domain.evidence.measuring.probing import (
    PROBE_PROPERTY,
    CandidateResult,
    FioFigures,
    ProbeRecord,
    ProbeResult,
    against_probe,
)
from nasadvisor.domain.evidence.measuring.suitability import ssd_time, suitability
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, KIB, MIB
from nasadvisor.host.adapters.fio import FioJob, Pattern, parse_fio
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.change.gate import Permit, Ran
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.errors import CommandFailed, OutputUnreadable, ToolMissing
from nasadvisor.host.evidence.measuring.candidate import (
    CandidateHost,
    CandidateRefused,
    SliceStays,
    clean_up_candidates,
    measure_candidate,
)
from nasadvisor.host.evidence.measuring.probe import NotOurs, ProbeHost, clean_up_probes, probe_pool
from nasadvisor.host.evidence.measuring.records import Leftovers, RecordDamaged
from nasadvisor.host.simulated.evidence import simulated_commits
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import to_json
from tests.unit.domain.evidence.pools import sync_writers
from tests.unit.machines import NVME1, NVME2, SATA_SSD, SHARED_SSD, TANK, home_server, with_disk, with_pool

FIO = (Path(__file__).parents[3] / "fixtures/fio/fsync.json").read_text()
NOW = datetime(2026, 11, 21, tzinfo=UTC)
MS = 1e6


class Killed(BaseException):
    """Stands for SIGKILL."""


@dataclass
class FakeZfs:
    """zfs, zpool and fio; dies right before or right after the command with this number, if asked."""

    datasets: dict[str, str] = field(default_factory=dict)
    pool_guid: str = TANK
    missing: bool = False
    die_before: int = 0
    die_after: int = 0
    fail: str = ""
    ran: list[str] = field(default_factory=list)
    played: list[list[int]] = field(default_factory=list)

    def has(self, tool: Tool) -> bool:
        return not self.missing

    def holding(self, descriptors: tuple[int, ...]) -> "FakeZfs":
        return self

    def run(self, command: Command) -> Output:
        self.ran.append(str(command))
        if self.die_before and len(self.ran) >= self.die_before:
            raise Killed
        output = self._answer(command)
        if self.die_after and len(self.ran) >= self.die_after:
            raise Killed
        if output.code not in command.expected_codes:
            raise CommandFailed(str(command), output.code, output.stderr, mutates=command.mutates)
        return output

    def _answer(self, command: Command) -> Output:
        name = command.args[-1]
        if self.fail and self.fail in str(command):
            return Output("", "it broke", 1, 0.0)
        match command.tool, command.args[0]:
            case Tool.ZFS, "create":
                mark = next(arg for arg in command.args if arg.startswith(PROBE_PROPERTY))
                self.datasets[name] = mark.partition("=")[2]
            case Tool.ZFS, "destroy":
                del self.datasets[name]
            case Tool.ZFS, "get":
                return Output(f"{self.datasets[name]}\n", "", 0, 0.0) if name in self.datasets else Output("", "", 1, 0)
            case Tool.ZPOOL, "get":
                return Output(f"{self.pool_guid}\n", "", 0, 0.0)
            case Tool.PYTHON, "-I":
                blocks = json.loads(Path(command.args[3]).read_text())["sizes"]
                self.played.append(blocks)
                return Output(json.dumps({"took_ns": [200_000] * len(blocks), "played_s": 43.3}), "", 0, 0.0)
            case Tool.FIO, _:
                return Output("note: both iodepth >= 1 and synchronous I/O engine are selected\n" + FIO, "", 0, 0.0)
        return Output("", "", 0, 0.0)


def probe_host(root: Path, zfs: FakeZfs) -> ProbeHost:
    return ProbeHost(zfs, Leftovers(root / "probes"), root / "probe.lock", root / "mounts", lambda: NOW)


def probe(host: ProbeHost) -> ProbeResult:
    pool = home_server().pool(TANK)
    assert pool
    return probe_pool(host, pool, "0a1b2c3d", 5)


class TestProbe:
    def test_it_measures_and_leaves_nothing(self, tmp_path: Path) -> None:
        zfs = FakeZfs()
        host = probe_host(tmp_path, zfs)
        result = probe(host)
        assert [(each.block_bytes // KIB, each.writers) for each in result.figures] == [
            (4, 1),
            (4, 4),
            (4, 16),
            (64, 1),
            (64, 4),
        ]
        assert zfs.datasets == {}
        assert host.leftovers.probes() == ()

    def test_the_record_is_there_before_the_dataset_is_made(self, tmp_path: Path) -> None:
        host = probe_host(tmp_path, FakeZfs(die_before=1))
        # A kill that no handler sees: the clean-up of the same process does not run.
        with pytest.raises(Killed):
            probe(host)
        [record] = host.leftovers.probes()
        assert record.dataset == "tank/nasadvisor-probe-0a1b2c3d"

    @pytest.mark.parametrize("number", range(1, 9))
    @pytest.mark.parametrize("moment", ["die_before", "die_after"])
    def test_killed_at_any_command_the_next_start_cleans_up(self, tmp_path: Path, moment: str, number: int) -> None:
        zfs = FakeZfs()
        setattr(zfs, moment, number)
        with pytest.raises(Killed):
            probe(probe_host(tmp_path, zfs))
        again = FakeZfs(datasets=zfs.datasets)
        host = probe_host(tmp_path, again)
        clean_up_probes(host)
        assert again.datasets == {}
        assert host.leftovers.probes() == ()

    def test_it_is_bounded_marked_and_never_forced(self, tmp_path: Path) -> None:
        zfs = FakeZfs()
        probe(probe_host(tmp_path, zfs))
        create = zfs.ran[0]
        assert f"quota={2 * GIB}" in create
        assert f"{PROBE_PROPERTY}=0a1b2c3d" in create
        assert "sync=standard" in create
        assert all("--runtime=5" in command for command in zfs.ran if command.startswith("fio"))
        assert zfs.ran[-1] == "zfs destroy tank/nasadvisor-probe-0a1b2c3d"

    def test_a_dataset_without_our_mark_is_never_destroyed(self, tmp_path: Path) -> None:
        zfs = FakeZfs(die_before=2)
        with pytest.raises(Killed):
            probe(probe_host(tmp_path, zfs))
        foreign = FakeZfs(datasets={"tank/nasadvisor-probe-0a1b2c3d": "-"})
        host = probe_host(tmp_path, foreign)
        with pytest.raises(NotOurs, match="left alone"):
            clean_up_probes(host)
        assert foreign.datasets
        assert len(host.leftovers.probes()) == 1

    def test_a_record_stays_while_its_pool_is_away(self, tmp_path: Path) -> None:
        with pytest.raises(Killed):
            probe(probe_host(tmp_path, FakeZfs(die_after=1)))
        host = probe_host(tmp_path, FakeZfs(pool_guid="another"))
        assert clean_up_probes(host) == ()
        assert len(host.leftovers.probes()) == 1

    def test_where_fio_fails_the_dataset_goes_all_the_same(self, tmp_path: Path) -> None:
        zfs = FakeZfs(fail="fio")
        host = probe_host(tmp_path, zfs)
        with pytest.raises(CommandFailed, match="it broke"):
            probe(host)
        assert (zfs.datasets, host.leftovers.probes()) == ({}, ())

    def test_a_dataset_that_cannot_be_destroyed_stays_on_record(self, tmp_path: Path) -> None:
        host = probe_host(tmp_path, FakeZfs(fail="destroy"))
        with pytest.raises(CommandFailed):
            probe(host)
        assert len(host.leftovers.probes()) == 1

    def test_without_fio_nothing_is_made(self, tmp_path: Path) -> None:
        zfs = FakeZfs(missing=True)
        with pytest.raises(ToolMissing, match="Install the package fio"):
            probe(probe_host(tmp_path, zfs))
        assert zfs.ran == []

    def test_two_probes_do_not_run_at_once(self, tmp_path: Path) -> None:
        host = probe_host(tmp_path, FakeZfs())
        with host_lock((host.lock,), 0), pytest.raises(HostBusy):
            probe(host)

    def test_a_damaged_record_is_said_so(self, tmp_path: Path) -> None:
        host = probe_host(tmp_path, FakeZfs())
        host.leftovers.directory.mkdir()
        (host.leftovers.directory / "x.probe.json").write_text("{")
        with pytest.raises(RecordDamaged, match="cannot be read"):
            clean_up_probes(host)

    def test_a_damaged_record_does_not_keep_the_others_from_being_cleaned_up(self, tmp_path: Path) -> None:
        zfs = FakeZfs(die_after=2)
        host = probe_host(tmp_path, zfs)
        with pytest.raises(Killed):
            probe(host)
        assert zfs.datasets
        zfs.die_after = 0
        (host.leftovers.directory / "a.probe.json").write_text("{")
        with pytest.raises(RecordDamaged, match="cannot be read"):
            clean_up_probes(host)
        assert (zfs.datasets, host.leftovers.probes()) == ({}, ())

    def test_a_record_is_what_was_written_or_damaged(self, tmp_path: Path) -> None:
        leftovers = Leftovers(tmp_path)
        record = ProbeRecord("0a1b2c3d", "2026-08-25T20:00:00+00:00", "1", "tank/nasadvisor-probe-0a1b2c3d", "/mnt/x")
        leftovers.write(record)
        path = tmp_path / "0a1b2c3d.probe.json"
        whole = path.read_bytes()
        for position in range(len(whole)):
            for bit in range(8):
                path.write_bytes(whole[:position] + bytes([whole[position] ^ 1 << bit]) + whole[position + 1 :])
                assert leftovers.probes() in ((), (record,))
        for length in range(len(whole) - 1):
            path.write_bytes(whole[:length])
            assert leftovers.probes() == ()
        path.write_text(to_json(record))
        assert leftovers.probes() == (), "what has no digest is not what was written"

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"state": "DEGRADED"}, "probe-not-online"),
            ({"read_only": True}, "probe-not-online"),
            ({"scan": "scrub"}, "probe-scan"),
            ({"allocated_bytes": 7 * 1024 * GIB}, "probe-full"),
        ],
    )
    def test_a_pool_that_is_unwell_or_full_is_not_probed(self, changes: dict[str, object], code: str) -> None:
        pool = home_server().pool(TANK)
        assert pool
        assert [each.code for each in against_probe(replace(pool, **changes), None)] == [code]  # type: ignore[arg-type]

    def test_a_busy_pool_is_not_probed_and_a_quiet_one_is(self) -> None:
        pool = home_server().pool(TANK)
        assert pool
        assert [each.code for each in against_probe(pool, sync_writers(200, 5))] == ["probe-busy"]
        assert list(against_probe(pool, sync_writers(2, 5))) == []


REQUEST = PlanRequest(TANK, (NVME1,), 32 * GIB, reserve_percent=0)
IDS = PlanIds("test-1", "2026-11-21T00:00:00+00:00", tuple(f"20000000-0000-4000-8000-{n:012d}" for n in range(4)))


@dataclass
class DyingExecutor(SimulatedExecutor):
    """Dies right before or after it has done so many actions."""

    die_before: int = 0
    die_after: int = 0
    done: int = 0

    def do(self, permit: Permit) -> Ran:
        self.done += 1
        if self.done == self.die_before:
            raise Killed
        ran = super().do(permit)
        if self.done == self.die_after:
            raise Killed
        return ran


def candidate_host(root: Path, executor: SimulatedExecutor, zfs: FakeZfs | None = None) -> CandidateHost:
    runs = RunHost("nas", root / "runs", (root / "host.lock",), lambda _: executor, lambda: NOW)
    return CandidateHost(runs, zfs or FakeZfs(), Leftovers(root / "probes"), root / "run")


def disks(inventory: Inventory) -> object:
    return inventory.disks, inventory.pools


def with_slice_as_log(state: Inventory) -> Inventory:
    """The first slice of the SSD is a log by now."""
    disk, pool = state.disk(NVME1), state.pool(TANK)
    assert disk
    assert pool
    return with_pool(state, logs=(replace(pool.data[0].children[0], path=disk.partitions[0].path),))


class TestCandidate:
    def test_it_measures_and_the_ssd_is_as_before(self, tmp_path: Path) -> None:
        executor, zfs = SimulatedExecutor(home_server()), FakeZfs()
        host = candidate_host(tmp_path, executor, zfs)
        result = measure_candidate(host, REQUEST, IDS, 2)
        assert [each.writers for each in result.figures] == [1, 1, 1, 1, 16, 16, 16, 16]
        assert result.disk == "Samsung SSD 960 EVO 500GB (N1)"
        assert result.written_bytes > 0
        assert disks(executor.state) == disks(home_server())
        assert host.leftovers.candidates() == ()

    def test_it_writes_to_its_own_slice_by_its_own_name_only(self, tmp_path: Path) -> None:
        zfs = FakeZfs()
        measure_candidate(candidate_host(tmp_path, SimulatedExecutor(home_server()), zfs), REQUEST, IDS, 2)
        targets = {arg for command in zfs.ran for arg in command.split() if arg.startswith("--filename")}
        assert targets == {f"--filename=/dev/disk/by-partuuid/{IDS.uuids[1]}"}

    def test_it_replays_the_commits_that_were_followed_on_its_own_slice(self, tmp_path: Path) -> None:
        zfs, stages = FakeZfs(), list[Stage]()
        host = candidate_host(tmp_path, SimulatedExecutor(home_server()), zfs)
        trace = simulated_commits(TANK, "tank", NOW.isoformat(), 3600)
        begin = lambda stage, *_: stages.append(stage)  # noqa: E731
        found = measure_candidate(host, REQUEST, IDS, 2, begin, trace).replayed
        assert found
        assert (found.blocks, found.p50_ns, found.p99_ns) == (3000, 200_000.0, 200_000.0)
        assert found.kept_up
        assert zfs.played == [list(trace.busiest.sizes)]
        assert f"/dev/disk/by-partuuid/{IDS.uuids[1]}" in zfs.ran[-1].split()
        assert stages[-1] is Stage.REPLAY
        assert not (tmp_path / "run/replay.json").exists()

    def test_where_the_replay_fails_the_slice_goes_all_the_same(self, tmp_path: Path) -> None:
        executor = SimulatedExecutor(home_server())
        host = candidate_host(tmp_path, executor, FakeZfs(fail="play_blocks"))
        trace = simulated_commits(TANK, "tank", NOW.isoformat(), 3600)
        with pytest.raises(CommandFailed, match="it broke"):
            measure_candidate(host, REQUEST, IDS, 2, commits=trace)
        assert disks(executor.state) == disks(home_server())
        assert host.leftovers.candidates() == ()

    @pytest.mark.parametrize("moment", ["die_before", "die_after"])
    @pytest.mark.parametrize("number", [1, 2])
    def test_killed_while_the_slice_is_made_the_next_start_cleans_up(
        self, tmp_path: Path, moment: str, number: int
    ) -> None:
        executor = DyingExecutor(home_server())
        setattr(executor, moment, number)
        with pytest.raises(Killed):
            measure_candidate(candidate_host(tmp_path, executor), REQUEST, IDS, 2)
        host = candidate_host(tmp_path, SimulatedExecutor(executor.state, tables=executor.tables))
        clean_up_candidates(host)
        assert host.leftovers.candidates() == ()

    def test_a_process_that_dies_in_fio_leaves_a_record_by_which_the_slice_goes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        executor = SimulatedExecutor(home_server())
        host = candidate_host(tmp_path, executor, FakeZfs(die_before=1))
        with monkeypatch.context() as dead:
            dead.setattr("nasadvisor.host.evidence.measuring.candidate._take_back", lambda *_: None)  # as after SIGKILL
            with pytest.raises(Killed):
                measure_candidate(host, REQUEST, IDS, 2)
        assert disks(executor.state) != disks(home_server())
        assert clean_up_candidates(host) == ("test-1",)
        assert disks(executor.state) == disks(home_server())

    @pytest.mark.parametrize("key", [SATA_SSD, SHARED_SSD])
    def test_a_disk_that_is_not_blank_is_refused(self, tmp_path: Path, key: str) -> None:
        executor, zfs = SimulatedExecutor(home_server()), FakeZfs()
        with pytest.raises(CandidateRefused):
            measure_candidate(candidate_host(tmp_path, executor, zfs), replace(REQUEST, log_disks=(key,)), IDS, 2)
        assert zfs.ran == []
        assert disks(executor.state) == disks(home_server())

    def test_data_that_nobody_recognises_are_not_written_over(self, tmp_path: Path) -> None:
        executor, zfs = SimulatedExecutor(with_disk(home_server(), NVME1, unrecognised_at=0)), FakeZfs()
        with pytest.raises(CandidateRefused) as refused:
            measure_candidate(candidate_host(tmp_path, executor, zfs), REQUEST, IDS, 2)
        assert [each.code for each in refused.value.refusals] == ["erasure-not-agreed"]
        assert zfs.ran == []
        assert executor.state.disks == with_disk(home_server(), NVME1, unrecognised_at=0).disks

    def test_a_slice_that_somebody_uses_by_now_is_not_deleted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        executor = SimulatedExecutor(home_server())
        host = candidate_host(tmp_path, executor, FakeZfs(die_before=1))
        with monkeypatch.context() as dead:
            dead.setattr("nasadvisor.host.evidence.measuring.candidate._take_back", lambda *_: None)
            with pytest.raises(Killed):
                measure_candidate(host, REQUEST, IDS, 2)
        executor.state = with_slice_as_log(executor.state)
        with pytest.raises(SliceStays):
            clean_up_candidates(host)
        assert len(host.leftovers.candidates()) == 1

    def test_it_never_runs_beside_a_run(self, tmp_path: Path) -> None:
        host = candidate_host(tmp_path, SimulatedExecutor(home_server()))
        fast = replace(host, runs=replace(host.runs, locks=(tmp_path / "host.lock",)))
        with host_lock((tmp_path / "host.lock",), 0), pytest.MonkeyPatch.context() as patch:
            patch.setattr("nasadvisor.host.evidence.measuring.candidate.LOCK_WAIT_S", 0.0)
            with pytest.raises(HostBusy):
                measure_candidate(fast, REQUEST, IDS, 2)

    def test_a_smaller_disk_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        disk = home_server().disk(NVME2)
        assert disk is not None
        small = with_disk(
            home_server(), NVME2, identity=replace(disk.identity, size_bytes=GIB + MIB), usable_end_bytes=GIB
        )
        request = replace(REQUEST, log_disks=(NVME2,))
        with pytest.raises(CandidateRefused, match=r"32G|room|free"):
            measure_candidate(candidate_host(tmp_path, SimulatedExecutor(small)), request, IDS, 2)


class TestFio:
    JOB = FioJob(("--directory=/x",), 4096, 4, 2, "--fsync=1", Pattern.SCATTERED)

    def test_it_reads_what_fio_prints(self) -> None:
        figures = parse_fio("fio", FIO, self.JOB)
        assert figures.operations == 6188
        assert figures.sync_p50_ns == 288768
        assert figures.sync_p95_ns == 4816896
        assert figures.operations_per_s == pytest.approx(3087.8, abs=0.1)

    @pytest.mark.parametrize("text", ["", "{}", '{"jobs": []}', "fio: failed"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(OutputUnreadable):
            parse_fio("fio", text, self.JOB)

    def test_an_error_of_a_job_is_an_error(self) -> None:
        document = json.loads(FIO)
        document["jobs"][0]["error"] = 28
        with pytest.raises(OutputUnreadable, match="error 28"):
            parse_fio("fio", json.dumps(document), self.JOB)

    def test_every_job_ends_by_itself(self) -> None:
        uuid = "aaaaaaaa-0000-4000-8000-000000000001"
        target = (f"--filename=/dev/disk/by-partuuid/{uuid}", "--direct=1", "--size=1", "--offset_increment=1")
        args = replace(self.JOB, target=target).command().args
        assert {"--runtime=2", "--time_based"} <= set(args)


def fio(block_kib: int, writers: int, per_s: float, write_ms: float, sync_ms: float) -> FioFigures:
    sync = sync_ms * MS
    return FioFigures(block_kib * KIB, writers, per_s, 1000, write_ms * MS, sync * 1.1, sync, sync * 2, sync * 3, 0)


def probed(*figures: FioFigures) -> ProbeResult:
    return ProbeResult("p", TANK, "tank", "", False, figures)


def ssd(write_ms: float, sync_ms: float) -> CandidateResult:
    per_s = 1000 / (write_ms + sync_ms)
    figures = tuple(fio(block, writers, per_s, write_ms, sync_ms) for block in (4, 16, 64, 128) for writers in (1, 16))
    return CandidateResult("c", NVME1, "SSD", "", 0, 0, 0, figures)


class TestPrediction:
    def test_the_ssd_takes_the_place_of_the_disks_and_the_software_stays(self) -> None:
        """12 ms before; a write costs 0.1 ms, so OpenZFS 0.35; the SSD needs 0.5: about 0.85 ms after."""
        [found] = predict(probed(fio(4, 1, 1000 / 12, 0.1, 11.9)), ssd(0.1, 0.4))
        assert found.after_ns.likely == pytest.approx(0.85 * MS, rel=0.01)
        assert found.after_per_s.covers(1176)
        assert found.before_per_s == pytest.approx(83.3, abs=0.1)

    def test_every_further_writer_costs_what_the_software_costs(self) -> None:
        """With four: a quarter of a commit more to wait for, and three times what a writer adds."""
        alone, four = fio(4, 1, 100, 0.1, 10), fio(4, 4, 350, 0.1, 10)
        found = predict(probed(alone, four), ssd(0.1, 0.4))
        assert found[1].after_ns.likely == pytest.approx((1.25 * 0.85 + 3 * 0.25) * MS, rel=0.01)

    def test_the_best_job_tells_how_fast_the_software_is(self) -> None:
        """The write of a job that waits for slow disks wakes up cold; many writers show what it really costs."""
        cold, warm = fio(4, 1, 100, 0.4, 10), fio(4, 16, 900, 0.1, 10)
        assert predict(probed(cold, warm), ssd(0.1, 0.4))[0].after_ns.likely == pytest.approx(0.85 * MS, rel=0.01)

    def test_the_software_takes_no_longer_than_the_whole_commit_did(self) -> None:
        [found] = predict(probed(fio(4, 1, 2000, 0.4, 0.1)), ssd(0.1, 0.4))
        assert found.after_ns.likely == pytest.approx(1.0 * MS)

    def test_what_was_not_measured_is_not_predicted(self) -> None:
        assert predict(probed(fio(4, 1, 0, 0, 0)), ssd(0.1, 0.9)) == ()
        assert predict(probed(fio(4, 1, 90, 0, 10)), replace(ssd(0.1, 0.9), figures=())) == ()

    @given(st.floats(0.2, 100), st.floats(0.001, 10), st.sampled_from([1, 4, 16]), st.floats(0.02, 20))
    def test_a_range_is_a_range(self, before_ms: float, write_ms: float, writers: int, ssd_ms: float) -> None:
        job = fio(4, writers, writers * 1000 / before_ms, write_ms, before_ms)
        [found] = predict(probed(job), ssd(ssd_ms / 3, ssd_ms))
        for each in (found.after_ns, found.after_per_s):
            assert 0 < each.low <= each.likely <= each.high


class TestSuitability:
    @pytest.mark.parametrize(
        ("write_ms", "sync_ms", "kept", "code"),
        [
            (0.05, 0.1, 0.9, "ssd-good"),
            (0.1, 0.9, 0.9, "ssd-fair"),
            (0.1, 0.9, 0.3, "ssd-fades"),
            (0.1, 4.0, 0.9, "ssd-poor"),
        ],
    )
    def test_an_ssd_is_judged_by_how_it_makes_small_writes_safe(
        self, write_ms: float, sync_ms: float, kept: float, code: str
    ) -> None:
        found = suitability(replace(ssd(write_ms, sync_ms), first_bytes_per_s=1e9, last_bytes_per_s=kept * 1e9))
        assert found
        assert found.code == code
        assert "{" not in str(found)

    def test_what_was_not_measured_is_not_judged(self) -> None:
        assert suitability(replace(ssd(0.1, 1), figures=())) is None
        assert ssd_time(replace(ssd(0.1, 1), figures=())) is None

    def test_its_measured_time_goes_into_the_verdict(self) -> None:
        found = ssd_time(ssd(0.1, 0.4))
        assert found
        assert found.is_measured
        assert found.low_ns == pytest.approx(0.5 * MS)

    def test_many_writers_are_told_apart_from_one(self) -> None:
        one, many = (fio(4, writers, 1000, 0.1, sync_ms) for writers, sync_ms in ((1, 0.4), (16, 5)))
        found = ssd_time(replace(ssd(0.1, 0.4), figures=(one, many)))
        assert found
        assert found.many_ns == pytest.approx(many.write_p50_ns + many.sync_p95_ns)
        assert found.high_ns == pytest.approx(one.write_p50_ns + one.sync_p95_ns)
        assert replace(found, many_ns=None) == ssd_time(replace(ssd(0.1, 0.4), figures=(one,)))
        assert ssd_time(replace(ssd(0.1, 0.4), figures=(many,))) is None
