"""The seam itself: here real programs are started, but only scripts written by these tests."""

import errno
import locale
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.host.adapters import process
from nasadvisor.host.adapters.process import PACKAGES, Command, HostRunner, Tool
from nasadvisor.host.errors import (
    MAY_HAVE_CHANGED,
    CommandFailed,
    CommandHangs,
    CommandLost,
    CommandNotStarted,
    CommandTimedOut,
    ToolMissing,
)


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """Overrides the one for all other unit tests."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(process, "DIRECTORIES", (str(tmp_path / "empty"), str(tmp_path)))
    monkeypatch.setattr(process, "GRACE_S", 0.3)
    return tmp_path


def test_what_the_kernel_counted_of_a_program_and_of_those_it_started_is_told(programs: Path) -> None:
    work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    install(programs, Tool.ZPOOL, f"({work}); {work}")
    assert 0.02 < HostRunner().run(command()).cpu_s < 20
    install(programs, Tool.ZPOOL, "sleep 0.3")
    assert HostRunner().run(command()).cpu_s < 0.25


DISK = "/dev/disk/by-id/wwn-0x5000000000000001"
SLICE = "/dev/disk/by-id/wwn-0x5000000000000001-part1"
NOTIFY = str(Path(process.__file__).parents[3] / "plugins/proxmox/perl/notify.pl")


def install(programs: Path, tool: Tool, script: str) -> None:
    path = programs / tool
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def command(*args: str, tool: Tool = Tool.ZPOOL, timeout_s: float = 20.0, codes: tuple[int, ...] = (0,)) -> Command:
    return Command(tool, args or ("version",), timeout_s, frozenset(codes))


def test_answer_is_taken_with_code_and_time(programs: Path) -> None:
    install(programs, Tool.PERL, 'echo "$@"; echo odd >&2; exit 3')
    text = "$(reboot); rm *\n"
    output = HostRunner().run(command(NOTIFY, "info", text, "", tool=Tool.PERL, codes=(0, 3)))
    assert (output.stdout, output.stderr, output.code) == (f"{NOTIFY} info {text} \n", "odd\n", 3)
    assert 0 < output.seconds < 20


def test_what_a_program_prints_goes_into_a_file_that_it_need_not_be_able_to_open(programs: Path) -> None:
    install(programs, Tool.PERL, "echo data; echo odd >&2")
    with (programs / "copy").open("xb") as copy:
        asked = Command(Tool.PERL, (NOTIFY, "info"), 20.0, prints_to=copy.fileno())
        output = HostRunner().run(asked)
    assert (output.stdout, output.stderr) == ("", "odd\n")
    assert (programs / "copy").read_text() == "data\n"


def test_a_program_that_the_kernel_does_not_start_is_told(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(programs, Tool.ZPOOL, "exit 0")
    (programs / "zpool").write_bytes(b"\x7fELF of nothing")
    with pytest.raises(CommandNotStarted) as error:
        HostRunner().run(command())
    assert error.value.statement.values["command"] == "zpool version"

    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(process, "CountedProcess", full)
    with pytest.raises(CommandNotStarted, match=os.strerror(errno.EAGAIN)):
        HostRunner().run(command())


def test_a_program_whose_answer_cannot_be_read_is_ended_and_told(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, Tool.ZPOOL, f"echo $$ > {programs}/pid; exec sleep 60")
    communicate, answers = subprocess.Popen.communicate, iter([OSError(errno.EIO, os.strerror(errno.EIO))])

    def broken(process: subprocess.Popen[str], *args: object, **kwargs: object) -> tuple[str, str]:
        while not (programs / "pid").exists():
            time.sleep(0.01)
        for error in answers:
            raise error
        return communicate(process, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(subprocess.Popen, "communicate", broken)
    with pytest.raises(CommandLost) as lost:
        HostRunner().run(command("add", "-o", "ashift=12", "tank", "cache", SLICE))
    assert lost.value.statement.values["state"] == MAY_HAVE_CHANGED
    pid = int((programs / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_environment_is_clean_and_stdin_closed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZPOOL_VDEV_NAME_GUID", "1")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    install(programs, Tool.ZPOOL, "/usr/bin/env; /bin/cat; pwd")
    printed = HostRunner().run(command()).stdout
    assert "LC_ALL=C.UTF-8\n" in printed
    assert "GUID" not in printed
    assert printed.endswith("\n/\n")


def test_a_program_that_asks_gets_no_answer_even_from_a_terminal(programs: Path) -> None:
    """What the worker itself is given as standard input never reaches a command."""
    install(programs, Tool.ZPOOL, "readlink /proc/$$/fd/0")
    (programs / "terminal").write_text("y\n")
    ours, before = os.open(programs / "terminal", os.O_RDONLY), os.dup(0)
    try:
        os.dup2(ours, 0)
        assert HostRunner().run(command()).stdout == "/dev/null\n"
    finally:
        os.dup2(before, 0)
        os.close(ours)
        os.close(before)


def test_a_lock_is_handed_to_every_command_and_nothing_else_is(programs: Path) -> None:
    """The command has the descriptors, so a lock is held until it ends, whatever becomes of us."""
    install(programs, Tool.ZPOOL, "for fd in /proc/$$/fd/*; do readlink $fd; done; true")
    locks = [programs / name for name in ("one", "two", "three")]
    descriptors = [os.open(path, os.O_CREAT | os.O_RDWR) for path in locks]
    try:
        runner = HostRunner((descriptors[0],)).holding((descriptors[1],))
        held = runner.run(command()).stdout.splitlines()
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    assert [str(path) in held for path in locks] == [True, True, False]


def test_whatever_the_locale_of_this_process_is_answers_are_utf_8(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locale, "getencoding", lambda: "latin-1")
    monkeypatch.setattr(subprocess, "_text_encoding", lambda: "latin-1", raising=False)
    install(programs, Tool.ZPOOL, r"printf 'Gr\303\274n\n'")
    assert HostRunner().run(command()).stdout == "Grün\n"


def test_an_interrupted_wait_ends_the_command_too(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is stopped while a command runs."""
    install(programs, Tool.ZPOOL, "exec sleep 60")
    ended: list[subprocess.Popen[str]] = []
    end = process._end

    def end_noted(child: subprocess.Popen[str]) -> bool:
        ended.append(child)
        return end(child)

    def interrupted(child: subprocess.Popen[str], *_args: object, **_kwargs: object) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(process, "_end", end_noted)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        HostRunner().run(command())
    assert ended[0].returncode is not None


def test_a_command_that_ends_just_when_its_time_is_over_is_no_error_of_ours(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its group is gone before it could be ended."""
    install(programs, Tool.ZPOOL, "exec sleep 60")
    kill = os.killpg

    def gone(group: int, _number: int) -> None:
        kill(group, 9)
        raise ProcessLookupError

    monkeypatch.setattr(os, "killpg", gone)
    with pytest.raises(CommandTimedOut) as hit:
        HostRunner().run(command(timeout_s=0.3))
    assert not hit.value.still_running


def test_bytes_that_are_no_text_do_not_break_anything(programs: Path) -> None:
    install(programs, Tool.ZPOOL, r"printf 'a\377b\n'")
    assert HostRunner().run(command()).stdout == "a\\xffb\n"


def test_missing_program_names_its_package(programs: Path) -> None:
    assert not HostRunner().has(Tool.SGDISK)
    with pytest.raises(ToolMissing, match=r"sgdisk.*Install the package gdisk"):
        HostRunner().run(command("--delete=1", DISK, tool=Tool.SGDISK))
    install(programs, Tool.SGDISK, "true")
    assert HostRunner().has(Tool.SGDISK)


def test_search_path_is_never_used(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = programs / "elsewhere"
    elsewhere.mkdir()
    install(elsewhere, Tool.ZPOOL, "true")
    monkeypatch.setenv("PATH", str(elsewhere))
    with pytest.raises(ToolMissing):
        HostRunner().run(command())


def test_failure_says_command_code_and_reason(programs: Path) -> None:
    install(programs, Tool.ZPOOL, "echo 'cannot open tank' >&2; exit 1")
    with pytest.raises(CommandFailed) as failure:
        HostRunner().run(command("remove", "my pool", "5"))
    assert (failure.value.code, failure.value.stderr) == (1, "cannot open tank\n")
    assert str(failure.value).startswith(
        "zpool remove 'my pool' 5 failed with exit code 1. It reported “cannot open tank”."
    )
    assert "may already have changed something" in str(failure.value)


def test_time_out_ends_the_whole_group(programs: Path) -> None:
    install(programs, Tool.ZPOOL, f"sleep 60 & echo $! >{programs}/child; trap '' TERM; wait; sleep 60")
    started = time.monotonic()
    with pytest.raises(
        CommandTimedOut, match=r"within 0.5 s\. The operation was terminated\..*nothing was changed"
    ) as hit:
        HostRunner().run(command(timeout_s=0.5))
    assert not hit.value.still_running
    assert time.monotonic() - started < 10
    child = int((programs / "child").read_text())
    time.sleep(0.2)
    stat = Path(f"/proc/{child}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_command_that_writes_and_takes_too_long_may_have_changed_something(programs: Path) -> None:
    install(programs, Tool.ZPOOL, "exec sleep 60")
    with pytest.raises(CommandTimedOut) as hit:
        HostRunner().run(command("remove", "tank", "5", timeout_s=0.3))
    assert "nothing was changed" not in str(hit.value)
    assert "may already have changed something" in str(hit.value)


def test_what_even_sigkill_cannot_end_is_left_and_said(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(programs, Tool.ZPOOL, "exec sleep 60")
    started: list[subprocess.Popen[str]] = []
    end = process._end

    def end_noted(child: subprocess.Popen[str]) -> bool:
        started.append(child)
        return end(child)

    monkeypatch.setattr(process, "_end", end_noted)
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda _group, _number: None)  # as for a process in uninterruptible sleep
    with pytest.raises(CommandTimedOut, match="is waiting in the kernel") as hit:
        HostRunner().run(command("remove", "tank", "5", timeout_s=0.3))
    assert hit.value.still_running
    assert str(hit.value).startswith("zpool remove tank 5 ")
    kill(started[0].pid, 9)
    assert started[0].wait(10) == -9


def test_every_tool_has_a_package() -> None:
    assert set(PACKAGES) == set(Tool)


def test_a_command_that_hangs_in_the_kernel_is_not_begun_a_second_time(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, Tool.ZPOOL, f'[ "$1" = iostat ] && exit 0; echo $$ >> {programs}/begun; exec sleep 60')
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda _group, _number: None)  # as for a process in uninterruptible sleep
    with pytest.raises(CommandTimedOut):
        HostRunner().run(command(timeout_s=5.0))
    for _ in range(3):
        with pytest.raises(CommandHangs, match=r"waiting in the kernel since \d{4}-\d\d-\d\d \d\d:\d\d UTC"):
            HostRunner().run(command())
    HostRunner().run(command("iostat", "-vgwHp"))  # another one may come through
    (pid,) = (programs / "begun").read_text().split()
    install(programs, Tool.ZPOOL, "echo well")
    kill(int(pid), 9)
    assert process._hanging["zpool version"].process.wait(10) == -9
    assert HostRunner().run(command()).stdout == "well\n"
    assert "zpool version" not in process._hanging


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as there:
        there.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_what_hangs_is_named_with_its_time_in_utc_and_what_it_may_have_changed(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, Tool.ZPOOL, "exec sleep 60")
    monkeypatch.setattr(os, "killpg", lambda _group, _number: None)
    changing = command("labelclear", "/dev/disk/by-partuuid/0a1b2c3d-0000-4000-8000-000000000001", timeout_s=0.5)
    for each, state in (
        (command(timeout_s=0.5), "The operation only reads"),
        (changing, "The operation may already have changed something"),
    ):
        before = datetime.now(UTC)
        with pytest.raises(CommandTimedOut):
            HostRunner().run(each)
        with pytest.raises(CommandHangs) as refused:
            HostRunner().run(each)
        said = str(refused.value)
        assert said.startswith(f"{each} was not started")
        assert state in said
        times = {f"{moment:%Y-%m-%d %H:%M} UTC" for moment in (before, datetime.now(UTC))}
        assert any(moment in said for moment in times)
        hanging = process._hanging[str(each)].process
        hanging.kill()
        hanging.wait(10)


def test_two_that_see_the_end_of_what_hung_at_once_both_go_on(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def poll(self) -> int:
            process._hanging.clear()  # the other one was quicker
            return -9

    install(programs, Tool.ZPOOL, "echo well")
    monkeypatch.setitem(process._hanging, "zpool version", process._Hanging(Ended(), datetime.now(UTC)))  # type: ignore[arg-type]
    assert HostRunner().run(command()).stdout == "well\n"
