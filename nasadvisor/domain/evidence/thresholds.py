"""The numbers by which waiting is reckoned and sizes are chosen; the bar of verdicts is in `verdict`.

Those marked [policy] are our own judgement, not facts of OpenZFS; docs/explanation/evidence.md shows how they do on
workloads whose answer is known.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.units import GIB, KIB, MIB

US: Final = 1_000
"""Nanoseconds in a microsecond."""


@dataclass(frozen=True)
class Span:
    """How long must have been watched. `yes_s` of busy time is enough to say that something helps; `no_s` of watching
    is needed to say that nothing does, for a quiet hour says nothing about the night's backup."""

    yes_s: float
    no_s: float

    def missing_s(self, answer: Answer, seen_s: float) -> float:
        """How much longer must be watched for this answer; below zero where it was enough."""
        return (self.yes_s if answer is Answer.HELPS else self.no_s) - seen_s


HISTORY: Final = Span(yes_s=300, no_s=86400)
"""[policy] For the pages: five minutes of waiting are a fact; a whole day must pass before "no"."""

SPOT: Final = Span(yes_s=10, no_s=20)
"""[policy] For a measurement that somebody starts while the workload runs: it speaks for that time only."""

# A separate log

FAST_SSD_COMMIT_NS: Final = 138 * US
SLOW_SSD_COMMIT_NS: Final = 2093 * US
"""Write and flush of an SSD with power-loss protection (Intel 710) and of a quick one without (Samsung 950 PRO):
FreeBSD `diskinfo -wS`, base r320683. An SSD that was not tested may be either."""

SLOW_SSD_IN_LINE_NS: Final = 4 * SLOW_SSD_COMMIT_NS
"""[policy] What each of many writers waits for such a slow one at the most: the block under way and one's own, both
on the slower side of a mirror. The most that a commit waited for a log in the lab is 6.4 ms
(docs/explanation/evidence.md)."""

NVME_COMMIT_NS: Final = (12 * US, 100 * US)
PROTECTED_COMMIT_NS: Final = (FAST_SSD_COMMIT_NS, 300 * US)
UNPROTECTED_COMMIT_NS: Final = (449 * US, 7 * 1000 * US)
"""Write and flush by the kind of SSD, fastest and slowest that was published, and room for an older one.

With power-loss protection on NVMe: 12 to 58 us for 16 KiB (Samsung PM9A3, Solidigm D7-P5520; M. Callaghan, "SSDs, power
loss protection and fsync latency"), 48 us for 4 KiB (Intel Optane M10; d-uzlov/k8s-homelab, test-fsync.md). On SATA:
138 us, see above, up to what a test calls good. Without protection: 449 us (Crucial T500; Callaghan) to 7 ms (T-Force
TM8FPL500G; test-fsync.md)."""

UNKNOWN_COMMIT_NS: Final = 30 * 1000 * US
"""[policy] What a flush that nobody counts adds to a commit at the most: three turns of a disk with 7,200 a minute."""

COMMITS_A_BLOCK: Final = 4
"""[policy] So many commits to one block of the ZIL are explained by programs that commit at once; more found nothing to
write: fsync(2) of a file without changes returns at once, and is counted all the same (zil_commit_count)."""

SATA_LOG_BYTES_PER_S: Final = 450 * 1_000_000
"""[policy] What a log on SATA can take: 6 Gb/s carry 600 MB/s with their coding (8b/10b), and good SSDs write 450 to
520. What asks for more is held up by such a log: sixteen writers of 1 MiB got a third of what the disks gave (OpenZFS
PR 14378)."""

NVME_LOG_BYTES_PER_S: Final = (1000 * 1_000_000, 2000 * 1_000_000)
"""[policy] The same of a log on NVMe with power-loss protection, of a small one and of a quick one: by data sheets
Intel's Optane P1600X (118 GB) takes 1.05 GB/s, the P4800X 2.0."""

SMALL_BYTES: Final = 16 * KIB
"""Blocks up to here are what a log is for, and what SSDs are tested with; what a larger one takes hangs on its size."""

MOST_SHARE: Final = 0.5
"""[policy] "Most" of the demand."""

LARGE_COMMIT_BYTES: Final = 4 * MIB
"""[policy] From here on a commit is a stream that the disks take as well as a log does. One log SSD was 66 % slower
than the pool for such (OpenZFS PR 14378); zil_slog_bulk sends more than 64 MiB of one commit with low priority."""

# A cache

READS_AGGREGATED: Final = 16
"""[policy] So many reads ahead become one read of a disk at the most (zfs_vdev_aggregation_limit is 1 MiB, and most
blocks have 64 KiB or more); what programs wait for lies where chance has it, and is read block by block."""

OTHER_READS: Final = 0.1
"""[policy] Where fewer of the disks' reads were missed by the ARC, the others are those of a scrub or a resilver."""

ARC_SHRUNK: Final = 0.5
"""[policy] An ARC whose target is below this share of its limit was pushed back."""

ARC_FULL: Final = 0.90
"""[policy] An ARC below this share of its target is still filling: its misses are first reads."""

STREAM_SHARE: Final = 0.70
"""[policy] With so many of the misses being prefetches, reads are streams."""

STREAM_STARTS: Final = 1 / 8
"""[policy] So many reads of a stream are waited for beside those that were read ahead: its first ones, and those that
came too late. In OpenZFS issue 10687 it was one in nineteen."""

ARC_LIMIT_SHARE: Final = 0.40
"""[policy] An ARC limited to less than this share of the memory should be enlarged first. Some installers limit it
to 10 % of the memory (at most 16 GiB); OpenZFS itself would take half of the memory or more (zfs(4))."""

ARC_AT_LIMIT: Final = 0.95
"""The ARC's target is at its limit."""

L2_USEFUL: Final = 0.10
"""[policy] A cache in use earns its place if it serves this share of what the ARC missed."""

# Sizes

SMALLEST_LOG_BYTES: Final = GIB
LOG_SAFETY: Final = 2
TXGS_IN_LOG: Final = 5
"""TXG_CONCURRENT_STATES (3) and TXG_DEFER_SIZE (2), include/sys/txg.h: how many transaction groups hold log blocks."""

LARGEST_CACHE_ARCS: Final = 5
SMALLEST_CACHE_BYTES: Final = GIB
"""A smaller one is not kept over a reboot (L2ARC_REBUILD_MIN_SIZE; persistent L2ARC, zfs(4))."""

HEADER_SHARE: Final = 0.10
"""[policy] At most this share of the largest ARC may be spent on the headers of the cache."""

FEWEST_READS_FOR_BLOCK: Final = 1000
"""[policy] From so many reads on their mean is taken for the pool's block size."""

SMALLEST_BLOCK: Final = 4 * KIB
