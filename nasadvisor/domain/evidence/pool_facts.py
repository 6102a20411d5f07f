"""What has to be known of a pool to make sense of its counters, and changes seldom."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import GIB

DEFAULT_DIRTY_DATA_MAX: Final = 4 * GIB
"""zfs_dirty_data_max_max's own upper bound (zfs(4)): what a machine with 40 GiB of memory or more has by default."""


class Served(StrEnum):
    """How another machine's disk lies on a dataset so that its writes may be called saved before they are."""

    NO = "no"
    BLOCK = "block"  # as a disk over iSCSI or Fibre Channel
    NFS_ASYNC = "nfs-async"  # over NFS with the option async: the server answers before anything is on disk
    VM_UNSAFE = "vm-unsafe"  # of a virtual machine whose drive has cache=unsafe, which drops its flushes


@dataclass(frozen=True)
class DatasetFacts:
    """Properties of a file system or volume (zfsprops(7)). `block_bytes` is recordsize or volblocksize.

    `used_bytes` is what it holds itself, without snapshots and children (usedbydataset). `compress_ratio` is
    refcompressratio, that of its own blocks. `keeps_access_times` is atime=on without relatime: each read of a file
    changes its inode. `is_swap` is a volume that this host swaps to.
    """

    name: str
    is_volume: bool
    sync: str
    logbias: str
    block_bytes: int
    secondarycache: str = "all"
    primarycache: str = "all"
    used_bytes: int = 0
    served: Served = Served.NO
    compress_ratio: float = 1.0
    copies: int = 1
    keeps_access_times: bool = False
    is_swap: bool = False

    @property
    def cached(self) -> str:
        """What of it may enter a cache: "all", "metadata" or "none". What the ARC does not keep, it never drops."""
        properties = (self.secondarycache, self.primarycache)
        return next((kind for kind in ("none", "metadata") if kind in properties), "all")


@dataclass(frozen=True)
class Tunables:
    """Module parameters (zfs(4)), as the host has them now. Bytes and seconds; 0 where the release has none.

    `zfs_version` is the module's release, in its own words ("2.3.9-1"). `l2arc_dwpd_limit` (percent of a cache's size a
    day, 0 for no limit) and `zil_special_is_slog` are None where the module has no such parameter.
    """

    dirty_data_max_bytes: int = 0
    wrlog_data_max_bytes: int = 0
    txg_timeout_s: int = 5
    l2arc_write_max_bytes: int = 0
    l2arc_noprefetch: int = 1
    arc_max_bytes: int = 0
    memory_bytes: int = 0
    zfs_version: str = ""
    l2arc_feed_secs: int = 1
    l2arc_feed_min_ms: int = 200
    l2arc_feed_again: int = 1
    l2arc_dwpd_limit: int | None = None
    zil_special_is_slog: int | None = None

    @property
    def zil_on_special(self) -> bool:
        """Whether special vdevs take the ZIL of a pool without a log (`releases.ZIL_ON_SPECIAL`)."""
        return self.zil_special_is_slog is not None or bool(releases.ZIL_ON_SPECIAL.is_in(self.zfs_version))

    @property
    def reads_streams_from_cache(self) -> bool:
        """Whether a cache serves what is read ahead; a release that cannot be read may be a new one."""
        return not self.l2arc_noprefetch or releases.PREFETCH_FROM_CACHE.is_in(self.zfs_version) is not False

    @property
    def most_in_log_bytes(self) -> int:
        """zfs_wrlog_data_max, else its default of twice zfs_dirty_data_max: more never waits in a log."""
        return self.wrlog_data_max_bytes or 2 * (self.dirty_data_max_bytes or DEFAULT_DIRTY_DATA_MAX)


@dataclass(frozen=True)
class LeafFacts:
    """A leaf vdev: its class, and the kernel's names of its disk or partition and of the disk below, "" if unknown.

    `write_cache` is /sys/block/DISK/queue/write_cache: with "write through" the kernel sends no flushes at all.
    `size_bytes` is that of the disk or partition, `disk_bytes` that of the disk below; 0 if unknown.
    """

    guid: str
    vdev_class: VdevClass
    name: str
    disk: str
    rotational: bool
    write_cache: str = ""
    device: str = ""
    size_bytes: int = 0
    disk_bytes: int = 0


@dataclass(frozen=True)
class PoolFacts:
    """One pool. `read_at` is UTC in ISO 8601."""

    guid: str
    name: str
    read_at: str
    datasets: tuple[DatasetFacts, ...] = ()
    leaves: tuple[LeafFacts, ...] = ()
    tunables: Tunables = Tunables()

    def dataset(self, name: str) -> DatasetFacts | None:
        """The dataset with this name."""
        return next((each for each in self.datasets if each.name == name), None)

    def leaves_of(self, *classes: VdevClass) -> tuple[LeafFacts, ...]:
        """The leaves of these classes."""
        return tuple(leaf for leaf in self.leaves if leaf.vdev_class in classes)
