"""A runner that starts the real programs, answers for `zpool` and udev, and lets a test in between two commands."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from nasadvisor.host.adapters.process import ENVIRONMENT, Command, HostRunner, Output, Tool
from nasadvisor.host.errors import CommandFailed
from tests.devices.pools import MemoryPools, ZpoolRefused, zdb
from tests.devices.udev import Udev

Hook = Callable[[Command], None]

QUICK: Final = ("strace", "--quiet=all", "--output=/dev/null", "--trace=clock_nanosleep,sync,write")
NO_WAIT: Final = ("--inject=clock_nanosleep:retval=0", "--inject=sync:retval=0")
"""sgdisk sleeps for a second after it wrote, and syncs every file system of the machine (DiskIO::DiskSync() in
diskio-unix.cc of gptfdisk); with five of them in a run, a test of all kill points would take an hour."""


NO_LABEL: Final = 2
"""What zdb ends with where it finds no label (dump_label() in cmd/zdb/zdb.c)."""


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the product may catch it."""


def nothing(_command: Command) -> None:
    """The hook of a test that does not look."""


@dataclass
class Hooks:
    """What a test does around each command. `ran` are all commands so far.

    `torn_write` is the write at which the next sgdisk and the product with it are killed, counted from 1; 0 for none.
    """

    before: Hook = nothing
    after: Hook = nothing
    torn_write: int = 0
    ran: list[Command] = field(default_factory=list)

    @property
    def changed(self) -> list[str]:
        """The commands that could change something, as typed."""
        return [str(command) for command in self.ran if command.mutates]


@dataclass(frozen=True)
class LoopRunner:
    """Runs commands on the loop disks of a test; sgdisk without its pauses, unless `patient`."""

    udev: Udev
    pools: MemoryPools
    hooks: Hooks = field(default_factory=Hooks)
    real: HostRunner = field(default_factory=HostRunner)
    patient: bool = False

    def has(self, tool: Tool) -> bool:
        """See `Runner.has`."""
        return tool in (Tool.ZPOOL, Tool.ZDB, Tool.UDEVADM) or (tool is not Tool.ZFS and self.real.has(tool))

    def holding(self, descriptors: tuple[int, ...]) -> "LoopRunner":
        """See `Runner.holding`."""
        return replace(self, real=self.real.holding(descriptors))

    def run(self, command: Command) -> Output:
        """See `Runner.run`."""
        self.hooks.before(command)
        self.hooks.ran.append(command)
        try:
            output = self._run(command)
        finally:
            if command.mutates:
                self.udev.blind.clear()  # whoever wrote has closed the disk, and udev looks at it
            if command.mutates or command.tool is Tool.UDEVADM:
                self.udev.examine()
        self.hooks.after(command)
        return output

    def _run(self, command: Command) -> Output:
        if command.tool is Tool.UDEVADM:
            return Output("", "", 0, 0.0)
        if command.tool is Tool.SGDISK and not self.patient:
            return self._sgdisk(command)
        if command.tool is Tool.ZDB:
            label = zdb(command.args)
            return Output(label, "", 0 if label else NO_LABEL, 0.0)
        return self._zpool(command) if command.tool is Tool.ZPOOL else self.real.run(command)

    def _sgdisk(self, command: Command) -> Output:
        torn, self.hooks.torn_write = self.hooks.torn_write, 0
        dying = (f"--inject=write:signal=SIGKILL:when={torn}",) if torn else ()
        argv = (*QUICK, *NO_WAIT, *dying, command.tool, *command.args)
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False, env=ENVIRONMENT, pass_fds=self.real.held, timeout=60
        )
        if torn:
            raise Killed
        if done.returncode not in command.expected_codes:
            raise CommandFailed(str(command), done.returncode, done.stderr, mutates=command.mutates)
        return Output(done.stdout, done.stderr, done.returncode, 0.0)

    def _zpool(self, command: Command) -> Output:
        try:
            return Output(self.pools.run(command.args), "", 0, 0.0)
        except ZpoolRefused as refused:
            if 1 not in command.expected_codes:
                raise CommandFailed(str(command), 1, str(refused), mutates=command.mutates) from refused
            return Output("", str(refused), 1, 0.0)
