"""The bugs of released OpenZFS that can harm data, from 2.1.0 on. `scripts/releases.py` checks their releases.

Left out is what cannot be told of a pool or hardly happens: QAT cards (until 2.1.10), zstd on arm64 (until 2.2.9 and
2.3.5), kernels before 3.16 (until 2.1.5), file systems older than version 5 that are received (no fix), two races that
were found by reading (arc_release(), dbuf_sync_leaf()), and whatever only stops the machine.
"""

from typing import Final

from nasadvisor.domain.statements import Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.known_bugs import (
    BLK_MQ,
    CLONES,
    CLONING,
    DEDUP,
    DIRECT,
    DRAID,
    ENCRYPTION,
    EXPANDABLE,
    FLASH,
    LARGE,
    LOGS,
    MULTIHOST,
    OWN_CLASS,
    PROJECTS,
    REDACTED,
    REMOVING,
    SIDEACY_DEDUP,
    SPARES_OR_CACHES,
    VDEV_REMOVED,
    VOLUMES,
    Bug,
)
from nasadvisor.domain.storage.releases import spans

CLONING_CAME: Final = "Implementation of block cloning for ZFS"
PRUNING_CAME: Final = "Add DDT prune command"
FINER_DEDUP_LOCKS: Final = "DDT: Reduce global DDT lock scope during writes"

FILES: Final = (
    Bug(
        "dirty-holes",
        Level.CRITICAL,
        spans("2.1.0 2.1.14", "2.2.0 2.2.2"),
        (),
        _("Copies of files that were just written can contain zeros instead of data (openzfs 15526)."),
        _("`echo 0 > /sys/module/zfs/parameters/zfs_dmu_offset_next_sync` makes it rarer."),
        ("dnode_is_dirty: check dnode and its data for dirtiness",),
    ),
    Bug(
        "mapped-holes",
        Level.CRITICAL,
        spans("2.1.0 2.1.2"),
        (),
        _("Copies of memory-mapped files can contain zeros instead of data (openzfs 11900)."),
        "",
        ("Fix lseek(SEEK_DATA/SEEK_HOLE) mmap consistency", "Restore dirty dnode detection logic"),
    ),
    Bug(
        "unsynced-holes",
        Level.CRITICAL,
        spans("2.1.10 2.1.11"),
        (),
        _("Copies of files that were just written can contain zeros instead of data (openzfs 14753)."),
        "",
        ('Revert "ZFS_IOC_COUNT_FILLED does unnecessary txg_wait_synced()"',),
        "ZFS_IOC_COUNT_FILLED does unnecessary txg_wait_synced()",
    ),
    Bug(
        "mapped-reads",
        Level.CRITICAL,
        spans("2.1.0 2.1.12"),
        (),
        _("Reading a file while a program maps it into memory can return wrong data (openzfs 13608)."),
        "",
        ("Fix buffered/direct/mmap I/O race",),
    ),
    Bug(
        "mapped-writes",
        Level.WARNING,
        spans("2.1.0 2.2.4"),
        (),
        _("Copying a file can miss data that a program has just written through a memory map (openzfs 15933)."),
        "",
        ("Fix corruption caused by mmap flushing problems",),
    ),
    Bug(
        "free-ranges",
        Level.WARNING,
        spans("2.1.0 2.3.7", "2.4.0 2.4.2"),
        (),
        _(
            "A rare race while data is freed can leave a pool that can no longer be imported for writing (openzfs "
            "18235)."
        ),
        "",
        ("Prevent range tree corruption race by updating dnode_sync()",),
    ),
    Bug(
        "direct-io-error",
        Level.WARNING,
        spans("2.3.0 2.3.7", "2.4.0 2.4.2"),
        (DIRECT,),
        _("A failing direct write can use freed memory and so damage the next data written (openzfs 18440)."),
        _("`echo 0 > /sys/module/zfs/parameters/zfs_dio_enabled` turns Direct I/O off."),
        ("dmu_direct: avoid UAF in dmu_write_direct_done()",),
        "Adding Direct IO Support",
    ),
    Bug(
        "project-attributes",
        Level.WARNING,
        spans("2.1.0 2.3.0"),
        (PROJECTS,),
        _("Assigning a project to a file from before project quotas deletes its extended attributes (openzfs 16287)."),
        _("Do not assign a project to such files."),
        ("Fix sa_add_projid to lookup and update SA_ZPL_DXATTR (avoid DXATTR loss)",),
    ),
    Bug(
        "volume-flushes",
        Level.CRITICAL,
        spans("2.2.7 2.2.8", "2.3.0 2.3.2"),
        (VOLUMES,),
        _(
            "A power cut loses data that guests on volumes believe to be saved: their flushes are ignored (openzfs "
            "17131)."
        ),
        "",
        ("linux: zvols: correctly detect flush requests",),
        "config: remove HAVE_REQ_OP_* and HAVE_REQ_*",
    ),
    Bug(
        "volume-queues",
        Level.CRITICAL,
        spans("2.2.1 2.2.9", "2.3.0 2.3.5"),
        (VOLUMES, BLK_MQ),
        _(
            "A power cut loses data that guests on volumes believe to be saved: their flushes are ignored (openzfs "
            "17761)."
        ),
        _("Set the parameter zvol_use_blk_mq back to 0 and restart the host."),
        ("zvol: Fix blk-mq sync",),
        'Revert "zvol: Temporally disable blk-mq"',
    ),
)

CLONES_OF_BLOCKS: Final = (
    Bug(
        "clone-first",
        Level.CRITICAL,
        spans("2.2.0 2.2.4"),
        (CLONING,),
        _("Files copied by cloning can return wrong data when read (openzfs 15526, 15933)."),
        _("From 2.2.1 on, `echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        (
            "dmu_buf_will_clone: fix race in transition back to NOFILL",
            "dbuf: Handle arcbuf assignment after block cloning",
            "dbuf: Set dr_data when unoverriding after clone",
            "Fix cloning into mmaped and cached file",
            "Fix read errors race after block cloning",
            "BRT: Fix holes cloning",
            "Fix corruption caused by mmap flushing problems",
        ),
        CLONING_CAME,
    ),
    Bug(
        "clone-crash",
        Level.WARNING,
        spans("2.2.0 2.2.3"),
        (CLONING,),
        _("After a crash, the import can fail repeatedly because of files cloned just before (openzfs 15543)."),
        _("From 2.2.1 on, `echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        ("ZIL: Do not encrypt block pointers in lr_clone_range_t", "ZIL: Do not clone blocks from the future"),
        CLONING_CAME,
    ),
    Bug(
        "clone-into-encrypted",
        Level.WARNING,
        spans("2.2.0 2.2.1"),
        (CLONING, ENCRYPTION),
        _(
            "Reading files that were cloned from an unencrypted into an encrypted dataset stops the pool (openzfs "
            "15464)."
        ),
        "",
        ("Fix block cloning between unencrypted and encrypted datasets",),
        CLONING_CAME,
    ),
    Bug(
        "clone-after-removal",
        Level.CRITICAL,
        spans("2.2.0 2.2.8", "2.3.0 2.3.2"),
        (CLONES, VDEV_REMOVED),
        _("Deleting cloned files can free blocks that others still use; these are then overwritten (openzfs 15604)."),
        _("From 2.2.1 on, `echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        ("Block remap for cloned blocks on device removal",),
        CLONING_CAME,
    ),
    Bug(
        "clone-after-truncate",
        Level.CRITICAL,
        spans("2.2.0 2.3.7", "2.4.0 2.4.2"),
        (CLONING,),
        _("Under load, a file cloned over a just-truncated one is read, and copied further, as zeros (openzfs 18412)."),
        _("From 2.2.1 on, `echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        ("Fix read corruption after block clone after truncate",),
        CLONING_CAME,
    ),
    Bug(
        "clone-then-freed",
        Level.CRITICAL,
        spans("2.3.7 2.3.9", "2.4.2 2.4.4"),
        (CLONING,),
        _("Under load, parts of a file that were cloned and then freed are read as old data (openzfs 18724)."),
        _("`echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        ("Fix reads for blocks freed after being cloned",),
        "Fix read corruption after block clone after truncate",
    ),
    Bug(
        "clone-large-vdev",
        Level.WARNING,
        spans("2.2.0 2.2.9", "2.3.0 2.3.5"),
        (CLONING, LARGE),
        _("Cloning on a vdev larger than 64 TiB can overwrite kernel memory (openzfs 17915)."),
        _("From 2.2.1 on, `echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled` turns cloning off."),
        ("BRT: Fix ranges to blocks conversion math",),
        CLONING_CAME,
    ),
    Bug(
        "clone-volume-key",
        Level.INFO,
        spans("2.3.0 2.3.8", "2.4.0 2.4.3"),
        (CLONING, ENCRYPTION, VOLUMES),
        _("Blocks cloned between volumes with different keys cannot be read; only some platforms clone volumes."),
        "",
        ("ZVOL: Add encryption key check for block cloning",),
        "zvol: implement platform-independent part of block cloning",
    ),
)

DEDUPLICATION: Final = (
    Bug(
        "dedup-zeros",
        Level.CRITICAL,
        spans("2.4.0 2.4.4"),
        (DEDUP,),
        _("After a write error, deduplicated blocks can be read as zeros without an error (openzfs 18366)."),
        "",
        ("zio_ddt_write: compute have_dvas after taking dde_io_lock",),
        FINER_DEDUP_LOCKS,
    ),
    Bug(
        "dedup-verify",
        Level.WARNING,
        spans("2.4.0 2.4.4"),
        (DEDUP,),
        _("With dedup=verify, blocks are compared with memory that may have been freed (openzfs 17960)."),
        "",
        ("Fix insufficient locking in dedup verify",),
        FINER_DEDUP_LOCKS,
    ),
    Bug(
        "dedup-gang",
        Level.WARNING,
        spans("2.3.0"),
        (SIDEACY_DEDUP,),
        _("Deleting can free deduplicated blocks in use that were written in parts for lack of space (openzfs 18819)."),
        _("Keep plenty of the pool free, so that no block is written in parts."),
        ("ddt: select traditional phys by block identity, not BP DVA count",),
        PRUNING_CAME,
    ),
    Bug(
        "dedup-pruned-clone",
        Level.WARNING,
        spans("2.3.0 2.3.8", "2.4.0 2.4.3"),
        (DEDUP, CLONES),
        _("After `zpool ddtprune`, deleting cloned files can free blocks that others still use (openzfs 18520)."),
        _("Do not run `zpool ddtprune`."),
        ("Fix double free for blocks cloned after DDT prune",),
        PRUNING_CAME,
    ),
    Bug(
        "dedup-pruning",
        Level.INFO,
        spans("2.3.0 2.3.9", "2.4.0 2.4.4"),
        (DEDUP,),
        _("`zpool ddtprune` can drop the wrong entries and permanently lose their space (openzfs 17982)."),
        _("Do not run `zpool ddtprune`."),
        ("DDT: Fix several bugs in pruning", "Fix ddtprune causing space leak"),
        PRUNING_CAME,
    ),
    Bug(
        "dedup-encrypted-size",
        Level.WARNING,
        spans("2.1.0"),
        (DEDUP, ENCRYPTION),
        _("A deduplicated, encrypted file that grows during a synchronous write can be truncated (openzfs 18812)."),
        _("`zfs set dedup=off DATASET` on each encrypted dataset protects new files."),
        ("dbuf: use dirty record size for overridden writes",),
    ),
)

ENCRYPTED: Final = (
    Bug(
        "encrypted-send",
        Level.WARNING,
        spans("2.1.0 2.2.8", "2.3.0 2.3.3"),
        (ENCRYPTION,),
        _("A plain `zfs send` of an encrypted dataset can damage snapshots created while it runs (openzfs 12014)."),
        _("Send encrypted datasets raw: `zfs send -w`."),
        ("Fix 2 bugs in non-raw send with encryption",),
    ),
    Bug(
        "encrypted-unlock",
        Level.WARNING,
        spans("2.1.3 2.1.7"),
        (ENCRYPTION,),
        _("Encrypted datasets created by an older release may fail to unlock (openzfs 13709)."),
        "",
        ("Handle and detect #13709's unlock regression",),
        "Introduce a flag to skip comparing the local mac when raw sending",
    ),
    Bug(
        "encrypted-gang",
        Level.WARNING,
        spans("2.1.8 2.2.0"),
        (ENCRYPTION,),
        _("Encrypted blocks written in parts for lack of space cannot be read again (openzfs 14413)."),
        _("Keep plenty of the pool free, so that no block is written in parts."),
        ("EIO caused by encryption + recursive gang",),
        "ztest fails assertion in zio_write_gang_member_ready()",
    ),
)

SENT: Final = (
    Bug(
        "send-larger-sectors",
        Level.WARNING,
        spans("2.1.0 2.1.2"),
        (),
        _("A compressed `zfs send` to a pool with larger sectors can arrive damaged (openzfs 12770)."),
        _("Send without -c."),
        (
            "ZFS send/recv with ashift 9->12 leads to data corruption",
            "Compressed receive with different ashift can result in incorrect PSIZE on disk",
        ),
    ),
    Bug(
        "receive-skips",
        Level.WARNING,
        spans("2.1.0 2.2.0"),
        (),
        _("`zfs receive` of several snapshots at once can silently omit one (openzfs 12661)."),
        _("Compare `zfs list -t snapshot` on both sides."),
        ("Fix incremental receive silently failing for recursive sends",),
    ),
    Bug(
        "send-redacted",
        Level.CRITICAL,
        spans("2.1.0 2.3.8", "2.4.0 2.4.3"),
        (REDACTED,),
        _("An incremental send from a redaction bookmark leaves zeros in the last block of files (openzfs 18477)."),
        "",
        ("Fix off-by-one in PREVIOUSLY_REDACTED handler that drops last block",),
    ),
)

DISKS: Final = (
    Bug(
        "trim-overtaken",
        Level.CRITICAL,
        spans("2.1.0 2.1.14"),
        (FLASH,),
        _("`zpool trim` can discard blocks that are being written at the same time (openzfs 15395)."),
        _("Do not run `zpool trim`, manually or by a timer, while data is being written."),
        ("Zpool can start allocating from metaslab before TRIMs have completed",),
    ),
    Bug(
        "draid-clear",
        Level.CRITICAL,
        spans("2.1.0 2.2.10", "2.3.0 2.3.7", "2.4.0 2.4.2"),
        (DRAID,),
        _("`zpool clear` of a disk that failed together with others can lose dRAID data (openzfs 18286, 18414)."),
        _("Replace failed disks; do not clear them."),
        (
            "draid: fix data corruption after disk clear",
            "draid: fix cksum errors after rebuild with degraded disks",
            "draid: fix import failure after disks replacements",
            "draid: allow seq resilver reads from degraded vdevs",
        ),
    ),
    Bug(
        "rebuild-race",
        Level.WARNING,
        spans("2.1.0 2.3.7", "2.4.0 2.4.2"),
        (DRAID,),
        _("After a rebuild, a spare can contain wrong blocks (openzfs 18307)."),
        _("Run `zpool scrub` after every rebuild."),
        ("Fix rare cksum errors after rebuild",),
    ),
    Bug(
        "draid-padding",
        Level.WARNING,
        spans("2.1.0 2.1.3"),
        (DRAID,),
        _("A scrub can write wrong parity where a disk returned wrong data (openzfs 12857)."),
        "",
        ("Verify dRAID empty sectors",),
    ),
    Bug(
        "expansion-start",
        Level.INFO,
        spans("2.3.0"),
        (EXPANDABLE,),
        _("A crash at the start of a raidz expansion can leave a pool that is hard to import (openzfs 18920)."),
        _("Start an expansion only if you have a backup."),
        ("Fix race condition in raidz expansion startup",),
        "RAID-Z expansion feature",
    ),
    Bug(
        "removal-export",
        Level.WARNING,
        spans("2.1.0 2.3.9", "2.4.0 2.4.4"),
        (REMOVING,),
        _("Exporting the pool just as the removal ends can stop it halfway (openzfs 18657)."),
        _("Do not export the pool before the removal has finished."),
        ("Fix race between device removal completion and pool export",),
    ),
    Bug(
        "log-removal-crash",
        Level.WARNING,
        spans("2.1.0 2.2.0"),
        (LOGS,),
        _("A crash during the removal of a log can leave a pool whose import fails repeatedly (openzfs 14652)."),
        _("Remove a log only while the pool is quiet."),
        ("panic loop when removing slog device",),
    ),
    Bug(
        "log-error-hidden",
        Level.WARNING,
        spans("2.1.0 2.1.1"),
        (),
        _("A program can receive confirmation that data is saved although the disk refused it (openzfs 12391)."),
        "",
        ("Fixed data integrity issue when underlying disk returns error",),
    ),
    Bug(
        "class-space",
        Level.INFO,
        spans("2.1.0 2.2.10", "2.3.0 2.3.7", "2.4.0 2.4.1"),
        (OWN_CLASS,),
        _("Datasets show a wrong amount of free space (openzfs 18190)."),
        "",
        ("Fix available space accounting for special/dedup",),
    ),
)

IMPORTS: Final = (
    Bug(
        "import-without-log",
        Level.WARNING,
        spans("2.1.0 2.1.12"),
        (LOGS, SPARES_OR_CACHES),
        _("`zpool import -m` without the log also drops the spares and caches of the pool (openzfs 14794)."),
        "",
        ("zpool import -m also removing spare and cache when log device is missing",),
    ),
    Bug(
        "multihost-race",
        Level.WARNING,
        spans("2.1.0 2.3.6", "2.4.0 2.4.1"),
        (MULTIHOST,),
        _("Two hosts that import the pool at the same moment can both succeed and destroy it."),
        _("Never import it on two hosts at the same time."),
        ("mmp: claim sequence id before final import",),
    ),
    Bug(
        "foreign-root",
        Level.WARNING,
        spans("2.1.0 2.2.11", "2.3.0 2.3.9", "2.4.0 2.4.4"),
        (),
        _("A user who may create user namespaces can change pools as root can (openzfs 18959)."),
        "",
        ("secpolicy_sys_config: only permit a global zone credential",),
    ),
)

ALL: Final = (*FILES, *CLONES_OF_BLOCKS, *DEDUPLICATION, *ENCRYPTED, *SENT, *DISKS, *IMPORTS)
