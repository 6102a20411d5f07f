"""The table of commands: nothing outside it passes, and everything that a plan can need does."""

import ast
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.domain.storage.names import DISK as DISK_NAME
from nasadvisor.domain.storage.names import SLICE as SLICE_NAME
from nasadvisor.host.adapters import process
from nasadvisor.host.adapters.allowed import READS, SHAPES, WORDS, WRITES, _shapes, shape_of
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.errors import CommandForbidden, HostError

ROOT = Path(process.__file__).parents[3]
DISK = "/dev/disk/by-id/ata-Fast_SSD_S1"
UUID = "aaaaaaaa-0000-4000-8000-000000000001"
PARTITION = f"/dev/disk/by-partuuid/{UUID}"

DESTROYERS = f"""
blkdiscard {DISK}
blkdiscard -f {PARTITION}
blkdiscard /dev/nvme0n1p1
fio --name=nasadvisor --filename=/dev/sda --direct=1 --size=1 --offset_increment=1
fio --filename=/dev/sda
fio --name=nasadvisor --filename={DISK} --rw=write
fio job.ini
partx --delete {DISK}
partx --delete --nr 1 /dev/sda
perl -e 'unlink glob "*"'
perl {ROOT}/plugins/proxmox/perl/notify.pl
perl {ROOT}/plugins/proxmox/notify.pl a
perl {ROOT}/plugins/proxmox/perl/../perl/notify.pl info a b
sgdisk --clear /dev/xvdb
sgdisk --clear {DISK}
sgdisk --clear --disk-guid={UUID} /dev/xvdb
sgdisk --clear --disk-guid={UUID} /dev/dm-0
sgdisk --clear --disk-guid={UUID} /dev/disk/../sdb
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/../../sdb
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/.
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/..
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/a/b
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/-f
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/dm-name-tank
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/lvm-pv-uuid-x
sgdisk --clear --disk-guid={UUID} /dev/disk/by-id/md-name-x
sgdisk --clear --disk-guid={UUID} {DISK}-part1
sgdisk --clear --disk-guid={UUID} {PARTITION}
sgdisk --clear --disk-guid={UUID} {DISK} {DISK}
sgdisk --clear --disk-guid={UUID} '{DISK} '
sgdisk --clear --disk-guid=R {DISK}
sgdisk --delete=0 {DISK}
sgdisk --delete=129 {DISK}
sgdisk --zap-all {DISK}
sgdisk --new=1:0:0 --typecode=1:8300 --partition-guid=1:{UUID} {DISK}
sgdisk --load-backup=/tmp/x {DISK}
smartctl -t offline -j {DISK}
smartctl -s off -j {DISK}
smartctl -x -j -n standby,127 -d sat,auto {DISK}
systemctl stop nasadvisor-redis.service
systemctl show --property=ActiveEnterTimestampMonotonic,WatchdogTimestampMonotonic ssh.service
systemctl show --property=InactiveExitTimestampMonotonic,NRestarts ssh.service
wipefs -af {DISK}
zdb -LPbbbb tank
zdb -R tank 0:0:0
zfs create tank/other
zfs create -o mountpoint=/etc tank/nasadvisor-probe-0a1b2c3d
zfs create -o exec=on tank/nasadvisor-probe-0a1b2c3d
zfs destroy -r tank
zfs destroy -r tank/nasadvisor-probe-0a1b2c3d
zfs destroy tank
zfs destroy tank/nasadvisor-probe-0a1b2c3d@snap
zfs destroy tank/home/nasadvisor-probe-0a1b2c3d/../x
zpool add -f -o ashift=12 tank log {PARTITION}
zpool add --allow-in-use -o ashift=12 tank log {PARTITION}
zpool add -nf -o ashift=12 tank log {PARTITION}
zpool add -o ashift=12 tank {PARTITION}
zpool add -o ashift=12 tank log {DISK}
zpool add -o ashift=12 tank log {PARTITION} {PARTITION}
zpool add -o ashift=12 tank log mirror {PARTITION}
zpool add -o ashift=12 tank log {PARTITION} raidz {PARTITION}
zpool add -o ashift=12 tank spare {PARTITION}
zpool add -o ashift=12 tank cache
zpool add -o ashift=12 -f log {PARTITION}
zpool add -o ashift=17 tank log {PARTITION}
zpool add tank log {PARTITION}
zpool attach -o ashift=12 tank 1 {DISK}
zpool attach -f tank 1 {PARTITION}
zpool clear tank
zpool create tank {DISK}
zpool destroy tank
zpool export tank
zpool labelclear -f {PARTITION}
zpool labelclear {DISK}
zpool offline -f tank 1
zpool remove tank sdb
zpool add -o ashift=12 tank special {PARTITION}
zpool add -o ashift=12 tank special mirror {PARTITION} {PARTITION}
zpool remove tank -s
zpool replace tank 1 {DISK}
zpool scrub -e tank
zpool scrub -s tank
zpool scrub tank other
zpool split tank other
zpool status
""".strip().splitlines()

ALLOWED = f"""
sgdisk --clear --disk-guid={UUID} {DISK}
zdb -l {PARTITION}
zpool add -o ashift=12 tank log {PARTITION}
zpool add -o ashift=12 tank log {DISK}-part1
zpool detach 'my pool' 123
zpool list -vHPpg tank
zpool offline tank 18446744073709551615
zpool online tank 1
zpool remove tank 1
zpool scrub 'my pool'
""".strip().splitlines()


def named(line: str) -> tuple[Tool, tuple[str, ...]]:
    tool, *args = shlex.split(line)
    return Tool(tool), tuple(args)


@pytest.mark.parametrize("line", DESTROYERS)
def test_what_could_destroy_something_is_refused(line: str) -> None:
    assert shape_of(tuple(shlex.split(line))) is None
    with pytest.raises(ValueError, match=r"not a command that NAS Advisor may run|not a valid Tool"):
        Command(*named(line), 1)


@pytest.mark.parametrize("line", ALLOWED)
def test_what_is_needed_is_allowed(line: str) -> None:
    assert Command(*named(line), 1).mutates == (line.split(maxsplit=1)[0] != "zdb" and "list" not in line)


@pytest.mark.parametrize("line", ALLOWED)
def test_one_word_more_or_less_or_a_nul_is_refused(line: str) -> None:
    words = tuple(shlex.split(line))
    longer = [(*words[:place], extra, *words[place:]) for place in range(len(words) + 1) for extra in ("-f", "", "x")]
    shorter = [words[:place] + words[place + 1 :] for place in range(len(words))]
    joined = ["\0".join(words[place : place + 2]) for place in range(len(words) - 1)]
    glued = [(*words[:place], each, *words[place + 2 :]) for place, each in enumerate(joined)]
    assert [words for words in (*longer, *shorter, *glued) if shape_of(words)] == []


@pytest.mark.parametrize("word", ["-f", "-nf", "-fo", "--allow-in-use", "--allow-replication-mismatch", "--force"])
def test_openzfs_is_never_forced(word: str) -> None:
    """At whatever place of whatever command it stands."""
    examples = [tuple(shlex.split(line)) for line in ALLOWED if line.startswith("zpool")]
    forced = [(*words[:place], word, *words[place:]) for words in examples for place in range(1, len(words) + 1)]
    assert [words for words in forced if shape_of(words)] == []


def test_the_refusal_is_said_and_is_an_error_of_the_host() -> None:
    with pytest.raises(HostError, match="`zpool destroy tank` is not a command that NAS Advisor may run"):
        Command(Tool.ZPOOL, ("destroy", "tank"), 1)
    assert issubclass(CommandForbidden, ValueError)


WORD = st.one_of(
    st.sampled_from(sorted({word for shape in SHAPES for word in shape.line.split(" ")})),
    st.sampled_from((DISK, PARTITION, "/dev/sda", "/dev/disk/by-id/../sda", "-f", "-r", "tank", "1", "--", UUID)),
    st.text(max_size=20),
)


def independently(words: tuple[str, ...]) -> bool:
    """The same question, answered word by word instead of by one pattern, for shapes whose words are one each."""
    for shape in SHAPES:
        line = shape.line.split(" ")
        if len(line) == len(words) and "..." not in shape.line and not {"FIO_LOAD", "PROBE_OPTION"} & set(line):
            patterns = ["".join(map(place_or_literal, re.split(r"\b([A-Z][A-Z_]+)\b", word))) for word in line]
            if all(re.fullmatch(pattern, word, re.ASCII) for pattern, word in zip(patterns, words, strict=True)):
                return True
    return False


def place_or_literal(part: str) -> str:
    return f"(?:{WORDS[part]})" if part in WORDS else re.escape(part)


@settings(max_examples=400)
@given(st.data())
def test_nothing_outside_the_table_passes(data: st.DataObject) -> None:
    """Begun as a line of the table and changed in one or two words: what still passes is in the table word by word."""
    line = data.draw(st.sampled_from([shape.line for shape in SHAPES if "..." not in shape.line]))
    words = line.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words)))
        words[place : place + data.draw(st.integers(0, 1))] = [data.draw(WORD)]
    found = shape_of(tuple(words))
    if found and "..." not in found.line and not {"FIO_LOAD", "PROBE_OPTION"} & set(found.line.split(" ")):
        assert independently(tuple(words))


@given(st.lists(st.text(), max_size=8), st.sampled_from(Tool))
def test_no_words_at_random_pass(words: list[str], tool: Tool) -> None:
    shape = shape_of((tool, *words))
    assert shape is None or not shape.mutates


@given(st.text(max_size=300))
def test_a_name_after_the_prefix_is_one_name(text: str) -> None:
    for folder, name in (("by-id", DISK_NAME), ("by-id", SLICE_NAME), ("by-partuuid", SLICE_NAME)):
        path = f"/dev/disk/{folder}/{text}"
        if re.fullmatch(name, path):
            assert "/" not in text
            assert not text.startswith((".", "-"))
            assert text.isprintable() or not text.isascii()


def test_a_writing_command_names_a_device_only_by_a_persistent_name() -> None:
    """Each place for a path in the table of what writes is one of these, and none of them can be anything else."""
    places = {part for part in re.findall(r"\b([A-Z][A-Z_]+)\b", WRITES) if part in WORDS}
    matching = {place for place in places if any(re.fullmatch(WORDS[place], path) for path in (DISK, PARTITION))}
    assert matching == {"DISK", "PARTITION", "SLICE"}
    kernel = ("/dev/sda", "/dev/nvme0n1p1", "/dev/dm-0", "/dev/mapper/x", "/dev/disk/by-path/x", "/dev/zd0", "../sda")
    assert [path for place in places for path in kernel if re.fullmatch(WORDS[place], path)] == []


def test_every_word_of_the_table_is_known_and_used() -> None:
    used = set(re.findall(r"\b([A-Z][A-Z_]+)\b", READS + WRITES))
    assert used - set(WORDS) == set()
    assert set(WORDS) - used == set()
    assert {shape.line.split(" ")[0] for shape in SHAPES} == set(Tool)


def test_the_table_knows_what_others_name() -> None:
    assert set(WORDS["SELF_TEST"].split("|")) == set(SelfTest)
    assert re.fullmatch(WORDS["PROBE"], f"tank/nasadvisor-probe-{MeasureOrder('0a1b2c3d', '1').id}")


def test_no_program_is_started_but_through_a_command() -> None:
    """Every call in the product goes through `Command`, which asks the table."""
    runs = [
        (path.name, node.lineno)
        for path in (*(ROOT / "nasadvisor").rglob("*.py"), *(ROOT / "plugins").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in {"system", "popen", "execv", "execve", "posix_spawn", "Popen"}
    ]
    assert {name for name, _ in runs} == {"process.py"}


def test_the_tables_are_read_line_by_line_and_word_by_word() -> None:
    """Read again: what was made when the program started would stay the same whatever became of the reading."""
    assert (*_shapes(READS, mutates=False), *_shapes(WRITES, mutates=True)) == SHAPES
    assert [shape.line for shape in SHAPES if shape.mutates] == WRITES.strip().splitlines()
    assert [shape.line for shape in SHAPES if not shape.mutates] == READS.strip().splitlines()
    [repeated] = _shapes("\nzfs create PROBE_OPTION... 1.5\n", mutates=True)
    assert repeated.pattern.fullmatch("zfs\0create\0-o\0sync=standard\0-o\0atime=off\x001.5")
    for words in ("zfs\0create\x001.5", "zfs\0create\0-o\0sync=standard\x001x5", "zfs\0create\0-o\0sync=١\x001.5"):
        assert not repeated.pattern.fullmatch(words)


def test_a_unit_test_starts_no_program_by_the_seam_itself() -> None:
    with pytest.raises(AssertionError, match="cannot run commands"):
        process.CountedProcess(["/bin/true"])
