"""Workloads whose answer is known, as shell commands for the lab's guest.

Each prepares its place and runs fio for a time; what it achieved is the number that a log or a cache should change.
`expected` is what an expert would answer; it is only printed beside the verdict.
"""

from dataclasses import dataclass

ARC_BYTES = 256 << 20
"""The ARC's limit while caches are tried: small, so that sets larger than it fit on small disks."""

MIB = 1 << 20
FIO = (
    "fio --name={name} --ioengine=psync --group_reporting --time_based --runtime={seconds} "
    "--fallocate=none --output-format=json"
)


@dataclass(frozen=True)
class Workload:
    """One workload. `options` are fio's; `direction` is the part of its answer that counts; `pool` is where it runs.

    `stored` is what lies in the pool, where that is another place than the workload sees; `afterwards` ends what
    `prepare` began beside a dataset or volume with the workload's name. `layout` is what `zpool create` is told where
    it needs a pool that the lab does not have, with the lab's names of disks.
    """

    name: str
    what: str
    expected: str
    options: str
    prepare: str = ""
    pool: str = "tank"
    direction: str = "write"
    directory: str = ""
    stored: str = ""
    afterwards: str = ""
    layout: str = ""

    @property
    def place(self) -> str:
        """Where its files are."""
        return self.directory or f"/{self.pool}/{self.name}"

    def command(self, seconds: int) -> str:
        """The shell command that runs it for so long and prints fio's JSON."""
        return f"{FIO.format(name=self.name, seconds=seconds)} --directory={self.place} {self.options}"

    @property
    def rereading(self) -> str:
        """The shell command that brings its files into the ARC of the host of the pool."""
        return f"cat {self.stored or f'{self.place}/*'} > /dev/null"

    @property
    def preparation(self) -> str:
        """The shell commands that make its place."""
        return self.prepare or f"zfs create {self.pool}/{self.name}"


AS_DATABASES = "zfs create -o recordsize=16K {}"
"""With 128K, most of an emulated processor's time goes into the checksums of records of which 4 KiB changed."""

VOLUMES = "/dev/zvol/tank"
VOLUME = "zfs create -V 256m -o volblocksize=16K {} && udevadm settle"

SMALL_SYNC = "--rw=randwrite --bs=4k --fsync=1 --filesize=16m --direct=0"

BACKUP = "(while cat /tank/copied/file; do :; done > /dev/null 2>&1 < /dev/null & echo $! > /root/backup.pid)"
BUSY = (
    f"(fio --name=busy --ioengine=psync --time_based --runtime=3600 --directory=/other/busy {SMALL_SYNC} --numjobs=4 "
    "--rate_iops=10 > /dev/null 2>&1 < /dev/null & echo $! > /root/busy.pid)"
)
"""Programs beside a workload, until it is over."""

EXPORTS = "/etc/exports.d/evidence.exports"
"""A file, for each `zfs create` has the server forget what was exported by hand (libshare runs `exportfs -ra`)."""

NFS = f"""
zfs create tank/nfs && systemctl start nfs-server && mkdir -p /etc/exports.d /mnt/nfs &&
echo '/tank/nfs 127.0.0.1(rw,sync,no_root_squash,no_subtree_check,fsid=71)' > {EXPORTS} && exportfs -ra &&
mount -t nfs -o vers=4.2 127.0.0.1:/tank/nfs /mnt/nfs
"""

LOG_WORKLOADS = (
    Workload(
        "one-writer",
        "one program, 4 KiB and fsync",
        "helps",
        f"{SMALL_SYNC} --numjobs=1",
        AS_DATABASES.format("tank/one-writer"),
    ),
    Workload(
        "many-writers",
        "eight programs, 4 KiB and fsync",
        "helps",
        f"{SMALL_SYNC} --numjobs=8",
        AS_DATABASES.format("tank/many-writers"),
    ),
    Workload(
        "nfs",
        "four writers over NFS, 8 KiB and fsync",
        "helps",
        "--rw=randwrite --bs=8k --fsync=1 --filesize=16m --numjobs=4",
        NFS,
        directory="/mnt/nfs",
        stored="/tank/nfs/*",
        afterwards=f"umount /mnt/nfs; rm {EXPORTS}; exportfs -ra; exportfs -f",
    ),
    Workload(
        "dsync",
        "four programs, 8 KiB with O_DSYNC",
        "helps",
        "--rw=randwrite --bs=8k --sync=dsync --filesize=16m --numjobs=4",
        AS_DATABASES.format("tank/dsync"),
    ),
    Workload(
        "database",
        "four programs, 16 KiB, read as often as written, and fsync",
        "helps",
        "--rw=randrw --bs=16k --fsync=1 --filesize=16m --numjobs=4",
        AS_DATABASES.format("tank/database"),
    ),
    Workload(
        "always",
        "a guest's disk: a volume with sync=always, four at once, 16 KiB",
        "helps",
        "--filename=always --rw=randwrite --bs=16k --size=256m --numjobs=4 --direct=1",
        VOLUME.format("-o sync=always tank/always"),
        directory=VOLUMES,
        stored=f"{VOLUMES}/always",
    ),
    Workload(
        "guests",
        "a guest's disk: a volume, four at once, 16 KiB, nobody waits",
        "no",
        "--filename=guests --rw=randwrite --bs=16k --size=256m --numjobs=4 --rate_iops=20",
        VOLUME.format("tank/guests"),
        directory=VOLUMES,
        stored=f"{VOLUMES}/guests",
    ),
    Workload(
        "seldom",
        "one program, 4 KiB and fsync every three seconds",
        "little",
        f"{SMALL_SYNC} --numjobs=1 --thinktime=3s",
        AS_DATABASES.format("tank/seldom"),
    ),
    Workload(
        "large",
        "one program, 8 MiB and fsync",
        "little",
        "--rw=write --bs=8m --fsync=1 --filesize=256m --numjobs=1",
    ),
    Workload(
        "stream",
        "one asynchronous stream of 1 MiB writes",
        "no",
        "--rw=write --bs=1m --filesize=512m --numjobs=1 --rate=20m",
    ),
    Workload(
        "disabled",
        "eight programs, 4 KiB and fsync, sync=disabled",
        "no",
        f"{SMALL_SYNC} --numjobs=8 --rate_iops=100",
        "zfs create -o sync=disabled tank/disabled",
    ),
    Workload(
        "throughput",
        "four programs, 64 KiB and fsync, logbias=throughput",
        "no",
        "--rw=randwrite --bs=64k --fsync=1 --filesize=64m --numjobs=4",
        "zfs create -o logbias=throughput -o recordsize=64K tank/throughput",
    ),
    Workload(
        "wide",
        "sixteen programs, 1 MiB and fsync",
        "no, or little",
        "--rw=randwrite --bs=1m --fsync=1 --filesize=16m --numjobs=16",
        "zfs create -o recordsize=1M tank/wide",
    ),
)

ELSEWHERE = (
    Workload(
        "backup",
        "four programs, 4 KiB and fsync, beside a backup that reads the pool all day",
        "helps",
        f"{SMALL_SYNC} --numjobs=4",
        f"{AS_DATABASES.format('tank/backup')} && zfs create -o primarycache=none -o compression=off tank/copied && "
        f"head -c 600000000 /dev/urandom > /tank/copied/file && {BACKUP}",
        afterwards="kill $(cat /root/backup.pid); zfs destroy tank/copied",
    ),
    Workload(
        "flash",
        "eight programs, 4 KiB and fsync, on a pool of SSDs",
        "little",
        f"{SMALL_SYNC} --numjobs=8",
        AS_DATABASES.format("flash/flash"),
        pool="flash",
        layout="flash mirror sata0 sas0",
    ),
    Workload(
        "raidz",
        "four programs, 4 KiB and fsync, on a raidz1 of three",
        "helps",
        f"{SMALL_SYNC} --numjobs=4",
        AS_DATABASES.format("shelf/raidz"),
        pool="shelf",
        layout="shelf raidz1 shelf0 shelf1 shelf2",
    ),
    Workload(
        "special",
        "the same on a raidz1 with a special mirror of SSDs",
        "helps before OpenZFS 2.4, then little",
        f"{SMALL_SYNC} --numjobs=4",
        AS_DATABASES.format("shelf/special"),
        pool="shelf",
        layout="shelf raidz1 shelf0 shelf1 shelf2 special mirror sata0 sas0",
    ),
    Workload(
        "encrypted",
        "four programs, 4 KiB and fsync, on encrypted disks (dm-crypt)",
        "helps",
        f"{SMALL_SYNC} --numjobs=4",
        AS_DATABASES.format("vault/encrypted"),
        pool="vault",
        layout="vault mirror crypt:shelf0 crypt:shelf1",
    ),
    Workload(
        "slow",
        "one program, 4 KiB and fsync, on disks that take 200 ms for a write",
        "helps",
        f"{SMALL_SYNC} --numjobs=1",
        AS_DATABASES.format("slow/slow"),
        pool="slow",
        layout="slow mirror delay:shelf0 delay:shelf1",
    ),
    Workload(
        "neighbour",
        "four programs, 4 KiB and fsync, while programs wait for a second pool too",
        "helps",
        f"{SMALL_SYNC} --numjobs=4",
        f"{AS_DATABASES.format('tank/neighbour')} && {AS_DATABASES.format('other/busy')} && {BUSY}",
        afterwards="kill $(cat /root/busy.pid)",
        layout="other mirror shelf0 shelf1",
    ),
)
"""Workloads with a pool of their own, or with something beside them that others are to be without."""

READ = "--rw=randread --bs=128k --direct=0 --numjobs=2 --norandommap --randrepeat=0"


def _readers(
    name: str,
    what: str,
    expected: str,
    size_bytes: int,
    options: str = READ,
    properties: str = "-o recordsize=128K",
    layout: str = "",
) -> Workload:
    size, pool = size_bytes // MIB, layout.split(maxsplit=1)[0] if layout else "tank"
    prepare = (
        f"zfs create {properties} -o compression=off {pool}/{name} && "
        f"fio --name=fill --directory=/{pool}/{name} --filename=set --rw=write --bs=1m --size={size}m --end_fsync=1 "
        f"--refill_buffers --output-format=json > /dev/null"
    )
    wanted = f"--filename=set --size={size}m {options}"
    return Workload(name, what, expected, wanted, prepare, pool, direction="read", layout=layout)


CACHE_WORKLOADS = (
    _readers("fits", "random reads of a set half as large as the ARC", "no", ARC_BYTES // 2),
    _readers("near", "random reads of a set 1.3 times the ARC", "helps", ARC_BYTES * 13 // 10),
    _readers("far", "random reads of a set six times the ARC", "cannot tell, or at least so much", ARC_BYTES * 6),
    _readers(
        "streamed",
        "one reader of a file six times the ARC, from end to end and again",
        "no before OpenZFS 2.2.1, then cannot tell",
        ARC_BYTES * 6,
        "--rw=read --bs=1m --direct=0 --numjobs=1",
    ),
    _readers("three", "random reads of a set three times the ARC", "helps", ARC_BYTES * 3),
    _readers(
        "zipf",
        "reads of a set six times the ARC, some parts much more often",
        "helps",
        ARC_BYTES * 6,
        f"{READ} --random_distribution=zipf:1.1",
    ),
    _readers(
        "small",
        "random reads of 16 KiB, a set twice the ARC",
        "helps",
        ARC_BYTES * 2,
        READ.replace("--bs=128k", "--bs=16k"),
        "-o recordsize=16K",
    ),
    _readers(
        "metadata-only",
        "random reads of a set three times the ARC, secondarycache=metadata",
        "little",
        ARC_BYTES * 3,
        properties="-o recordsize=128K -o secondarycache=metadata",
    ),
    _readers(
        "kept-out",
        "random reads of a set three times the ARC, secondarycache=none",
        "no",
        ARC_BYTES * 3,
        properties="-o recordsize=128K -o secondarycache=none",
    ),
    _readers(
        "flash-reads",
        "random reads of a set three times the ARC, on a pool of SSDs",
        "little",
        ARC_BYTES * 3,
        layout="flash mirror sata0 sas0",
    ),
)
