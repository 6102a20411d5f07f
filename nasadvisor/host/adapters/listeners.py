"""Which program listens at a TCP port: from /proc/net/tcp and /proc/PID/fd (proc_net(5), proc_pid_fd(5))."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from nasadvisor.host.adapters.procfs import text_or_nothing

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
    return next((_process(folder) for folder in _folders(proc) if _holds(folder, inodes)), Listener("", 0, "", ""))


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


def _folders(proc: Path) -> Iterator[Path]:
    return (folder for folder in proc.glob("[0-9]*") if folder.name.isdecimal())


def _holds(folder: Path, inodes: frozenset[str]) -> bool:
    try:
        return any(str(link.readlink()) in {f"socket:[{inode}]" for inode in inodes} for link in folder.glob("fd/*"))
    except OSError:  # it has ended, or is not ours to see
        return False


def _process(folder: Path) -> Listener:
    unit = _UNIT.search(text_or_nothing(folder / "cgroup"))
    command = text_or_nothing(folder / "cmdline").replace("\0", " ").strip()
    return Listener(text_or_nothing(folder / "comm").strip(), int(folder.name), unit[1] if unit else "", command)
