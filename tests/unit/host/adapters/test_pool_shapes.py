"""Both pool readers on recorded pools of every shape: what they must see, and that they see the same."""

import json
from dataclasses import replace

import pytest

from nasadvisor.domain.storage.inventory import Pool, Scan, Vdev
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.pools import LibzfsPools
from nasadvisor.host.adapters.zpool import ZpoolJson, parse_status
from tests.unit.host.adapters.recordings import SHAPES, recording, runner
from tests.unit.host.adapters.standin import module


def read(shape: str) -> Pool:
    (pool,) = ZpoolJson(runner(shape)).read()
    return pool


def sketch(vdevs: tuple[Vdev, ...]) -> str:
    """The tree in one line: kind(children), and the state where it is not ONLINE."""
    return " ".join(
        vdev.kind
        + (f"({sketch(vdev.children)})" if vdev.children else "")
        + ("" if vdev.state == "ONLINE" else f":{vdev.state}")
        for vdev in vdevs
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_both_readers_agree(shape: str) -> None:
    assert LibzfsPools(module(recording(shape)["libzfs"])).read() == (read(shape),)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_vdev_has_a_guid_of_its_own(shape: str) -> None:
    pool = read(shape)
    in_tree = [
        vdev.guid for tops in (pool.data, pool.logs, pool.specials, pool.dedups) for t in tops for vdev in t.walk()
    ]
    assert all(guid.isdecimal() for guid in in_tree)
    assert len(set(in_tree)) == len(in_tree)


def test_mirrors_of_whole_disks() -> None:
    pool = read("mirrors")
    assert (pool.name, pool.guid, pool.state, pool.ashift) == ("tank", "6476470646084925640", "ONLINE", 12)
    assert [top.name for top in pool.data] == ["mirror-0", "mirror-1"]
    leaf = pool.data[0].children[0]
    assert leaf.path == "/dev/disk/by-id/ata-WDC_WD6002FFWX-68TZ4N0_WD-NCGWBBP0-part1"
    assert leaf.name == "ata-WDC_WD6002FFWX-68TZ4N0_WD-NCGWBBP0-part1"
    assert (leaf.guid, leaf.kind, leaf.state, leaf.children) == ("8872054337440610994", "disk", "ONLINE", ())
    assert (pool.size_bytes, pool.read_only, pool.suspended, pool.multihost) == (8053063680, False, False, False)
    assert "allocation_classes" in pool.features
    assert (pool.checkpoint, pool.scan, pool.locked_datasets) == ("", "", ())
    assert (pool.logs, pool.caches, pool.specials, pool.dedups, pool.spares) == ((), (), (), (), ())


@pytest.mark.parametrize(
    ("shape", "percent"), [("rebuild", 25), ("mirrors", 0), ("old-features", None), ("suspended", None)]
)
def test_how_fragmented_the_free_space_is_where_the_pool_tells(shape: str, percent: int | None) -> None:
    assert read(shape).fragmentation_percent == percent


def test_logs_and_caches_stand_by_class() -> None:
    pool = read("log-caches")
    assert (sketch(pool.data), sketch(pool.logs), sketch(pool.caches)) == (
        "mirror(file file)",
        "mirror(file file)",
        "file file",
    )
    assert [(top.name, top.ashift) for top in pool.logs] == [("mirror-1", 9)]


@pytest.mark.parametrize(("shape", "ashift"), [("single-log", 12), ("raidz", 13), ("log-caches", 9)])
def test_ashift_is_that_of_the_data_vdevs(shape: str, ashift: int) -> None:
    assert read(shape).ashift == ashift


def test_single_log_is_a_leaf() -> None:
    pool = read("single-log")
    assert sketch(pool.logs) == "file"
    assert pool.logs[0].ashift == 12


def test_raidz_and_draid_keep_openzfs_own_names() -> None:
    assert [(top.kind, top.name) for top in read("raidz").data] == [("raidz", "raidz2-0")]
    draid = read("draid")
    assert [(top.kind, top.name) for top in draid.data] == [("draid", "draid1:2d:5c:1s-0")]
    assert sketch(draid.spares) == "dspare:AVAIL"


def test_states_are_those_of_zpool_status() -> None:
    assert sketch(read("degraded").data) == "mirror(file:OFFLINE file):DEGRADED mirror(file:FAULTED file):DEGRADED"
    pool = read("missing")
    assert pool.state == "DEGRADED"
    assert sketch(pool.data) == "mirror(file:UNAVAIL file):DEGRADED"
    assert sketch(pool.logs) == "mirror(file:UNAVAIL file):DEGRADED"
    assert (sketch(pool.caches), sketch(pool.spares)) == ("file:UNAVAIL", "file:UNAVAIL")
    gone = pool.data[0].children[0]
    assert (gone.name, gone.path) == ("v1", "/root/inv/f/v1"), "where it was, not its guid"
    assert sketch(read("missing-log").logs) == "file:UNAVAIL"


def test_checkpoint_is_seen() -> None:
    assert read("checkpoint").checkpoint == "45 KiB"


def test_special_dedup_and_spares() -> None:
    pool = read("classes")
    assert (sketch(pool.specials), sketch(pool.dedups)) == ("mirror(file file)", "mirror(file file)")
    assert (sketch(pool.data), sketch(pool.spares)) == ("mirror(file file)", "file:AVAIL")
    in_use = read("spare-in-use")
    assert (sketch(in_use.data), sketch(in_use.spares)) == ("mirror(spare(file file) file)", "file:INUSE")


def test_two_vdevs_of_the_same_name_are_told_apart() -> None:
    """`zpool status -j` shows both "replacing-0" with the guid of the first."""
    first, second = (top.children[0] for top in read("replacing").data)
    assert (first.name, second.name) == ("replacing-0", "replacing-0")
    assert first.guid != second.guid
    assert {leaf.name for leaf in first.leaves()} == {"v1", "v5"}
    assert {leaf.name for leaf in second.leaves()} == {"v3", "v6"}


@pytest.mark.parametrize(("shape", "names"), [("hole", ["mirror-0", "mirror-2"]), ("indirect", ["mirror-1"])])
def test_places_left_by_removed_vdevs_are_dropped(shape: str, names: list[str]) -> None:
    pool = read(shape)
    assert [top.name for top in pool.data] == names
    assert not pool.logs


def test_what_runs_now() -> None:
    scans = {shape: read(shape).scan for shape in ("mirrors", "scrub", "replacing", "rebuild")}
    assert scans == {"mirrors": "", "scrub": "scrub", "replacing": "resilver", "rebuild": "resilver"}


def test_odd_names_come_through() -> None:
    pool = read("odd-names")
    assert pool.name == "inv_odd na:me.1"
    assert [leaf.name for leaf in pool.data[0].leaves()] == ['ü "quoted" it\'s \\ x', "new\nline"]


def test_properties_that_forbid_things() -> None:
    assert read("read-only").read_only
    assert read("multihost").multihost
    assert read("old-features").features == ()


def test_suspended_pool_is_not_asked_for_anything_on_its_disks() -> None:
    fake = runner("suspended")
    (pool,) = ZpoolJson(fake).read()
    assert (pool.state, pool.suspended) == ("SUSPENDED", True)
    assert pool.data[0].write_errors == 8
    assert [str(command) for command in fake.ran] == ["zpool status -j -P -p"]


def test_the_last_scan_is_known_once_it_has_ended() -> None:
    last = read("spare-in-use").last_scan
    assert last
    assert replace(last, seconds=0, read_bytes=0) == Scan("resilver", "2026-11-21T12:48:57+00:00", 0)
    assert read("scrub").last_scan is None


def test_since_when_a_scrub_is_paused_is_told_by_both_readers() -> None:
    kept = recording("scrub")
    [pool] = ZpoolJson(runner("scrub")).read()
    assert pool.scan_progress
    assert pool.scan_progress.paused_at == ""
    kept["commands"]["zpool status -j -P -p"]["pools"]["inv_a"]["scan_stats"]["scrub_pause"] = "1795265500"
    kept["libzfs"]["config"]["vdev_tree"]["scan_stats"][11] = 1795265500
    status = Answer.of("zpool status -j -P -p", json.dumps(kept["commands"]["zpool status -j -P -p"]))
    [by_json], [by_binding] = parse_status(status), LibzfsPools(module(kept["libzfs"])).read()
    assert by_json.scan_progress == by_binding.scan_progress
    assert by_json.scan_progress
    assert by_json.scan_progress.paused_at == "2026-11-21T12:51:40+00:00"


def test_damaged_files_are_counted() -> None:
    assert (read("suspended").data_errors, read("mirrors").data_errors) == (7, 0)


def test_slow_requests_are_counted_by_both_readers() -> None:
    document = recording("mirrors")
    (pool,) = document["commands"]["zpool status -j -P -p"]["pools"].values()
    leaf = next(iter(next(iter(pool["vdevs"][pool["name"]]["vdevs"].values()))["vdevs"].values()))
    leaf["slow_ios"] = "3"
    (by_json,) = parse_status(Answer.of("it", json.dumps(document["commands"]["zpool status -j -P -p"])))
    stats = [0] * 34 + [3]
    document["libzfs"]["config"]["vdev_tree"]["children"][0]["children"] = [
        {"guid": int(leaf["guid"]), "vdev_stats": stats}
    ]
    (by_binding,) = LibzfsPools(module(document["libzfs"])).read()
    assert by_json.data[0].children[0].slow_ios == by_binding.data[0].children[0].slow_ios == 3
