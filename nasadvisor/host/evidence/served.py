"""Which datasets hold the disks of other machines in a way that lets them think something saved that is not yet.

Read from what the kernel serves now, and from what the host's platform knows. What is not there reads as nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.pool_facts import Served
from nasadvisor.host.adapters.procfs import Mount, parse_mountinfo, text_or_nothing, unescaped
from nasadvisor.host.storage.machine import Roots

ZVOLS: Final = "/dev/zvol/"

TARGETS: Final = ("kernel/config/target/core/*/*/udev_path", "kernel/scst_tgt/devices/*/filename")
"""Below /sys: what LIO and SCST serve as disks, each a file with the path of the volume or image."""

WRITE_THROUGH: Final = "write_through"
"""Beside SCST's `filename`: with "1" it says nothing is saved before it is on disk."""

EXPORTS: Final = ("fs/nfsd/exports", "fs/nfs/exports")
"""Below /proc: what the NFS server exports to clients that asked of late, with its options (exports(5))."""


def read_served(roots: Roots, unsafe_volumes: Iterable[str] = ()) -> dict[str, Served]:
    """By the name of the dataset; `unsafe_volumes` (`Machine`) stand there by the last part of their names."""
    mounts = [each for each in parse_mountinfo(text_or_nothing(roots.proc / "self/mountinfo")) if each.kind == "zfs"]
    found = dict.fromkeys(unsafe_volumes, Served.VM_UNSAFE)
    found |= {name: Served.NFS_ASYNC for path in _async_exports(roots.proc) for name in _dataset_at(path, mounts)}
    return found | {name: Served.BLOCK for path in _targets(roots.sys) for name in _dataset_at(path, mounts)}


def served_as(name: str, served: Mapping[str, Served]) -> Served:
    """What is known of a dataset."""
    return served.get(name) or served.get(name.rpartition("/")[2], Served.NO)


def _targets(sys: Path) -> Iterator[str]:
    for pattern in TARGETS:
        for file in sorted(sys.glob(pattern)):
            if text_or_nothing(file.with_name(WRITE_THROUGH)) != "1":
                yield text_or_nothing(file).partition("\n")[0]


def _async_exports(proc: Path) -> Iterator[str]:
    """The paths that any client is served with `async`."""
    for line in "\n".join(text_or_nothing(proc / each) for each in EXPORTS).split("\n"):
        path, _, clients = line.partition("\t")
        if not path.startswith("#") and "async" in re.split(r"[(),]", clients):
            yield unescaped(path)


def _dataset_at(path: str, mounts: Iterable[Mount]) -> Iterator[str]:
    """The volume of a path below /dev/zvol, where "+" stands for a space, or the file system that a file lies on."""
    if path.startswith(ZVOLS):
        yield path.removeprefix(ZVOLS).replace("+", " ")
        return
    above = [each for each in mounts if path == each.target or path.startswith(each.target.rstrip("/") + "/")]
    if above:
        yield max(above, key=lambda each: len(each.target)).source
