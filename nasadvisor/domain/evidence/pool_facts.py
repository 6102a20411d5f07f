"""What has to be known of a pool to make sense of its counters, and changes seldom."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import GIB

DEFAULT_DIRTY_DATA_MAX: Final = 4 * GIB
"""zfs_dirty_data_max_max's own upper bound (zfs(4)): what a machine with 40 GiB of memory or more has by default."""


@dataclass(frozen=True)
class DatasetFacts:
    """Properties of a file system or volume (zfsprops(7)). `block_bytes` is recordsize or volblocksize."""

    name: str
    is_volume: bool
    sync: str
    logbias: str
    block_bytes: int
    secondarycache: str = "all"
    primarycache: str = "all"


@dataclass(frozen=True)
class Tunables:
    """Module parameters (zfs(4)), as the host has them now. Bytes and seconds; 0 where the release has none.

    `zfs_version` is the module's release, in its own words ("2.3.9-1").
    """

    dirty_data_max_bytes: int = 0
    wrlog_data_max_bytes: int = 0
    txg_timeout_s: int = 5
    l2arc_write_max_bytes: int = 0
    l2arc_noprefetch: int = 1
    arc_max_bytes: int = 0
    memory_bytes: int = 0
    zfs_version: str = ""

    @property
    def most_in_log_bytes(self) -> int:
        """zfs_wrlog_data_max, else its default of twice zfs_dirty_data_max: more never waits in a log."""
        return self.wrlog_data_max_bytes or 2 * (self.dirty_data_max_bytes or DEFAULT_DIRTY_DATA_MAX)


@dataclass(frozen=True)
class LeafFacts:
    """A leaf vdev: its class, and the kernel's names of its disk or partition and of the disk below, "" if unknown.

    `write_cache` is /sys/block/DISK/queue/write_cache: with "write through" the kernel sends no flushes at all.
    """

    guid: str
    vdev_class: VdevClass
    name: str
    disk: str
    rotational: bool
    write_cache: str = ""
    device: str = ""


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
