"""Every command that this product can run, and no other: one line each, word for word.

A word in capitals that stands in `WORDS` is a place for what its pattern matches; "..." after a word lets it come more
than once. All else is literal. What only looks is in `READS`, what can change something in `WRITES`; whoever adds a
command adds its line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.measuring.probing import PROBE_PREFIX, PROBE_PROPERTY
from nasadvisor.domain.storage import names

READS: Final = r"""
bpftrace -q -f json ARC_READS_BT HASH READS SECONDS
bpftrace -q -f json LOG_BLOCKS_BT READS SECONDS POOL
bpftrace -q -f json SPELL_BT SECONDS SECONDS
bpftrace -q -f json WAITING_BT SECONDS
dpkg-query --showformat=${Version} --show PACKAGE
ionice -c 3 zdb -LPbbbb -U CACHE_FILE POOL
ionice -c 3 zdb -LPbbbb -e POOL
ionice -c 3 zdb -LPbbbb POOL
journalctl --no-pager --no-hostname --output=short-iso --since=-7d --lines=2000 --unit=SERVICE
nvme id-ctrl -o json ANY_DISK
nvme ocp smart-add-log -o json ANY_DISK
perl SCRIPT_OF_A_PLUGIN TEXT...
pg_dump --format=custom --no-owner --no-privileges --dbname=DATABASE
smartctl -x -j -n standby,127 ANY_DISK
smartctl -x -j -n standby,127 -d DISK_TYPE ANY_DISK
systemctl show --property=ActiveEnterTimestampMonotonic,WatchdogTimestampMonotonic SERVICE
systemctl show --property=InactiveExitTimestampMonotonic,NRestarts SERVICE
udevadm settle --timeout=SECONDS
zdb -iv -U CACHE_FILE POOL
zdb -iv -e POOL
zdb -iv POOL
zdb -l PARTITION
zfs get -H -p -o value PROBE_MARK PROBE
zfs list -H -p -r -t filesystem,volume -o COLUMNS POOL
zfs list -H -r -t filesystem,volume -o COLUMNS POOL...
zpool add -n -o ashift=ASHIFT POOL cache SLICE...
zpool add -n -o ashift=ASHIFT POOL log SLICE
zpool add -n -o ashift=ASHIFT POOL log mirror SLICE SLICE...
zpool get -H -o name,value feature@encryption POOL...
zpool get -H -o value autoexpand POOL
zpool get -H -o value cachefile POOL
zpool get -H -o value guid POOL
zpool get -j -p all POOL...
zpool get -j -p ashift POOL GUID...
zpool iostat -vgwHp
zpool list -vHPpg POOL
zpool status -j -P -p
zpool status -j -g -P -p
zpool status -j -t -P -p POOL
zpool version
zpool version -j
"""

WRITES: Final = r"""
blkdiscard PARTITION
fio --name=nasadvisor --directory=PROBE_MOUNT --filesize=BYTES --fallocate=none --ramp_time=SECONDS --direct=0 FIO_LOAD
fio --name=nasadvisor --filename=PARTITION --direct=1 --size=BYTES --offset_increment=BYTES FIO_LOAD
partx --add --nr NUMBER DISK
partx --delete --nr NUMBER DISK
pg_restore --single-transaction --exit-on-error --no-owner --no-privileges --schema=public --dbname=DATABASE DUMP
python3 -I PLAY_BLOCKS_PY PARTITION PLAY_FILE SECONDS
sgdisk --clear --disk-guid=UUID DISK
sgdisk --delete=NUMBER DISK
sgdisk --new=NUMBER:SECTOR:SECTOR --typecode=NUMBER:BF01 --partition-guid=NUMBER:UUID DISK
smartctl -t SELF_TEST -j DISK
smartctl -t SELF_TEST -j -d DISK_TYPE DISK
zfs create PROBE_OPTION... PROBE
zfs destroy PROBE
zpool add -o ashift=ASHIFT POOL cache SLICE...
zpool add -o ashift=ASHIFT POOL log SLICE
zpool add -o ashift=ASHIFT POOL log mirror SLICE SLICE...
zpool attach -o ashift=ASHIFT POOL GUID SLICE
zpool detach POOL GUID
zpool labelclear PARTITION
zpool offline POOL GUID
zpool online POOL GUID
zpool remove POOL GUID
zpool scrub POOL
"""

_HERE: Final = Path(__file__).parent
_FOLDER: Final = r"(?:/(?!\.{1,2}/)[A-Za-z0-9 _.-]+)+"
_SETTINGS: Final = (
    r"sync=standard|logbias=latency|compression=off|atime=off|com\.sun:auto-snapshot=false|recordsize=[0-9]+|"
    rf"quota=[0-9]+|mountpoint={_FOLDER}/{PROBE_PREFIX}{names.MEASURE_ID}|{PROBE_PROPERTY}={names.MEASURE_ID}"
)

WORDS: Final[Mapping[str, str]] = {
    "ANY_DISK": rf"(?:{names.DISK}|/dev/[a-z][^/\s\0]*)",  # to read, the kernel's name is good enough
    "ARC_READS_BT": rf"{re.escape(str(_HERE))}/arc_reads(?:_arm64)?\.bt",
    "ASHIFT": r"9|1[0-6]",
    "BYTES": r"[0-9]{1,19}",
    "CACHE_FILE": _FOLDER,
    "COLUMNS": r"[a-z]+(?:,[a-z]+)*",
    "DATABASE": r"postgresql://[^\s\0]*",
    "DUMP": r"/[^\0]*/database\.dump",
    "DISK": names.DISK,
    "DISK_TYPE": r"nvme|sat|scsi",
    "FIO_LOAD": "\0".join(
        (
            "--ioengine=psync",
            "--rw=(?:write|randwrite)",
            "--bs=[0-9]{1,9}",
            "(?:--f(?:data)?sync=1\0)?--numjobs=[0-9]{1,3}",
            "--group_reporting",
            "--time_based",
            "--runtime=[0-9]{1,5}",
            "--output-format=json",
        )
    ),
    "GUID": names.GUID,
    "HASH": r"[1-9][0-9]{0,7}",
    "LOG_BLOCKS_BT": re.escape(str(_HERE / "log_blocks.bt")),
    "NUMBER": r"[1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]",
    "PACKAGE": r"[a-z0-9][a-z0-9+.-]*",
    "PARTITION": names.PARTITION,
    "PLAY_BLOCKS_PY": re.escape(str(_HERE / "play_blocks.py")),
    "PLAY_FILE": rf"{_FOLDER}/replay\.json",
    "POOL": names.POOL,
    "PROBE": rf"{names.POOL}/{PROBE_PREFIX}{names.MEASURE_ID}",
    "PROBE_MARK": PROBE_PROPERTY,
    "PROBE_MOUNT": rf"{_FOLDER}/{PROBE_PREFIX}{names.MEASURE_ID}",
    "PROBE_OPTION": rf"-o\0(?:{_SETTINGS})",
    "READS": r"[1-9][0-9]{0,5}",
    "SCRIPT_OF_A_PLUGIN": rf"{re.escape(str(_HERE.parents[2] / 'plugins'))}/[a-z]+/perl/[a-z]+\.pl",
    "SECONDS": r"[0-9]{1,5}",
    "SECTOR": r"[0-9]{1,19}",
    "SELF_TEST": r"long|short",
    "SERVICE": r"nasadvisor-[a-z]+\.service",
    "SLICE": names.SLICE,
    "SPELL_BT": rf"{re.escape(str(_HERE))}/spell(?:_flags)?\.bt",
    "TEXT": r"[^\0\ud800-\udfff]*",
    "UUID": names.UUID,
    "WAITING_BT": rf"{re.escape(str(_HERE))}/waiting(?:_flags)?\.bt",
}
"""What may stand in a place. No pattern can begin with a hyphen unless it spells the option out."""


@dataclass(frozen=True)
class Shape:
    """One line of the table."""

    line: str
    mutates: bool
    pattern: re.Pattern[str]


def shape_of(words: tuple[str, ...]) -> Shape | None:
    """The line of the table that allows this command, its program first; None if none does."""
    if not words or any("\0" in word for word in words):
        return None
    text = "\0".join(words)
    return next((shape for shape in SHAPES if shape.pattern.fullmatch(text)), None)


def _shapes(table: str, *, mutates: bool) -> tuple[Shape, ...]:
    return tuple(Shape(line, mutates, _pattern(line)) for line in table.split("\n") if line)


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile("\0".join(map(_word, line.split(" "))), re.ASCII)


def _word(word: str) -> str:
    """The pattern of one word, or of one and more."""
    parts = re.split(r"\b([A-Z][A-Z_]+)\b", word.removesuffix("..."))
    once = "".join(f"(?:{WORDS[part]})" if part in WORDS else re.escape(part) for part in parts)
    return rf"{once}(?:\0{once})*" if word.endswith("...") else once


SHAPES: Final = (*_shapes(READS, mutates=False), *_shapes(WRITES, mutates=True))
