"""The sampling service: read every counter, and tell what happened since the last reading.

A reading must stay cheap, for it is done every few seconds: one program is started (`zpool iostat`), and one more for
each pool with a log (`zpool list`); the rest are small files. What changes seldom (properties, which disk is below
which vdev) is read again every few minutes, and at once when a pool's vdevs have changed.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.counters import Counters, PoolCounters, VdevCounters, samples_between
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts, Served, Tunables
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.storage.inventory import Pool, VdevClass, leaf_name
from nasadvisor.domain.storage.logs import OFFLINE
from nasadvisor.host.adapters.answer import count_in
from nasadvisor.host.adapters.counters import (
    device_at,
    disk_below,
    disk_fact,
    read_arc,
    read_datasets,
    read_disk,
    read_iostat,
    read_nfs,
    read_totals,
    read_txgs,
    read_written,
    size_of,
)
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.procfs import Mount, parse_memory, parse_mountinfo, read_swaps, text_or_nothing, unescaped
from nasadvisor.host.adapters.zpool_questions import held_bytes
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, MachineUnreadable, OutputUnreadable
from nasadvisor.host.storage.machine import Machine, Roots

ZVOLS: Final = "/dev/zvol/"
ZVOL_DEVICE: Final = "zd"
LARGEST_RATIO: Final = 1e6
"""Holes are not counted in a ratio, and no algorithm makes a record of 16 MiB smaller than a sector of 512."""

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


log = logging.getLogger(__name__)

FACTS_EVERY_S: Final = 300.0
REST_S: Final = 600.0
"""After `zpool iostat` hung: a new one every few seconds would only add to what hangs in the kernel."""

ZFS_TIMEOUT_S: Final = 60.0
COLUMNS: Final = (
    "name,type,sync,logbias,recordsize,volblocksize,secondarycache,primarycache,usedbydataset,"
    "refcompressratio,copies,atime,relatime"
)
NO_VALUE: Final = "-"

Vdevs = Mapping[str, tuple[VdevCounters, ...]]
"""The blocks of `zpool iostat`, by the pool's name."""


@dataclass
class Sampler:
    """Remembers the last reading of one machine. Not for several threads at once."""

    machine: Machine
    tick: Callable[[], float] = time.monotonic
    _last: Counters | None = None
    _facts: tuple[PoolFacts, ...] = ()
    _facts_read_s: float = 0.0
    _rest_until_s: float = 0.0
    _facts_shape: frozenset[tuple[str, str]] = frozenset()
    _logs: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def sample(self) -> Reading:
        """Read the counters; the first call can only tell facts.

        Raises:
            HostError: OpenZFS could not be read.
        """
        if not self._kstats.exists():
            return Reading()
        if self.tick() < self._rest_until_s:
            return Reading()
        try:
            vdevs = read_iostat(self.machine.runner)
        except CommandTimedOut:
            self._rest_until_s = self.tick() + REST_S
            raise
        news: tuple[PoolFacts, ...] = ()
        if _shape(vdevs) != self._facts_shape or self.tick() - self._facts_read_s > FACTS_EVERY_S:
            news = self._read_facts()
            self._facts_shape = _shape(vdevs)
        counters = self._read(vdevs)
        samples = samples_between(self._last, counters) if self._last else ()
        self._last = counters
        return Reading(samples, news)

    @property
    def _kstats(self) -> Path:
        return self.machine.roots.proc / "spl/kstat/zfs"

    def _read_facts(self) -> tuple[PoolFacts, ...]:
        pools = self.machine.pools.read()
        served = read_served(self.machine.roots, self.machine.unsafe_volumes())
        tunables = read_tunables(self.machine.roots.sys, self.machine.roots.proc)
        self._facts = tuple(self._facts_of_each(pools, served, tunables))
        self._logs = {pool.guid: frozenset(log.guid for log in pool.logs if log.kind != "hole") for pool in pools}
        self._facts_read_s = self.tick()
        return self._facts

    def _facts_of_each(
        self, pools: Iterable[Pool], served: Mapping[str, Served], tunables: Tunables
    ) -> Iterator[PoolFacts]:
        """One that cannot be read, or went since it was listed, is no reason to watch none of the others."""
        for pool in pools:
            try:
                if not pool.problem:
                    yield read_pool_facts(self.machine, pool, served, tunables)
            except (CommandFailed, OutputUnreadable) as error:
                log.warning("pool %s is not sampled: %s", pool.name, error)

    def _read(self, vdevs: Vdevs) -> Counters:
        commits, writes = read_nfs(self.machine.roots.proc)
        arc, levels = read_arc(self._kstats)
        pools = tuple(self._read_pool(facts, vdevs, commits, writes) for facts in self._facts)
        names = {name for pool in pools for name in pool.disks}
        disks = {name: disk for name in names if (disk := read_disk(self.machine.roots.sys, name))}
        return Counters(int(self.machine.clock().timestamp()), self.tick(), pools, disks, arc, levels)

    def _read_pool(self, facts: PoolFacts, vdevs: Vdevs, nfs_commits: int, nfs_writes: int) -> PoolCounters:
        directory, blocks = self._kstats / facts.name, vdevs.get(facts.name, ())
        leaves = {leaf.guid: leaf for leaf in facts.leaves}
        return PoolCounters(
            guid=facts.guid,
            name=facts.name,
            datasets=tuple(read_datasets(directory)),
            vdevs=tuple(self._with_bytes(vdev, leaves[vdev.guid]) for vdev in blocks if vdev.guid in leaves),
            totals=replace(read_totals(directory), nfs_commits=nfs_commits, nfs_writes=nfs_writes),
            txgs=read_txgs(directory),
            disks=frozenset(leaf.disk for leaf in facts.leaves if leaf.disk),
            log_bytes=self._log_bytes(facts),
        )

    def _log_bytes(self, facts: PoolFacts) -> int:
        """What the logs hold at this moment, which no counter tells. Where there is none, no program is started."""
        logs = self._logs.get(facts.guid, frozenset())
        try:
            held = held_bytes(self.machine.runner, facts.name) if logs else {}
        except CommandFailed:  # exported since the facts were read
            return 0
        return sum(held.get(guid, 0) for guid in logs)

    def _with_bytes(self, vdev: VdevCounters, leaf: LeafFacts) -> VdevCounters:
        """With what was written to an SSD: only they wear by it, and there can be a thousand hard disks."""
        if leaf.rotational or not leaf.device:
            return vdev
        return replace(vdev, written_bytes=read_written(self.machine.roots.sys, leaf.device))


def _shape(vdevs: Vdevs) -> frozenset[tuple[str, str]]:
    """Which pools and vdevs there are."""
    return frozenset((pool, vdev.guid) for pool, each in vdevs.items() for vdev in each)


def read_pool_facts(machine: Machine, pool: Pool, served: Mapping[str, Served], tunables: Tunables) -> PoolFacts:
    """The properties and leaves of one pool; `served` and `tunables` are the host's, the same for all its pools.

    Raises:
        HostError: `zfs list` failed.
    """
    return PoolFacts(
        guid=pool.guid,
        name=pool.name,
        read_at=machine.clock().isoformat(timespec="seconds"),
        datasets=() if pool.suspended else _datasets_of(machine, pool.name, served),
        leaves=tuple(_leaves(pool, machine.roots.sys)),
        tunables=tunables,
    )


def _datasets_of(machine: Machine, pool: str, served: Mapping[str, Served]) -> tuple[DatasetFacts, ...]:
    found = read_dataset_facts(machine.runner, pool, served)
    swaps = {Path(path).name for path in read_swaps(machine.roots.proc)}
    if not any(name.startswith(ZVOL_DEVICE) for name in swaps):
        return found
    links = machine.roots.dev / "zvol"
    devices = {each.name: (links / each.name.replace(" ", "+")).resolve().name for each in found if each.is_volume}
    return tuple(replace(each, is_swap=devices.get(each.name) in swaps) for each in found)


def read_dataset_facts(runner: Runner, pool: str, served: Mapping[str, Served]) -> tuple[DatasetFacts, ...]:
    """The properties of every file system and volume of a pool; `served` by name, those of which something is known.

    Raises:
        HostError: `zfs list` failed, or printed something else than it does.
    """
    args = ("list", "-H", "-p", "-r", "-t", "filesystem,volume", "-o", COLUMNS, pool)
    lines = runner.run(Command(Tool.ZFS, args, timeout_s=ZFS_TIMEOUT_S)).stdout.split("\n")
    rows = (line.split("\t") for line in lines if line.count("\t") == COLUMNS.count(","))
    return tuple(_dataset(row, served_as(row[0], served)) for row in rows)


def _dataset(cells: list[str], served: Served) -> DatasetFacts:
    name, kind, sync, logbias, recordsize, volblocksize, secondarycache, primarycache, used = cells[:9]
    ratio, copies, atime, relatime = cells[9:]
    block_bytes = _number(volblocksize if kind == "volume" else recordsize)
    caching = (secondarycache, primarycache)
    return DatasetFacts(
        *(name, kind == "volume", sync, logbias, block_bytes, *caching, _number(used), served),
        compress_ratio=_ratio(ratio),
        copies=_number(copies) or 1,
        keeps_access_times=(atime, relatime) == ("on", "off"),
    )


def _ratio(cell: str) -> float:
    """ "1.53", or "1.53x" as releases before 2.0 print it."""
    try:
        found = float(cell.removesuffix("x"))
    except ValueError:
        raise OutputUnreadable("zfs list", f"{cell[:60]!r} is no ratio") from None
    return found if 1 <= found < LARGEST_RATIO else 1.0


def _number(cell: str) -> int:
    found = 0 if cell == NO_VALUE else count_in(cell)
    if found is None:
        raise OutputUnreadable("zfs list", f"{cell[:60]!r} is no number of bytes")
    return found


def _leaves(pool: Pool, sys: Path) -> Iterable[LeafFacts]:
    """The leaves in use. A cache that is out of service is none: else it would be judged as one that serves nothing."""
    for vdev_class, tops in pool.by_class().items():
        is_cache = vdev_class is VdevClass.CACHE
        for leaf in (leaf for top in tops for leaf in top.leaves() if leaf.kind != "hole"):
            if is_cache and leaf.state == OFFLINE:
                continue
            device = device_at(sys, leaf.path) if leaf.is_open else ""
            disk = disk_below(sys, device)
            yield LeafFacts(
                guid=leaf.guid,
                vdev_class=vdev_class,
                name=leaf_name(leaf.path) or leaf.name,
                disk=disk,
                rotational=disk_fact(sys, disk, "queue/rotational") == "1" if disk else False,
                write_cache=disk_fact(sys, disk, "queue/write_cache") if disk else "",
                device=device,
                size_bytes=size_of(sys, device),
                disk_bytes=size_of(sys, disk),
            )


def module_parameter(sys: Path, name: str) -> int | None:
    """A parameter of the module that is a number; None where the release has none of that name."""
    return count_in(text_or_nothing(sys / "module/zfs/parameters" / name))


def read_tunables(sys: Path, proc: Path) -> Tunables:
    """The module parameters that matter; a release without one has 0 there, or what `Tunables` says."""
    perhaps = partial(module_parameter, sys)

    def parameter(name: str) -> int:
        return perhaps(name) or 0

    return Tunables(
        dirty_data_max_bytes=parameter("zfs_dirty_data_max"),
        wrlog_data_max_bytes=parameter("zfs_wrlog_data_max"),
        txg_timeout_s=parameter("zfs_txg_timeout") or 5,
        l2arc_write_max_bytes=parameter("l2arc_write_max"),
        l2arc_noprefetch=parameter("l2arc_noprefetch"),
        arc_max_bytes=parameter("zfs_arc_max"),
        memory_bytes=_memory_bytes(proc),
        zfs_version=text_or_nothing(sys / "module/zfs/version"),
        l2arc_feed_secs=parameter("l2arc_feed_secs") or 1,
        l2arc_feed_min_ms=parameter("l2arc_feed_min_ms") or 200,
        l2arc_feed_again=1 if perhaps("l2arc_feed_again") is None else parameter("l2arc_feed_again"),
        l2arc_dwpd_limit=perhaps("l2arc_dwpd_limit"),
        zil_special_is_slog=perhaps("zil_special_is_slog"),
    )


def _memory_bytes(proc: Path) -> int:
    try:
        return parse_memory(text_or_nothing(proc / "meminfo"))
    except MachineUnreadable:
        return 0
