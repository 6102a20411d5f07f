"""Reading OpenZFS's counters from files and from zpool iostat."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.pool_facts import Served, Tunables
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.counters import (
    device_at,
    disk_below,
    parse_iostat,
    read_arc,
    read_datasets,
    read_disk,
    read_nfs,
    read_totals,
    read_txgs,
    read_written,
)
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, OutputUnreadable
from nasadvisor.host.evidence.sample import Sampler, read_served, read_tunables, served_as
from nasadvisor.host.storage.machine import Machine
from tests.unit.domain.evidence.kstats import FakeSystem, iostat_block, named, txgs
from tests.unit.fakes import FakeRunner

ZFS_LIST = (
    "zfs list -H -p -r -t filesystem,volume -o "
    "name,type,sync,logbias,recordsize,volblocksize,secondarycache,primarycache,usedbydataset,"
    "refcompressratio,copies,atime,relatime tank"
)
DATASETS = (
    "tank\tfilesystem\tstandard\tlatency\t131072\t-\tall\tall\t98304\t1.00\t1\ton\toff\n"
    "tank/vm 1\tvolume\talways\tthroughput\t-\t16384\tnone\tmetadata\t8589934592\t2.51x\t2\t-\t-\n"
)


@pytest.fixture
def system(tmp_path: Path) -> FakeSystem:
    return FakeSystem(tmp_path)


def test_it_reads_a_dataset_whose_name_has_spaces(system: FakeSystem) -> None:
    system.dataset(54, "tank/my files", zil_commit_count=12, zil_itx_metaslab_slog_alloc=4096, nwritten=99)
    [dataset] = read_datasets(system.kstats / "tank")
    assert (dataset.name, dataset.commits, dataset.log_bytes, dataset.written_bytes) == ("tank/my files", 12, 4096, 99)


def test_a_kstat_of_another_release_reads_as_far_as_it_goes(system: FakeSystem) -> None:
    system.put(system.kstats / "tank/objset-0x36", named({"dataset_name": "tank", "writes": 3}))
    [dataset] = read_datasets(system.kstats / "tank")
    assert (dataset.writes, dataset.commits) == (3, 0)


def test_where_there_is_no_pool_there_is_nothing(system: FakeSystem) -> None:
    assert list(read_datasets(system.kstats / "gone")) == []
    assert read_txgs(system.kstats / "gone") == ()
    assert read_totals(system.kstats / "gone").arc_reads == 0


def test_it_counts_only_transaction_groups_that_are_committed(system: FakeSystem) -> None:
    system.put(system.kstats / "tank/txgs", txgs((4, "C", 250), (5, "S", 9), (6, "O", 9)))
    [txg] = read_txgs(system.kstats / "tank")
    assert (txg.number, txg.duration_ns) == (4, 1000)


def test_it_reads_the_parameters_and_the_release_of_the_module(system: FakeSystem) -> None:
    module = system.roots.sys / "module/zfs"
    for name, value in {
        "zfs_txg_timeout": 7,
        "l2arc_noprefetch": 0,
        "l2arc_write_max": 32 * MIB,
        "l2arc_feed_again": 0,
        "l2arc_dwpd_limit": 0,
        "zil_special_is_slog": 1,
    }.items():
        system.put(module / "parameters" / name, f"{value}\n")
    system.put(module / "version", "2.3.9-1\n")
    system.put(system.roots.proc / "meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n")
    assert read_tunables(system.roots.sys, system.roots.proc) == Tunables(
        txg_timeout_s=7,
        l2arc_write_max_bytes=32 * MIB,
        l2arc_noprefetch=0,
        memory_bytes=2 * MIB,
        zfs_version="2.3.9-1",
        l2arc_feed_again=0,
        l2arc_dwpd_limit=0,
        zil_special_is_slog=1,
    )


def test_without_openzfs_there_are_no_parameters(tmp_path: Path) -> None:
    assert read_tunables(tmp_path, tmp_path) == Tunables(l2arc_noprefetch=0)


def test_it_reads_the_arc(system: FakeSystem) -> None:
    system.arc(
        demand_data_hits=7, demand_metadata_hits=3, demand_data_iohits=2, mru_ghost_hits=4, mfu_ghost_hits=5, c=8
    )
    activity, levels = read_arc(system.kstats)
    assert (activity.demand_hits, activity.ghost_hits, levels.arc_target_bytes) == (12, 9, 8)


def test_it_reads_the_histograms_of_every_vdev() -> None:
    text = iostat_block("tank", {20: 3}) + iostat_block("123", {20: 1, 35: 2}, {10: 4}) + "\n" + iostat_block("9", {})
    pool, mirror, log = parse_iostat(text)
    assert (pool.guid, mirror.guid, log.guid) == ("tank", "123", "9")
    assert mirror.writes == Histogram((*(0,) * 20, 1, *(0,) * 14, 2))
    assert mirror.reads.total == 4
    assert log.writes.total == 0


def test_an_answer_that_is_not_a_table_is_refused() -> None:
    with pytest.raises(OutputUnreadable, match="a row reads"):
        list(parse_iostat("\ntank\n1\tx\t3\n"))
    with pytest.raises(OutputUnreadable, match="3 columns"):
        list(parse_iostat("\ntank\n1\t2\t3\n"))


def test_it_reads_flushes_also_where_the_kernel_tells_none(system: FakeSystem) -> None:
    system.disk("sda", 12, 340)
    system.put(system.roots.sys / "block/old/stat", " ".join(["5"] * 11))
    found, old = read_disk(system.roots.sys, "sda"), read_disk(system.roots.sys, "old")
    assert found
    assert (found.flushes, found.flush_ms, found.read_bytes) == (12, 340, 80 * 512)
    assert old
    assert (old.flushes, old.reads) == (0, 5)
    assert read_disk(system.roots.sys, "gone") is None


def test_the_disk_below_a_partition_is_found(system: FakeSystem) -> None:
    device = system.roots.sys / "devices/pci/block/sdz/sdz1"
    system.put(device / "partition", "1\n")
    (system.roots.sys / "class/block").mkdir(parents=True)
    (system.roots.sys / "class/block/sdz1").symlink_to(device)
    assert device_at(system.roots.sys, "/dev/sdz1") == "sdz1"
    assert disk_below(system.roots.sys, "sdz1") == "sdz"
    assert device_at(system.roots.sys, "/srv/file") == ""
    assert device_at(system.roots.sys, "/dev/sdnone") == ""
    assert disk_below(system.roots.sys, "") == ""


def test_what_was_written_to_a_partition_is_read(system: FakeSystem) -> None:
    system.put(system.roots.sys / "class/block/nvme0n1p2/stat", "5 0 40 1 9 0 72 3 0 4 4\n")
    assert read_written(system.roots.sys, "nvme0n1p2") == 72 * 512
    assert read_written(system.roots.sys, "gone") == 0


def test_it_counts_commits_and_writes_of_both_versions_of_nfs(system: FakeSystem) -> None:
    third = " ".join(str(number) for number in range(22))
    fourth = " ".join(str(number) for number in range(72))
    system.put(system.roots.proc / "net/rpc/nfsd", f"rc 0 0 0\nproc3 22 {third}\nproc4 2 0 9\nproc4ops 72 {fourth}\n")
    assert read_nfs(system.roots.proc) == (21 + 5, 7 + 38)
    assert read_nfs(system.roots.sys) == (0, 0)


class Bench:
    """A sampler over a made-up system with one pool."""

    def __init__(self, system: FakeSystem) -> None:
        self.system = system
        self.seconds = 0.0
        self.answers = {"zpool iostat -vgwHp": "", "zpool list -vHPpg tank": "", ZFS_LIST: DATASETS}
        self.runner = FakeRunner(self.answers)
        leaf = Vdev("77", "disk", "sda", "ONLINE", path="/srv/none")
        self.pools = [Pool("tank", "1", "ONLINE", 12, 0, 0, False, False, "", False, (), data=(leaf,))]
        nobody: Any = None
        clock = lambda: datetime.fromtimestamp(self.seconds, UTC)  # noqa: E731
        machine = Machine(self.runner, nobody, self, nobody, clock, system.roots)
        self.sampler = Sampler(machine, lambda: self.seconds)

    def read(self) -> tuple[Pool, ...]:
        return tuple(self.pools)

    def at(self, seconds: float, commits: int, writes: int, vdev: str = "77") -> None:
        self.seconds = seconds
        self.system.dataset(54, "tank", zil_commit_count=commits)
        self.answers["zpool iostat -vgwHp"] = iostat_block("tank", {20: writes}) + iostat_block(vdev, {20: writes})


def test_the_first_reading_tells_facts_and_the_second_a_sample(system: FakeSystem) -> None:
    bench = Bench(system)
    bench.at(1000, commits=5, writes=10)
    first = bench.sampler.sample()
    assert first.samples == ()
    assert [each.sync for each in first.facts[0].datasets] == ["standard", "always"]
    assert first.facts[0].datasets[1].block_bytes == 16384
    assert [(each.cached, each.used_bytes) for each in first.facts[0].datasets] == [("all", 98304), ("none", 8 * GIB)]
    assert first.facts[0].leaves[0].guid == "77"
    bench.at(1010, commits=105, writes=40)
    second = bench.sampler.sample()
    assert second.facts == ()
    assert (second.samples[0].commits, second.samples[0].vdevs[0].writes.total) == (100, 30)


def test_facts_tell_what_multiplies_and_divides_what_is_written(system: FakeSystem) -> None:
    bench = Bench(system)
    device = system.roots.dev / "zd16"
    system.put(device, "")
    (system.roots.dev / "zvol/tank").mkdir(parents=True)
    (system.roots.dev / "zvol/tank/vm+1").symlink_to(device)
    swaps = "Filename\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/zd16      partition\t8388604\t\t0\t\t-2\n"
    system.put(system.roots.proc / "swaps", swaps)
    bench.at(0, 0, 0)
    files, volume = bench.sampler.sample().facts[0].datasets
    assert (files.compress_ratio, files.copies, files.keeps_access_times, files.is_swap) == (1.0, 1, True, False)
    assert (volume.compress_ratio, volume.copies, volume.keeps_access_times, volume.is_swap) == (2.51, 2, False, True)


def test_a_cache_that_is_out_of_service_is_not_judged_as_one_that_serves_nothing(system: FakeSystem) -> None:
    bench = Bench(system)
    caches = tuple(Vdev(guid, "disk", "nvme0n1p1", state) for guid, state in (("41", "OFFLINE"), ("42", "ONLINE")))
    logs = (Vdev("31", "disk", "nvme0n1p2", "OFFLINE"),)
    bench.pools = [replace(bench.pools[0], caches=caches, logs=logs)]
    bench.at(0, 0, 0)
    [facts] = bench.sampler.sample().facts
    assert {leaf.guid for leaf in facts.leaves} == {"77", "31", "42"}


@pytest.mark.parametrize("is_unread", [False, True])
def test_a_pool_that_went_or_could_not_be_read_is_no_reason_to_sample_no_other(
    system: FakeSystem, is_unread: bool
) -> None:
    bench = Bench(system)
    other = replace(bench.pools[0], name="gone", guid="2", problem="odd" if is_unread else "")
    bench.pools.insert(0, other)
    bench.answers[ZFS_LIST.replace("tank", "gone")] = CommandFailed("zfs list", 1, "", mutates=False)  # type: ignore[assignment]
    bench.at(1000, commits=5, writes=10)
    assert [facts.name for facts in bench.sampler.sample().facts] == ["tank"]
    bench.at(1010, commits=105, writes=40)
    assert [sample.pool_name for sample in bench.sampler.sample().samples] == ["tank"]


@pytest.mark.parametrize(("state", "device"), [("ONLINE", "sdz1"), ("FAULTED", ""), ("UNAVAIL", "")])
def test_what_has_the_path_of_a_leaf_that_is_not_open_is_not_counted_as_its_device(
    system: FakeSystem, state: str, device: str
) -> None:
    bench = Bench(system)
    system.put(system.roots.sys / "class/block/sdz1/stat", "5 0 40 1 9 0 72 3 0 4 4\n")
    bench.pools = [replace(bench.pools[0], logs=(Vdev("31", "disk", "sdz1", state, "/dev/sdz1"),))]
    bench.at(0, 0, 0)
    (facts,) = bench.sampler.sample().facts
    assert {leaf.guid: leaf.device for leaf in facts.leaves}["31"] == device


def test_facts_are_read_again_when_a_vdev_was_added_and_after_some_minutes(system: FakeSystem) -> None:
    bench = Bench(system)
    for seconds, vdev, expected in ((0, "77", 1), (10, "77", 0), (20, "78", 1), (30, "78", 0), (400, "78", 1)):
        bench.at(seconds, 0, 0, vdev)
        assert len(bench.sampler.sample().facts) == expected, seconds


def test_a_reading_starts_one_program(system: FakeSystem) -> None:
    bench = Bench(system)
    bench.at(0, 0, 0)
    bench.sampler.sample()
    bench.runner.ran.clear()
    bench.at(10, 1, 1)
    bench.sampler.sample()
    assert [str(command) for command in bench.runner.ran] == ["zpool iostat -vgwHp"]


def test_of_a_pool_with_a_log_each_reading_tells_what_it_holds_and_a_sum_keeps_the_most(system: FakeSystem) -> None:
    bench = Bench(system)
    sides = (Vdev("31", "disk", "nvme0n1p1", "ONLINE"), Vdev("32", "disk", "nvme1n1p1", "ONLINE"))
    bench.pools = [replace(bench.pools[0], logs=(Vdev("30", "mirror", "mirror-1", "ONLINE", children=sides),))]
    samples: list[Sample] = []
    for seconds, held in ((0, 5), (10, 300), (20, 120)):
        bench.answers["zpool list -vHPpg tank"] = (
            f"tank\t900\t700\t200\n\t77\t900\t700\n\t30\t500\t{held}\n\t31\t-\t-\n"
        )
        bench.at(seconds, commits=seconds * 10, writes=10)
        samples += bench.sampler.sample().samples
    assert [each.busy.peak_log_bytes for each in samples] == [300, 120]
    assert (merge(samples).busy.peak_log_bytes, merge(samples).busy.commits) == (300, 200)


def test_a_pool_that_is_gone_since_its_facts_were_read_has_no_log(system: FakeSystem) -> None:
    bench = Bench(system)
    bench.pools = [replace(bench.pools[0], logs=(Vdev("31", "disk", "nvme0n1p1", "ONLINE"),))]
    gone = CommandFailed("zpool list -vHPpg tank", 1, "", mutates=False)
    bench.answers["zpool list -vHPpg tank"] = gone  # type: ignore[assignment]
    for seconds in (0, 10):
        bench.at(seconds, seconds, seconds)
        reading = bench.sampler.sample()
    assert reading.samples[0].busy.peak_log_bytes == 0


def test_whose_disks_lie_on_a_dataset_is_seen_from_what_is_served(system: FakeSystem) -> None:
    sys, proc = system.roots.sys, system.roots.proc
    target, scst = sys / "kernel/config/target/core", sys / "kernel/scst_tgt/devices"
    system.put(target / "iblock_0/vol/udev_path", "/dev/zvol/tank/vm+1\n")
    system.put(target / "fileio_1/img/udev_path", "/mnt/tank/images/a.img\n")
    system.put(scst / "first/filename", "/dev/zvol/tank/nas\n[key]\n")
    system.put(scst / "first/write_through", "0\n")
    system.put(scst / "careful/filename", "/dev/zvol/tank/careful\n")
    system.put(scst / "careful/write_through", "1\n")
    exports = "# Version 1.1\n/mnt/tank/vm\\040ware\t10.0.0.0/8(rw,async,wdelay)\n/mnt/tank\t*(rw,sync,wdelay)\n"
    system.put(proc / "fs/nfsd/exports", exports)
    names = {"tank": "/mnt/tank", "tank/images": "/mnt/tank/images", "tank/vmware": "/mnt/tank/vm\\040ware"}
    lines = [f"36 35 0:4{number} / {path} rw - zfs {name} rw" for number, (name, path) in enumerate(names.items())]
    system.put(proc / "self/mountinfo", "\n".join(lines))
    served = read_served(system.roots, ("vm-100-disk-0",))
    assert {name: served_as(name, served) for name in ("tank/vm 1", "tank/images", "tank/nas", "tank/vmware")} == {
        "tank/vm 1": Served.BLOCK,
        "tank/images": Served.BLOCK,
        "tank/nas": Served.BLOCK,
        "tank/vmware": Served.NFS_ASYNC,
    }
    assert served_as("rpool/data/vm-100-disk-0", served) is Served.VM_UNSAFE
    for name in ("tank", "tank/careful", "rpool/data/vm-100-disk-1"):
        assert served_as(name, served) is Served.NO


def test_where_openzfs_is_not_loaded_nothing_is_asked(tmp_path: Path) -> None:
    bench = Bench(FakeSystem(tmp_path))
    assert bench.sampler.sample().samples == ()
    assert bench.runner.ran == []


def test_after_a_hang_it_rests_for_a_while(system: FakeSystem) -> None:
    bench = Bench(system)
    bench.at(10, 0, 0)
    hung = CommandTimedOut("zpool iostat", 30, mutates=False, still_running=True)
    bench.answers["zpool iostat -vgwHp"] = hung  # type: ignore[assignment]
    with pytest.raises(CommandTimedOut):
        bench.sampler.sample()
    bench.at(300, 0, 0)
    assert bench.sampler.sample().facts == ()
    bench.at(620, 0, 0)
    assert len(bench.sampler.sample().facts) == 1
