"""Starting programs: the only module that may.

A closed table of commands (`allowed`), programs in fixed directories, arguments as tuples, no shell, no inherited
environment. What is not in the table is refused here, whatever a plan, a record or a message says.
"""

import logging
import os
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from nasadvisor.host.adapters.allowed import shape_of
from nasadvisor.host.errors import (
    CommandFailed,
    CommandForbidden,
    CommandHangs,
    CommandLost,
    CommandNotStarted,
    CommandTimedOut,
    ToolMissing,
)

log = logging.getLogger(__name__)

DIRECTORIES: Final = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
# Not plain "C": there, `zpool status -j` breaks off at the first path that is not ASCII, and says it succeeded.
ENVIRONMENT: Final = {"LC_ALL": "C.UTF-8", "PATH": ":".join(DIRECTORIES), "HOME": "/"}
GRACE_S: Final = 5.0  # between SIGTERM and SIGKILL, and after SIGKILL


class Tool(StrEnum):
    """Every program that this product can start."""

    BLKDISCARD = "blkdiscard"
    BPFTRACE = "bpftrace"
    DPKG_QUERY = "dpkg-query"
    FIO = "fio"
    IONICE = "ionice"
    JOURNALCTL = "journalctl"
    NVME = "nvme"
    PARTX = "partx"
    PERL = "perl"
    PG_DUMP = "pg_dump"
    PG_RESTORE = "pg_restore"
    PYTHON = "python3"
    SGDISK = "sgdisk"
    SMARTCTL = "smartctl"
    SYSTEMCTL = "systemctl"
    UDEVADM = "udevadm"
    ZDB = "zdb"
    ZFS = "zfs"
    ZPOOL = "zpool"


# Names of the Debian packages; Ubuntu and what is built on Debian have the same ones.
PACKAGES: Final = {
    Tool.BLKDISCARD: "util-linux",
    Tool.BPFTRACE: "bpftrace",
    Tool.DPKG_QUERY: "dpkg",
    Tool.FIO: "fio",
    Tool.IONICE: "util-linux",
    Tool.JOURNALCTL: "systemd",
    Tool.NVME: "nvme-cli",
    Tool.PARTX: "util-linux",
    Tool.PERL: "perl-base",
    Tool.PG_DUMP: "postgresql-client",
    Tool.PG_RESTORE: "postgresql-client",
    Tool.PYTHON: "python3",
    Tool.SGDISK: "gdisk",
    Tool.SMARTCTL: "smartmontools",
    Tool.SYSTEMCTL: "systemd",
    Tool.UDEVADM: "udev",
    Tool.ZDB: "zfsutils-linux",
    Tool.ZFS: "zfsutils-linux",
    Tool.ZPOOL: "zfsutils-linux",
}


@dataclass(frozen=True)
class Command:
    """One call of a program.

    `expected_codes` are the exit codes that are an answer rather than a failure. `prints_to` is an open file that takes
    what the program prints, which is no part of its answer then. `mutates` is what the table says: whether it can
    change anything on the machine.

    Raises:
        CommandForbidden: it is not in the table of what may be run.
    """

    tool: Tool
    args: tuple[str, ...]
    timeout_s: float
    expected_codes: frozenset[int] = frozenset({0})
    prints_to: int | None = None
    mutates: bool = field(init=False)

    def __post_init__(self) -> None:
        shape = shape_of((self.tool, *self.args))
        if shape is None:
            raise CommandForbidden(str(self))
        object.__setattr__(self, "mutates", shape.mutates)

    def __str__(self) -> str:
        """The command as it can be pasted into a shell."""
        return shlex.join((self.tool, *self.args))


@dataclass(frozen=True)
class Output:
    """What a command answered. Bytes that are not UTF-8 are shown as backslash escapes.

    It took `seconds`, and of a processor `cpu_s` as the kernel counted it, for itself and what it started.
    """

    stdout: str
    stderr: str
    code: int
    seconds: float
    cpu_s: float = 0.0


class Runner(Protocol):
    """Runs commands on one machine."""

    def has(self, tool: Tool) -> bool:
        """Whether the program is installed."""
        ...

    def holding(self, descriptors: tuple[int, ...]) -> "Runner":
        """The same runner, whose commands keep these descriptors open: a lock stays held until they end."""
        ...

    def run(self, command: Command) -> Output:
        """Run to the end.

        Raises:
            ToolMissing: the program is not installed.
            CommandFailed: its exit code is not among the expected ones.
            CommandTimedOut: it took longer than `timeout_s`.
            CommandHangs: the same command could not be ended before, and hangs still.
            CommandNotStarted: the kernel did not start it.
            CommandLost: its answer could not be read, so it was ended.
        """
        ...


@dataclass(frozen=True)
class HostRunner:
    """The runner of the machine this process is on. `held` are descriptors that its commands inherit."""

    held: tuple[int, ...] = ()

    def holding(self, descriptors: tuple[int, ...]) -> "HostRunner":
        """See `Runner.holding`."""
        return HostRunner(self.held + descriptors)

    def has(self, tool: Tool) -> bool:
        """See `Runner.has`."""
        return _executable(tool) is not None

    def run(self, command: Command) -> Output:
        """See `Runner.run`."""
        executable = _executable(command.tool)
        if executable is None:
            raise ToolMissing(command.tool, PACKAGES[command.tool], DIRECTORIES)
        _refuse_beside(command)
        log.log(logging.INFO if command.mutates else logging.DEBUG, "running: %s", command)
        output = _run(executable, command, self.held)
        log.debug("exit code %d after %.3f s: %s", output.code, output.seconds, command)
        if output.code not in command.expected_codes:
            log.warning("exit code %d: %s: %s", output.code, command, output.stderr.strip())
            raise CommandFailed(str(command), output.code, output.stderr, mutates=command.mutates)
        return output


def _executable(tool: Tool) -> Path | None:
    paths = (Path(directory, tool) for directory in DIRECTORIES)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


@dataclass(frozen=True)
class _Hanging:
    """A process that not even SIGKILL has ended."""

    process: subprocess.Popen[str]
    since: datetime


_hanging: Final[dict[str, _Hanging]] = {}
"""By the command as typed. A further one would hang beside it, and with each reading there would be one more."""


def _refuse_beside(command: Command) -> None:
    hanging = _hanging.get(str(command))
    if hanging is None:
        return
    if hanging.process.poll() is None:
        since = f"{hanging.since:%Y-%m-%d %H:%M} UTC"
        raise CommandHangs(str(command), command.timeout_s, since, mutates=command.mutates)
    _hanging.pop(str(command), None)


class CountedProcess(subprocess.Popen[str]):
    """A process that keeps what the kernel counted of it: it tells that once, to who waits for the end (wait4(2))."""

    cpu_s = 0.0

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """As in `subprocess`, which calls waitpid(2) here."""
        try:
            pid, status, usage = os.wait4(self.pid, wait_flags)
        except ChildProcessError:
            return self.pid, 0
        self.cpu_s = usage.ru_utime + usage.ru_stime
        return pid, status


def _run(executable: Path, command: Command, held: tuple[int, ...]) -> Output:
    started, began_at = time.monotonic(), datetime.now(UTC)
    # Not as a context manager: leaving one waits for the process without limit, and one that hangs in the kernel
    # never ends.
    try:
        process = CountedProcess(
            (str(executable), *command.args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if command.prints_to is None else command.prints_to,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="backslashreplace",
            env=ENVIRONMENT,
            cwd="/",
            pass_fds=held,
            start_new_session=True,  # own process group: helpers end with it, and a Ctrl-C does not reach it
        )
    except OSError as error:
        raise CommandNotStarted(str(command), error) from error
    try:
        stdout, stderr = process.communicate(timeout=command.timeout_s)
    except subprocess.TimeoutExpired:
        ended = _end(process)
        if not ended:
            _hanging[str(command)] = _Hanging(process, began_at)
        log.error("no end after %g s: %s", command.timeout_s, command)  # noqa: TRY400 - it is no surprise
        raise CommandTimedOut(
            str(command), command.timeout_s, mutates=command.mutates, still_running=not ended
        ) from None
    except OSError as error:
        _end(process)
        raise CommandLost(str(command), error, mutates=command.mutates) from error
    except BaseException:
        _end(process)
        raise
    return Output(stdout or "", stderr, process.returncode, time.monotonic() - started, process.cpu_s)


def _end(process: subprocess.Popen[str]) -> bool:
    """End the process group, first kindly; False if it does not even end by SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)
            return True
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    return False
