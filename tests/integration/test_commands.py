"""Commands that findings and refusals name, followed word for word on real OpenZFS in the state in which they are said.

Each state is made by real means, read by the product's own readers, and put right by what its own sentence says; then
nothing is said of it any more, and the data are there to the last byte. `tests/tried.py` says which test tries what.
"""

import re
from collections.abc import Iterator

import pytest

from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.change.refusals import CacheOverwritten, LogHasErrors, PoolAway
from nasadvisor.domain.evidence.metadata_size import command_of, sides_of, special_size
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.pool_findings import member_finding
from nasadvisor.domain.statements import Finding, Refused, Statement
from nasadvisor.domain.storage.inventory import Pool, VdevClass
from tests.integration.agent import Agent
from tests.unit.domain.evidence.counts import COUNT

pytestmark = pytest.mark.lab

PLACE = "/dev/shm/walk"
KEPT = f"head -c 1000000 /dev/urandom | dd of=/walk/kept bs=64k oflag=sync status=none; cp /walk/kept {PLACE}/kept"
CHECK = f"cmp /walk/kept {PLACE}/kept"
REFUSED = "refused"
DAYS_60 = 60 * 24 * 3600


@pytest.fixture
def walked(agent: Agent) -> Iterator[Agent]:
    """The agent in a guest with a folder for the devices of a pool called walk."""
    agent.guest.run(f"rm -rf {PLACE} && mkdir {PLACE}")
    yield agent
    agent.guest.run(f"zpool list walk > /dev/null 2>&1 && zpool destroy -f walk; rm -rf {PLACE}")


def pool_named(agent: Agent, name: str) -> tuple[Pool, dict[str, Statement]]:
    """A pool as it is read, and what is said of it, by code; why it may not be changed as well."""
    inventory = agent.inventory()
    (pool,) = [pool for pool in inventory.pools if pool.name == name]
    found: dict[str, Statement] = {
        finding.code: finding for finding in findings_of(inventory) if finding.values["pool"] == name
    }
    refused = can_use_pool(pool, inventory.host, adds_log=True)
    return pool, found | ({REFUSED: refused} if isinstance(refused, Refused) else {})


def named(statement: Statement, start: str) -> str:
    """The one command that a sentence or its explanation names that begins so."""
    told = f"{statement} {statement.why if isinstance(statement, Finding) else ''}"
    (command,) = {command for command in re.findall("`([^`]+)`", told) if command.startswith(start)}
    return str(command)


@pytest.mark.long
def test_what_somebody_took_out_of_service_comes_back_by_the_commands_that_are_named(walked: Agent) -> None:
    """Proves: with a disk, a side of a log and a cache offline, another cache gone, a checkpoint and no scrub, each
    finding names the command that ends it, and afterwards nothing is left to be said."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 d1 l0 l1 c0 c1 && "
        "zpool create -o ashift=12 walk mirror $PWD/d0 $PWD/d1 log mirror $PWD/l0 $PWD/l1 cache $PWD/c0 $PWD/c1 && "
        f"{KEPT} && zpool offline walk $PWD/d1 && zpool offline walk $PWD/l1 && zpool offline walk $PWD/c0 && "
        "zpool offline -f walk $PWD/c1 && zpool checkpoint walk"
    )
    pool, found = pool_named(walked, "walk")
    disk = next(each for top in pool.data for each in top.leaves() if each.state == "OFFLINE")
    member = member_finding(pool, VdevClass.NORMAL, disk, "d1")
    assert member
    assert found[REFUSED].code == "pool-not-online"
    guest.run(named(found[REFUSED], "zpool status"))
    assert "walk" in guest.run(named(found["cache-out-of-service"], "zpool status")).stdout
    assert guest.run(named(found["cache-missing"], "zpool remove"), check=False).code != 0, "there is a checkpoint"
    discard = named(found["pool-checkpoint"], "zpool checkpoint")
    assert named(found["cache-missing"], "zpool checkpoint") == discard
    guest.run(f"{discard} && zpool wait -t discard walk")
    for statement, start in (
        (member, "zpool online"),
        (found["log-out-of-service"], "zpool online"),
        (found["cache-out-of-service"], "zpool online"),
        (found["cache-missing"], "zpool remove"),
        (found["scrub-unknown"], "zpool scrub"),
    ):
        guest.run("zpool wait -t resilver walk")
        guest.run(named(statement, start))
    guest.run(f"zpool wait -t scrub,resilver walk; {CHECK}")
    pool, found = pool_named(walked, "walk")
    assert set(found) == set()
    assert [each.path[-2:] for each in pool.caches] == ["c0"]


def test_a_log_that_is_ill_goes_or_comes_back_by_the_commands_that_are_named(walked: Agent) -> None:
    """Proves: where logs alone ail a pool, finding and refusal name the same command, and it makes the pool whole."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 d1 l0 l1 l2 && zpool create -o ashift=12 walk mirror $PWD/d0 $PWD/d1 "
        f"log $PWD/l2 mirror $PWD/l0 $PWD/l1 && {KEPT} && zpool scrub -w walk"
    )
    for make, code, start, left in (
        ("zpool offline walk {0}/l1", "log-out-of-service", "zpool online", ["l0", "l1", "l2"]),
        ("zpool offline -f walk {0}/l1", "log-one-side", "zpool detach", ["l0", "l2"]),
        ("zpool offline -f walk {0}/l2", "log-missing", "zpool remove", ["l0"]),
        ("zpool offline walk {0}/l0", "log-out-of-service", "zpool remove", []),
    ):
        guest.run(make.format(PLACE))
        pool, found = pool_named(walked, "walk")
        command = named(found[code], start)
        assert left == [] or named(found[REFUSED], start) == command
        guest.run(command)
        pool, found = pool_named(walked, "walk")
        assert sorted(each.path[-2:] for top in pool.logs for each in top.leaves()) == left
        assert set(found) <= {"log-single"}
    guest.run(CHECK)


@pytest.mark.long
def test_damage_and_age_are_over_after_the_commands_that_are_named(walked: Agent) -> None:
    """Proves: a pool of one device, without features, last scrubbed 60 days ago and damaged in one file: each
    finding names what ends it, `zpool status -v` names the file, and no other file loses a byte."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 && head -c 1000000 /dev/urandom > hurt && "
        "head -c 100000 hurt | tail -c 64 > mark && zpool create -d -o ashift=12 -O compression=off walk $PWD/d0 && "
        f"{KEPT} && cp hurt /walk/hurt && zpool sync walk && "
        f"{{ date -s @$(($(date +%s) - {DAYS_60})); zpool scrub -w walk; date -s @$(($(date +%s) + {DAYS_60})); }}"
    )
    guest.run(
        f"""python3 -c '
import mmap
with open("{PLACE}/d0", "r+b") as device, mmap.mmap(device.fileno(), 0) as bytes_:
    at = bytes_.find(open("{PLACE}/mark", "rb").read())
    bytes_[at : at + 64] = bytes(64)
'"""
    )
    pool, found = pool_named(walked, "walk")
    assert found[REFUSED].code == "feature-missing"
    guest.run(named(found[REFUSED], "zpool set"))
    guest.run(f"{named(found['scrub-old'], 'zpool scrub')}; zpool wait -t scrub walk")
    pool, found = pool_named(walked, "walk")
    assert "scrub-old" not in found
    assert "allocation_classes" in pool.features
    assert "/walk/hurt" in guest.run(named(found["data-errors"], "zpool status")).stdout
    scrub = named(found["data-errors"], "zpool scrub")
    guest.run(f"rm /walk/hurt; cp {PLACE}/hurt /walk/hurt; {f'{scrub}; zpool wait -t scrub walk; ' * 2}{CHECK}")
    clear = named(found["device-errors"], "zpool clear")
    assert named(found["device-errors"], "zpool scrub") == scrub
    guest.run(clear)
    assert pool_named(walked, "walk")[1] == {}
    guest.run(f"cmp /walk/hurt {PLACE}/hurt")


DEGRADE = """
import ctypes, sys
zfs, pointer = ctypes.CDLL("libzfs.so.6"), ctypes.c_void_p
zfs.libzfs_init.restype = zfs.zpool_open.restype = pointer
pool = zfs.zpool_open(pointer(zfs.libzfs_init()), sys.argv[1].encode())
sys.exit(zfs.zpool_vdev_degrade(pointer(pool), ctypes.c_uint64(int(sys.argv[2])), 3))
"""
"""What zed does with a device that had too many errors: zfs_retire_recv() in cmd/zed/agents/zfs_retire.c."""


@pytest.mark.long
def test_ssds_are_trimmed_and_a_failing_log_is_taken_out_by_the_commands_that_are_named(walked: Agent) -> None:
    """Proves: a log that had errors is let go without a hang while its SSD does not answer, nothing is lost, and SSDs
    that were never trimmed are."""
    guest = walked.guest
    disks = guest.disks()
    guest.run(f"zpool create -o ashift=12 walk {disks['nvme1'].by_id} log {disks['nvme0'].by_id} && {KEPT}")
    pool, found = pool_named(walked, "walk")
    guest.run(f"{named(found['never-trimmed'], 'zpool trim')} && zpool wait -t trim walk")
    (log,) = pool.logs
    guest.run(named(found["never-trimmed"], "zpool set"))
    guest.run(["python3", "-c", DEGRADE, "walk", log.guid])
    pool, found = pool_named(walked, "walk")
    assert "never-trimmed" not in found
    offline = named(found["log-failing"], "zpool offline -f walk")
    assert {
        named(found[REFUSED], "zpool offline"),
        named(LogHasErrors(pool, log), "zpool offline -f walk"),
    } == {offline}
    guest.fail("nvme0")
    guest.run(offline)
    pool, found = pool_named(walked, "walk")
    guest.run(next(named(each, "zpool remove") for each in found.values() if each.code in ("log-missing", "log-lost")))
    guest.fail("nvme0", on=False)
    pool, found = pool_named(walked, "walk")
    assert (pool.state, pool.logs) == ("ONLINE", ())
    guest.run(CHECK)


@pytest.mark.long
def test_a_pool_without_its_log_is_imported_by_the_command_that_is_named(walked: Agent) -> None:
    """Proves: an exported pool is imported by its guid; one whose log is gone is refused, imported with -m, and rid of
    the log by the command that is named then."""
    guest = walked.guest
    log = guest.disks()["nvme0"].by_id
    guest.run(f"zfs create -o mountpoint=/walk -o sync=always tank/walk && zpool add tank log {log} && {KEPT}")
    pool, _found = pool_named(walked, "tank")
    guest.run(f"zpool export tank && {named(PoolAway(pool.name, pool.guid), 'zpool import')} && {CHECK}")
    guest.fail("nvme0")
    guest.run("dd if=/dev/zero of=/walk/more bs=4k count=4 status=none")
    guest.run("until zpool status tank | grep FAULTED; do sleep 1; done")
    pool, found = pool_named(walked, "tank")
    again = named(found["log-missing"], "zpool import")
    guest.fail("nvme0", on=False)
    guest.run(f"zpool clear tank && zpool export tank && zpool labelclear -f {log}-part1")
    assert guest.run("zpool import tank", check=False).code != 0
    guest.run(again)
    pool, found = pool_named(walked, "tank")
    guest.run(named(found["log-lost"], "zpool remove"))
    pool, found = pool_named(walked, "tank")
    assert (pool.state, pool.logs) == ("ONLINE", ())
    guest.run(CHECK)


@pytest.mark.long
@pytest.mark.parametrize("start", ["zpool remove", "wipefs --all"])
def test_a_cache_that_was_overwritten_goes_or_comes_back_by_the_commands_that_are_named(
    walked: Agent, start: str
) -> None:
    """Proves: let go, what somebody made on the cache while it was out of service is kept to the last byte; cleared,
    the cache serves again."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 c0 && zpool create -o ashift=12 walk $PWD/d0 cache $PWD/c0 && {KEPT} && "
        "zpool offline walk $PWD/c0 && mkfs.ext4 -q -F -E nodiscard c0 && sha256sum c0 > sum"
    )
    pool, _found = pool_named(walked, "walk")
    (cache,) = pool.caches
    guest.run(named(CacheOverwritten(pool, cache, "ext4"), start))
    if start == "zpool remove":
        guest.run(f"cd {PLACE} && sha256sum --quiet --check sum")
    else:
        guest.run(f"zpool online walk {cache.guid}")
    pool, found = pool_named(walked, "walk")
    assert [each.state for each in pool.caches] == ([] if start == "zpool remove" else ["ONLINE"])
    assert set(found) == {"scrub-unknown"}
    guest.run(CHECK)


WORKS = (
    "zpool get ashift tank all-vdevs",
    "zpool history tank",
    "zpool status -g tank",
    "zpool list -vHPpg tank",
    "zfs list -o space -r tank",
    "zfs list -t snapshot",
    "lsblk -o NAME,SIZE,PARTUUID",
    "lsblk {disk}",
    "zdb -l {disk}-part1",
    "sleep 60 < {disk}-part1 & fuser -v {disk}-part1",
    "smartctl -i {disk}",
    "udevadm trigger {disk} && udevadm settle",
    "udevadm trigger --subsystem-match=block && udevadm settle",
    "zfs rewrite -r /tank",
    "echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled",
    "echo 0 > /sys/module/zfs/parameters/zfs_dio_enabled",
    "echo 0 > /sys/module/zfs/parameters/zfs_dmu_offset_next_sync",
    "zfs set dedup=off tank",
    "zfs set recordsize=16K tank",
    "zfs set relatime=on tank",
    "systemctl enable --now zfs-scrub-monthly@tank.timer",
    "systemctl is-active zfs-scrub-monthly@tank.timer",
)
"""What is named to look at something, or to set what OpenZFS itself has no state for."""


def test_what_is_only_looked_at_or_set_works_as_it_is_named(walked: Agent) -> None:
    """Proves: each ends with 0 on a pool, a disk of it that is in use, and its SSDs as they are."""
    guest = walked.guest
    disks = guest.disks()
    for command in WORKS:
        guest.run(f"({command.format(disk=disks['hdd0'].by_id)}) > /dev/null")
    guest.run(
        "systemctl disable --now zfs-scrub-monthly@tank.timer; echo 1 | tee /sys/module/zfs/parameters/zfs_*_enabled"
    )


@pytest.mark.long
@pytest.mark.parametrize("data", ["d0", "raidz2 d0 d1 d2 d3"])
def test_special_vdevs_are_made_by_the_command_that_is_named(walked: Agent, data: str) -> None:
    """Proves: beside disks without a mirror and beside others, without force, and as many SSDs may die as was said."""
    guest = walked.guest
    guest.run(
        f"cd {PLACE} && truncate -s 128M d0 d1 d2 d3 SSD-1 SSD-2 SSD-3 && "
        f"zpool create -o ashift=12 walk {data.replace(' d', f' {PLACE}/d') if ' ' in data else f'{PLACE}/{data}'}"
    )
    pool, _found = pool_named(walked, "walk")
    command = command_of(special_size(COUNT, pool), pool)
    guest.run(command.replace("SSD-", f"{PLACE}/SSD-"))
    pool, _found = pool_named(walked, "walk")
    assert [len(top.children) for top in pool.specials] == [sides_of(pool)]
