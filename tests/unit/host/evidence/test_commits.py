"""Following what goes to the ZILs of a pool: what bpftrace 0.23 prints of it, and how it is replayed."""

import errno
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.log_blocks import CommitTrace, LogBlocks
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.bpftrace import BLOCKS_SCRIPT, parse_blocks, trace_blocks
from nasadvisor.host.adapters.play_blocks import main, offsets_in
from nasadvisor.host.adapters.player import SCRIPT as PLAYER
from nasadvisor.host.adapters.player import parse_played, play_text
from nasadvisor.host.adapters.player import play as play_on
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.errors import OutputUnreadable
from nasadvisor.host.evidence.commits import CommitTracer
from nasadvisor.host.evidence.curve import PoolNotThere
from nasadvisor.host.evidence.measuring.replay import keep_commits, kept_commits
from nasadvisor.host.simulated.evidence import simulated_commits
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.fakes import FakeRunner
from tests.unit.host.evidence.test_curve import Pools, Unread
from tests.unit.machines import TANK, home_server

AT = "2026-11-21T20:00:00+00:00"
PRINTED = """
{"type": "attached_probes", "data": {"probes": 6}}
{"type": "printf", "data": "640097808 51266382 12288\\n"}
{"type": "printf", "data": "567883980 39582338 12288\\n"}
{"type": "printf", "data": "700318609 19472043 4608\\n"}
{"type": "map", "data": {"@blocks": 76}}
{"type": "map", "data": {"@bytes": 847872}}
"""
SLICE = "/dev/disk/by-partuuid/aaaaaaaa-0000-4000-8000-000000000005"
Play = Callable[..., Any]
PLAYED = '{"took_ns": [1000000, 3000000, 2000000], "played_s": 0.4}'
TRACE = CommitTrace(
    TANK, "tank", AT, 60, True, 76, 847_872, LogBlocks((0, 72_213, 60_220), (12288, 12288, 8192), (39582, 51266, 19472))
)


def test_it_reads_what_bpftrace_prints_in_the_order_of_time() -> None:
    runner = FakeRunner({f"bpftrace -q -f json {BLOCKS_SCRIPT} 4096 300 tank": PRINTED})
    found = trace_blocks(runner, "tank", 4096, 300)
    assert not runner.ran[0].mutates
    assert (found.blocks, found.written_bytes) == (76, 847_872)
    assert found.first == TRACE.busiest


def test_of_an_idle_pool_there_is_nothing() -> None:
    found = parse_blocks('\n{"type": "map", "data": {"@blocks": 0}}\n', 10)
    assert (found.blocks, found.written_bytes, found.first) == (0, 0, LogBlocks())


def test_no_more_are_kept_than_were_asked_for() -> None:
    assert parse_blocks(PRINTED, 2).first.after_us == (0, 72_213)


WRONG = ("4096", "300", "my;pool"), ("0", "300", "tank"), ("4096", "x", "tank"), ("4096", "300", "-o"), ("1", "300")


@pytest.mark.parametrize("words", WRONG)
def test_bpftrace_takes_two_numbers_and_the_name_of_a_pool(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
        Command(Tool.BPFTRACE, ("-q", "-f", "json", str(BLOCKS_SCRIPT), *words), timeout_s=1)


@pytest.mark.parametrize(
    ("slice_path", "file"),
    [("/dev/sda", "/run/replay.json"), ("/dev/disk/by-id/ata-x", "/run/replay.json"), (SLICE, "/etc/shadow")],
)
def test_the_player_is_given_a_slice_of_ours_and_its_own_file_only(slice_path: str, file: str) -> None:
    assert Command(Tool.PYTHON, ("-I", str(PLAYER), SLICE, "/run/nasadvisor-host/replay.json", "10"), 1).mutates
    with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
        Command(Tool.PYTHON, ("-I", str(PLAYER), slice_path, file, "10"), timeout_s=1)


@pytest.mark.parametrize("line", ["-1 5 4096", "1 -5 4096", "1 5 0", "1 5 99999999999", "1 5", "a b c"])
def test_what_cannot_be_is_not_taken_for_a_block(line: str) -> None:
    later = json.dumps({"type": "printf", "data": "2 5 4096\n"})
    text = json.dumps({"type": "printf", "data": f"{line}\n"})
    if line.startswith("-1"):
        assert parse_blocks(f"{text}\n{later}", 9).first.sizes == (4096, 4096)  # the clock of another processor
        return
    with pytest.raises(OutputUnreadable):
        parse_blocks(f"{text}\n{later}", 9)


@dataclass
class Tracing:
    """A kernel with 100 blocks in the first part, 200 in the second, and 150 in each that follows."""

    now: float = 0.0
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def has(self, tool: Tool) -> bool:
        return True

    def holding(self, descriptors: tuple[int, ...]) -> "Tracing":
        return self

    def run(self, command: Command) -> Output:
        self.calls.append(command.args[-3:])
        count = {1: 100, 2: 200}.get(len(self.calls), 150)
        self.now += int(command.args[-2])
        lines: list[dict[str, Any]] = [
            {"type": "printf", "data": f"{number * 10**6} 5000000 8192\n"} for number in range(count)
        ]
        lines.append({"type": "map", "data": {"@blocks": count}})
        lines.append({"type": "map", "data": {"@bytes": count * 8192}})
        return Output("\n".join(map(json.dumps, lines)), "", 0, 0.0)

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


def tracer(tracing: Tracing, tmp_path: Path) -> CommitTracer:
    machine = Machine(tracing, Unread(), Pools(home_server().pools), Unread(), tracing.clock, Roots())
    return CommitTracer(machine, tmp_path / "commits", lambda: tracing.now)


def test_it_is_cut_into_parts_and_the_busiest_is_kept(tmp_path: Path) -> None:
    tracing, told = Tracing(), list[CommitTrace]()
    found = tracer(tracing, tmp_path).trace(TANK, 700, told.append)
    assert tracing.calls == [("4096", length, "tank") for length in ("300", "300", "100")]
    assert [each.blocks for each in told] == [100, 300]
    assert not any(each.is_done for each in told)
    assert (found.is_done, found.seconds, found.blocks, found.written_bytes) == (True, 700, 450, 450 * 8192)
    assert len(found.busiest.sizes) == 200
    assert found.busiest.most_at_once == 5
    assert kept_commits(tmp_path / "commits", TANK) == found


def test_it_ends_after_the_part_in_which_it_is_stopped(tmp_path: Path) -> None:
    found = tracer(Tracing(), tmp_path).trace(TANK, 3600, is_stopped=lambda: True)
    assert (found.seconds, found.is_done) == (300, True)


def test_a_pool_that_is_not_there_is_not_followed(tmp_path: Path) -> None:
    with pytest.raises(PoolNotThere):
        tracer(Tracing(), tmp_path).trace("404", 60)


def test_a_trace_of_an_idle_hour_does_not_take_the_place_of_a_good_one(tmp_path: Path) -> None:
    good = simulated_commits(TANK, "tank", AT, 3600)
    keep_commits(tmp_path, good)
    keep_commits(tmp_path, TRACE)
    assert kept_commits(tmp_path, TANK) == good
    assert kept_commits(tmp_path, "404") is None


@pytest.mark.parametrize("content", ["", "{}", "[1]", "\0"])
def test_a_damaged_trace_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / f"{TANK}.json").write_text(content)
    assert kept_commits(tmp_path, TANK) is None


def test_it_reads_what_the_player_prints() -> None:
    found = parse_played(TRACE, PLAYED)
    assert (found.blocks, found.written_bytes, found.played_s) == (3, 32_768, 0.4)
    assert (found.p50_ns, found.p99_ns) == (2e6, 3e6)
    assert (found.pool_p50_ns, found.pool_p99_ns) == (39_582e3, 51_266e3)
    assert found.recorded_s == pytest.approx(0.132433)
    assert found.kept_up


def test_whatever_a_trace_says_an_ssd_is_not_written_to_for_longer_than_an_hour() -> None:
    years = replace(TRACE, busiest=LogBlocks((0, 10**15), (4096, 4096), (1, 1)))
    runner = FakeRunner({f"python3 -I {PLAYER} {SLICE} /run/replay.json 3600": PLAYED.replace(", 2000000", "")})
    assert play_on(runner, years, SLICE, Path("/run/replay.json")).blocks == 2


def test_one_that_was_stopped_did_not_keep_up() -> None:
    found = parse_played(TRACE, '{"took_ns": [900000000, 800000000], "played_s": 1.7}')
    assert (found.blocks, found.written_bytes) == (2, 24_576)
    assert not found.kept_up


@pytest.mark.parametrize("text", ["", "{}", '{"took_ns": [], "played_s": 1}', '{"took_ns": [1,2,3,4], "played_s": 1}'])
def test_what_is_no_answer_of_the_player_is_told(text: str) -> None:
    with pytest.raises(OutputUnreadable):
        parse_played(TRACE, text)


@pytest.fixture
def play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Play:
    """The player, on a file of 1 MiB."""

    def play(blocks: LogBlocks, seconds: int = 10) -> Any:
        target, play_file = tmp_path / "slice", tmp_path / "replay.json"
        target.write_bytes(bytes(MIB))
        play_file.write_text(play_text(blocks))
        try:
            main(str(target), str(play_file), str(seconds))
        except OSError as error:
            if error.errno == errno.EINVAL:
                pytest.skip("this file system has no O_DIRECT")
            raise
        return json.loads(capsys.readouterr().out)

    return play


def test_the_player_writes_each_block_once_and_none_earlier_than_it_came(play: Play, tmp_path: Path) -> None:
    blocks = LogBlocks((0, 100_000, 0, 200_000), (4096, 8192, 4096, 12_288), (1, 1, 1, 1))
    answer = play(blocks)
    assert len(answer["took_ns"]) == 4
    assert 0.3 <= answer["played_s"] < 5
    content = (tmp_path / "slice").read_bytes()
    assert len(content) == MIB
    assert not any(content[28 * KIB :])
    assert all(any(content[at : at + 4096]) for at in range(0, 28 * KIB, 4096))


def test_the_player_begins_none_after_its_time(play: Play) -> None:
    blocks = LogBlocks((0, 1000, 5_000_000), (4096,) * 3, (1,) * 3)
    assert len(play(blocks, 1)["took_ns"]) == 2


def test_the_player_goes_round_in_the_slice() -> None:
    assert offsets_in(20, [8, 8, 8, 4]) == [0, 8, 0, 8]
    with pytest.raises(ValueError, match="does not fit"):
        offsets_in(4, [8])


def test_a_trace_says_what_a_year_writes() -> None:
    assert TRACE.bytes_per_year == pytest.approx(847_872 / 60 * 365.25 * 86_400)
    assert not TRACE.is_enough
    assert replace(TRACE, seconds=0, blocks=0).bytes_per_year == 0.0


@pytest.mark.parametrize(
    "columns",
    [((0,), (4096,), ()), ((-1,), (4096,), (1,)), ((0,), (4097,), (1,)), ((0,), (0,), (1,)), ((0,) * 5000,) * 3],
)
def test_columns_that_cannot_be_are_refused(columns: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"."):
        LogBlocks(*columns)
