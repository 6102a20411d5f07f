"""Answers that fuzzing found to end in an error of Python instead of a sentence, or of nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.counters import Txg
from nasadvisor.host.adapters import counters
from nasadvisor.host.adapters.answer import LARGEST, Answer, count_in
from nasadvisor.host.adapters.bpftrace import parse_reads, parse_waiting
from nasadvisor.host.adapters.disks import disks_of
from nasadvisor.host.adapters.fio import FioJob, Pattern, parse_fio
from nasadvisor.host.adapters.holds import surroundings
from nasadvisor.host.adapters.procfs import parse_memory, parse_mountinfo, read_mounts
from nasadvisor.host.adapters.udev import _read_device
from nasadvisor.host.adapters.zdb import LabelUnreadable, read_label
from nasadvisor.host.adapters.zpool import ZpoolJson, parse_status
from nasadvisor.host.adapters.zpool_questions import held_bytes
from nasadvisor.host.config import read_environment_file
from nasadvisor.host.errors import MachineUnreadable, OutputUnreadable
from nasadvisor.host.evidence.sample import read_dataset_facts, read_tunables
from tests.fuzz.of_machine import roots
from tests.fuzz.of_tools import DATASETS, SLICE, STATUS
from tests.fuzz.reader import Answering
from tests.unit.domain.evidence import kstats
from tests.unit.host.adapters.recordings import recording
from tests.unit.host.adapters.test_udev import DISK, device
from tests.unit.host.adapters.test_zdb import LOG_SIDE
from tests.unit.host.evidence.test_measuring import FIO

TOO_LONG = "9" * 5000
"""`int` refuses more than 4,300 digits (sys.set_int_max_str_digits)."""

JOB = FioJob(("--directory=/x",), 4096, 4, 2, "--fsync=1", Pattern.SCATTERED)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "\N{SUPERSCRIPT TWO}", "\N{THAI DIGIT THREE}", TOO_LONG])
def test_what_is_no_count_is_none(text: str) -> None:
    assert count_in(text) is None


def test_a_counter_that_ran_below_zero_is_none_and_the_largest_that_can_be_kept_is_one() -> None:
    assert count_in(str(2**64 - 1)) is None
    assert count_in(str(LARGEST)) == LARGEST


@pytest.mark.parametrize("odd", ["3 4180541 C 0 0", f"{TOO_LONG} 1 C 0 0 0 0 0 1 1 1 1", "4 1 C 0 0 0 0 0 1 x 1 1"])
def test_a_transaction_group_of_which_less_is_told_does_not_hide_the_others(tmp_path: Path, odd: str) -> None:
    (tmp_path / "txgs").write_text(kstats.txgs((1, "C", 100), (2, "C", 200)) + odd + "\n")
    assert counters.read_txgs(tmp_path) == (Txg(1, 400), Txg(2, 800))


def test_a_history_that_is_no_text_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "txgs").write_bytes(b"\xff\xfe\n")
    assert counters.read_txgs(tmp_path) == ()


def test_counters_that_are_too_long_or_no_text_read_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "arcstats").write_text(kstats.named({"l2_hits": TOO_LONG, "size": 7}))
    activity, levels = counters.read_arc(tmp_path)
    assert (activity.l2_hits, levels.arc_bytes) == (0, 7)
    (tmp_path / "net/rpc").mkdir(parents=True)
    (tmp_path / "net/rpc/nfsd").write_bytes(b"proc3 22 \xff\n")
    assert counters.read_nfs(tmp_path) == (0, 0)


def fio(change: Any) -> str:
    document = json.loads(FIO)
    change(document["jobs"][0])
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        fio(lambda job: job["sync"]["lat_ns"].update(percentile=[])),
        fio(lambda job: job["write"].update(clat_ns=7)),
        fio(lambda job: job["write"].update(total_ios=float("inf"))),
        fio(lambda job: job["write"].update(iops=float("nan"))),
        fio(lambda job: job["write"].update(iops=10**400)),
        '{"jobs": ' + "[" * 100_000,
    ],
)
def test_figures_of_fio_that_are_none_are_told(text: str) -> None:
    with pytest.raises(OutputUnreadable, match="not fio's JSON"):
        parse_fio("fio", text, JOB)


@pytest.mark.parametrize("line", ["[" * 100_000, '{"type": "printf", "data": "' + "9" * 400 + ' a 1 1 tank"}'])
def test_a_line_of_bpftrace_that_is_nested_or_too_large_is_told(line: str) -> None:
    with pytest.raises(OutputUnreadable, match="bpftrace"):
        list(parse_reads(line))


def test_a_count_of_bpftrace_without_end_is_told() -> None:
    with pytest.raises(OutputUnreadable, match="bpftrace"):
        parse_waiting('{"type": "map", "data": {"@commits": {"1,x": 1e999}}}')


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_the_name_of_a_pool_with_a_character_that_no_command_takes_is_told(character: str) -> None:
    document = recording("mirrors")["commands"][STATUS]
    (pool,) = document["pools"].values()
    pool["name"] = f"ta{character}nk"
    with pytest.raises(OutputUnreadable, match="a character that no name can have"):
        ZpoolJson(Answering(json.dumps(document))).read()


def test_vdevs_nested_too_deeply_are_told() -> None:
    document = recording("mirrors")["commands"][STATUS]
    (pool,) = document["pools"].values()
    (root,) = pool["vdevs"].values()
    below = root["vdevs"]
    for _ in range(450):
        name, vdev = next(iter(below.items()))
        below = {name: {**vdev, "vdevs": below, "path": ""}}
    root["vdevs"] = below
    assert "nested too deeply" in parse_status(Answer("zpool", "it", document))[0].problem


@pytest.mark.parametrize("size", ["0", "-512", "1"])
def test_a_disk_whose_sectors_have_no_size_is_one_that_cannot_be_read(tmp_path: Path, size: str) -> None:
    found = _read_device(device(tmp_path / "sdb", {**DISK, "queue/logical_block_size": size}))
    assert "its sectors have" in found.unread
    (disk,) = disks_of((found,), surroundings((found,), (), (), (), {}))
    assert disk.holds


def test_numbers_of_zfs_that_are_too_long_are_told_or_left_out() -> None:
    assert held_bytes(Answering(f"77\t9\t{TOO_LONG}\t5\n78\t9\t4096\t5\n"), "tank") == {"78": 4096}
    with pytest.raises(LabelUnreadable, match="state is missing"):
        read_label(Answering(LOG_SIDE.replace("state: 0", f"state: {TOO_LONG}", 1)), SLICE)
    with pytest.raises(OutputUnreadable, match="no number of bytes"):
        read_dataset_facts(Answering(DATASETS.replace("131072", "128K")), "tank", {})


def test_memory_that_is_no_number_is_told_and_no_sample_needs_it(tmp_path: Path) -> None:
    text = f"MemTotal: {TOO_LONG} kB\n"
    with pytest.raises(MachineUnreadable, match="MemTotal"):
        parse_memory(text)
    (tmp_path / "proc").mkdir()
    for odd in (text, "MemTotal:\n", "MemTotal: x kB\n"):
        (tmp_path / "proc/meminfo").write_text(odd)
        assert read_tunables(roots(tmp_path).sys, roots(tmp_path).proc).memory_bytes == 0


def test_a_mount_of_which_no_call_takes_the_name_is_read(tmp_path: Path) -> None:
    """Octal escapes are only those of the kernel: "\\000" is four characters of a name."""
    assert parse_mountinfo(r"1 2 8:1 / /a rw - ext4 /dev/a\000b rw")[0].source == r"/dev/a\000b"
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_bytes(b"1 2 8:1 / /a rw - ext4 /dev/a\0b rw\n")
    (mount,) = read_mounts(tmp_path)
    assert os.path.realpath(mount.source).startswith("/dev/a")


def test_settings_that_are_no_text_are_read_as_far_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "environment").write_bytes(b"# \xff\nNASADVISOR_NODE=nas\n")
    assert read_environment_file(tmp_path / "environment") == {"NASADVISOR_NODE": "nas"}
