"""What the kernel tells in /proc, /etc and /sys: mounts, swap, the machine itself, who listens, and its clocks."""

import ctypes
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.trial import Moment
from nasadvisor.domain.storage.inventory import Host, ZfsParameters
from nasadvisor.host.adapters.answer import count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import MachineUnreadable

_ESCAPE: Final = re.compile(r"\\(011|012|040|043|134)")
"""What the kernel escapes: tab, newline, space, "#" and backslash (mangle() in fs/proc_namespace.c)."""

_VERSION_PREFIX: Final = "zfs-"
_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo. `number` is "major:minor" of the device, which btrfs and others make up."""

    number: str
    kind: str
    source: str
    target: str


def read_mounts(proc: Path) -> tuple[Mount, ...]:
    """What is mounted, both as this process sees it and as init does, where that may be read.

    Raises:
        MachineUnreadable: not even the mounts of this process can be read.
    """
    mounts = parse_mountinfo(_read(proc / "self/mountinfo"))
    try:
        mounts += parse_mountinfo(_text(proc / "1/mountinfo"))
    except OSError:
        return mounts
    return tuple(dict.fromkeys(mounts))


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Lines of /proc/PID/mountinfo (proc_pid_mountinfo(5)); the optional fields end at a lone hyphen."""
    mounts = []
    # Not splitlines(): a path may hold a form feed or other characters that it takes for the end of a line.
    for line in text.split("\n"):
        head, _, tail = line.partition(" - ")
        fields, device = head.split(" "), tail.split(" ")
        if len(fields) > 5 and len(device) > 1:
            mounts.append(Mount(fields[2], device[0], unescaped(device[1]), unescaped(fields[4])))
    return tuple(mounts)


def read_swaps(proc: Path) -> tuple[str, ...]:
    """The paths of what is swapped to; none where the kernel has no swap.

    Raises:
        MachineUnreadable: there is such a list but it cannot be read.
    """
    path = proc / "swaps"
    return parse_swaps(_read(path)) if path.exists() else ()


def parse_swaps(text: str) -> tuple[str, ...]:
    """The first column of /proc/swaps (proc_swaps(5)) below its heading."""
    return tuple(unescaped(line.split(" ")[0].split("\t")[0]) for line in text.split("\n")[1:] if line.strip())


def is_running(proc: Path, names: frozenset[str], but_of: int = 0) -> bool:
    """Whether a process with one of these names is there (proc_pid_comm(5)) that was not started by `but_of`."""
    found = (each for each in proc.glob("[0-9]*") if text_or_nothing(each / "comm") in names)
    return any(_parent(text_or_nothing(each / "stat")) != but_of for each in found)


def _parent(stat: str) -> int | None:
    """The fourth field of proc_pid_stat(5); the second, in brackets, may hold anything."""
    fields = stat.rpartition(")")[2].split()
    return count_in(fields[1]) if len(fields) > 1 else None


class HostFacts:
    """The host reader. `node` is the machine's name in documents; "" takes the one it gives itself."""

    def __init__(self, runner: Runner, proc: Path, sys: Path, etc: Path, node: str = "") -> None:
        self._runner = runner
        self._proc = proc
        self._sys = sys
        self._etc = etc
        self._node = node

    def read(self) -> Host:
        """See `HostReader.read`."""
        folder = self._sys / "module/zfs/parameters"
        parameters = {each.name: count_in(text_or_nothing(folder / each.name)) for each in fields(ZfsParameters)}
        return Host(
            node=self._node or socket.gethostname(),
            os_name=parse_os_name(text_or_nothing(self._etc / "os-release")),
            kernel=text_or_nothing(self._proc / "sys/kernel/osrelease"),
            zfs_userland=self._zfs_userland,
            zfs_kernel=text_or_nothing(self._sys / "module/zfs/version"),
            memory_bytes=parse_memory(_read(self._proc / "meminfo")),
            parameters=ZfsParameters(**parameters),
        )

    @cached_property
    def _zfs_userland(self) -> str:
        """Asked once: it does not change within a run, and each start of a program costs."""
        if not self._runner.has(Tool.ZPOOL):
            return ""
        # Exit code 1 if the kernel's part is missing; the first line is printed before that.
        command = Command(Tool.ZPOOL, ("version",), _TIMEOUT_S, frozenset({0, 1}))
        return parse_zfs_version(self._runner.run(command).stdout)


def parse_os_name(text: str) -> str:
    """PRETTY_NAME of os-release(5), "Linux" where it has none."""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip("\"'")
    return "Linux"


def parse_memory(text: str) -> int:
    """MemTotal of /proc/meminfo (proc_meminfo(5)) in bytes.

    Raises:
        MachineUnreadable: it is not there.
    """
    found = re.search(r"^MemTotal:\s*(\d+) kB$", text, re.MULTILINE)
    kibibytes = count_in(found[1]) if found else None
    if kibibytes is None:
        raise MachineUnreadable("/proc/meminfo", "it has no MemTotal")
    return kibibytes * 1024


def parse_zfs_version(text: str) -> str:
    """The version of the userland in the answer of `zpool version`, as in "2.3.9-1"; "" where there is none."""
    first = text.partition("\n")[0].strip()
    return first.removeprefix(_VERSION_PREFIX) if first.startswith(_VERSION_PREFIX) else ""


def unescaped(text: str) -> str:
    """A path as it is, from one of the kernel's lists, where blanks and the like are octal escapes."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), text)


def _read(path: Path) -> str:
    try:
        return _text(path)
    except OSError as error:
        raise MachineUnreadable(str(path), error.strerror or str(error)) from error


def text_or_nothing(path: Path) -> str:
    """The text of a file, stripped; "" where it cannot be read."""
    try:
        return _text(path).strip()
    except OSError:
        return ""


def _text(path: Path) -> str:
    """Without NUL: what is named here becomes a path, and no call takes one with it."""
    return path.read_text(encoding="utf-8", errors="backslashreplace").replace("\0", "\N{REPLACEMENT CHARACTER}")


PROC: Final = Path("/proc")
_LISTENS: Final = "0A"
"""TCP_LISTEN of the kernel's tcp_states.h."""

_UNIT: Final = re.compile(r"/([^/\n]+\.service)(?:/|$)", re.MULTILINE)


@dataclass(frozen=True)
class Listener:
    """A process that listens, with the unit that it belongs to; "" and 0 where only root may see that."""

    name: str
    pid: int
    unit: str
    command: str

    def __str__(self) -> str:
        if not self.pid:
            return "another program (only root can see which)"
        return f"{self.name} (process {self.pid}{f', {self.unit}' if self.unit else ''})"


def listener_at(port: int, host: str = "::", proc: Path = PROC) -> Listener | None:
    """Who listens at a port and would be in the way of somebody who wants to at this address; None if nobody does."""
    inodes = frozenset(
        inode
        for name in ("tcp", "tcp6")
        for address, taken, inode in _sockets(text_or_nothing(proc / "net" / name))
        if taken == port and _meet(host, address)
    )
    if not inodes:
        return None
    folders = (folder for folder in proc.glob("[0-9]*") if folder.name.isdecimal())
    return next((_process(folder) for folder in folders if _holds(folder, inodes)), Listener("", 0, "", ""))


def _sockets(table: str) -> Iterator[tuple[IPv4Address | IPv6Address, int, str]]:
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and fields[3] == _LISTENS:
            address, _, port = fields[1].partition(":")
            # Words of 32 bits in the order of this machine, which is the lowest byte first wherever this runs.
            words = (bytes.fromhex(address[start : start + 8])[::-1] for start in range(0, len(address), 8))
            yield ip_address(b"".join(words)), int(port, 16), fields[9]


def _meet(wanted: str, taken: IPv4Address | IPv6Address) -> bool:
    try:
        ours = ip_address(wanted or "::")
    except ValueError:  # a name
        return True
    return ours.is_unspecified or taken.is_unspecified or ours == taken


def _holds(folder: Path, inodes: frozenset[str]) -> bool:
    try:
        return any(str(link.readlink()) in {f"socket:[{inode}]" for inode in inodes} for link in folder.glob("fd/*"))
    except OSError:  # it has ended, or is not ours to see
        return False


def _process(folder: Path) -> Listener:
    unit = _UNIT.search(text_or_nothing(folder / "cgroup"))
    command = text_or_nothing(folder / "cmdline").replace("\0", " ").strip()
    return Listener(text_or_nothing(folder / "comm").strip(), int(folder.name), unit[1] if unit else "", command)


BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
"""A UUID that the kernel makes anew at each start (random(4))."""

_TIME_ERROR: Final = 5
"""adjtimex(2): the clock is not synchronised to a server, or worse."""

_TIMEX_BYTES: Final = 512
"""More than `struct timex` has on any architecture; all zero, `modes` among it, it asks and sets nothing."""


def read_moment(clock: Callable[[], datetime]) -> Moment:
    """All clocks at once; `clock` tells UTC."""
    up_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return Moment(text_or_nothing(BOOT_ID), up_s, clock(), is_synchronised())


def is_synchronised() -> bool:
    """Whether a time source keeps the wall clock right, by what the kernel says; no where it may not be asked."""
    answer = int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))
    return 0 <= answer < _TIME_ERROR
