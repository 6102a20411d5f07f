"""Which programs wait: what bpftrace 0.23 prints, and what is made of it."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.tracing import ProcessCalls, by_program
from nasadvisor.host.adapters.bpftrace import FLAGS_SCRIPT, WAITING_SCRIPT, parse_waiting, trace_waiting
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.errors import OutputUnreadable, ToolMissing
from tests.unit.fakes import FakeRunner

PRINTED = """
{"type": "map", "data": {"@commits": {"812,fio": 40, "61,z_zvol": 7, "813,fio": 44}}}
{"type": "map", "data": {"@ended": {"812,fio": 40, "61,z_zvol": 6, "813,fio": 43}}}
{"type": "map", "data": {"@fsyncs": {"812,fio": 40, "990,a, \\"b\\"": 5, "813,fio": 44}}}
{"type": "map", "data": {"@waited_ns": {"812,fio": 400000000, "61,z_zvol": 60000000, "813,fio": 430000000}}}
"""


def test_it_reads_what_bpftrace_prints(tmp_path: Path) -> None:
    runner = FakeRunner({f"bpftrace -q -f json {WAITING_SCRIPT} 20": PRINTED})
    found = {(each.pid, each.program): each for each in trace_waiting(runner, tmp_path, 20)}
    assert found[812, "fio"] == ProcessCalls(812, "fio", 40, 40, 40, 400_000_000)
    assert found[61, "z_zvol"] == ProcessCalls(61, "z_zvol", 0, 7, 6, 60_000_000)
    assert found[990, 'a, "b"'] == ProcessCalls(990, 'a, "b"', 5)
    assert not runner.ran[0].mutates


@pytest.mark.parametrize(
    ("symbols", "script"),
    [
        ("ffffffffc0a1b2c0 t zil_commit\t[zfs]\nffffffffc0a1b2f0 t zil_commit_flags_of\t[zfs]\n", WAITING_SCRIPT),
        ("ffffffffc0a1b2c0 t zil_commit\t[zfs]\nffffffffc0a1b2f0 T zil_commit_flags\t[zfs]\n", FLAGS_SCRIPT),
    ],
)
def test_where_openzfs_commits_through_a_second_function_both_are_watched(
    tmp_path: Path, symbols: str, script: Path
) -> None:
    (tmp_path / "kallsyms").write_text(symbols)
    runner = FakeRunner({f"bpftrace -q -f json {script} 20": PRINTED})
    assert trace_waiting(runner, tmp_path, 20)


def test_who_is_in_both_functions_is_counted_once() -> None:
    """zil_commit() calls zil_commit_flags(): what counts in the second script asks whether the thread is in one."""
    script = FLAGS_SCRIPT.read_text()
    assert "kprobe:zil_commit, kprobe:zil_commit_flags /!@begun[tid]/" in script
    assert "kretprobe:zil_commit, kretprobe:zil_commit_flags /@begun[tid]/" in script
    assert script.count("@commits[") == script.count("@ended[") == 1
    assert "zil_commit_flags" not in WAITING_SCRIPT.read_text()


def test_processes_of_one_name_are_one_program_and_the_busiest_comes_first() -> None:
    fio, zvol, disabled = by_program(parse_waiting(PRINTED))
    assert (fio.program, fio.processes, fio.pid, fio.fsyncs, fio.commits) == ("fio", 2, 813, 84, 84)
    assert fio.mean_wait_ns == 10_000_000
    assert zvol.mean_wait_ns == 10_000_000
    assert (fio.is_not_obeyed, zvol.is_not_obeyed, disabled.is_not_obeyed) == (False, False, True)
    assert disabled.mean_wait_ns is None


def test_nobody_waited() -> None:
    assert by_program(parse_waiting("")) == ()
    assert parse_waiting('{"type": "lost_events", "data": {"events": 3}}\n') == ()
    assert parse_waiting('{"type": "map", "data": {"@other": {"1,x": 3}}}\n') == ()


@pytest.mark.parametrize(
    "line",
    [
        "Attaching 4 probes...",
        "[]",
        "{}",
        '{"type": "map", "data": {"@commits": 3}}',
        '{"type": "map", "data": {"@commits": {"x,y": 3}}}',
        '{"type": "map", "data": {"@commits": {"1,y": null}}}',
    ],
)
def test_another_form_is_told(line: str) -> None:
    with pytest.raises(OutputUnreadable, match="bpftrace"):
        parse_waiting(f"{line}\n")


@given(st.text())
def test_nothing_but_that_error_comes_of_any_text(text: str) -> None:
    with suppress(OutputUnreadable):
        parse_waiting(text)


def test_without_bpftrace_it_says_what_to_install() -> None:
    with pytest.raises(ToolMissing, match="bpftrace"):
        trace_waiting(FakeRunner(missing=frozenset({Tool.BPFTRACE})), Path("/nowhere"), 20)


@pytest.mark.parametrize(
    "args", [("-e", "kprobe:f { }"), ("-q", "-f", "json", "/tmp/x.bt", "20"), (str(WAITING_SCRIPT),)]
)
def test_bpftrace_runs_nothing_else(args: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
        Command(Tool.BPFTRACE, args, timeout_s=1)
