"""How runs end on real OpenZFS after somebody else did something: SSDs pulled, pools renamed, exported or destroyed,
keys not loaded, partitions in use. Applied and undone by the command line; every ending is compared with the host."""

import re

import pytest

from tests.integration.command_line import CommandLine, cli
from tests.integration.test_stories import CHECK, PHOTOS, writing
from tests.lab.guest import Guest

pytestmark = pytest.mark.lab
__all__ = ["cli"]

LOG = ("--log-size", "128M")
CACHE = ("--cache-size", "256M")
TABLE = "blockdev --flushbufs {0}; head -c 17408 {0} | sha256sum; tail -c 16896 {0} | sha256sum"
"""Of a disk with sectors of 512 bytes: the protective MBR and both tables with their headers."""
FRIEND = (
    "sgdisk --new=1:1M:+1G {0} && udevadm settle && mkfs.ext4 -q {0}-part1 && mkdir -p /mnt/friend && "
    "mount {0}-part1 /mnt/friend && cp /etc/services /mnt/friend/ && sync"
)
SECRET = (
    "echo passpasspass > /root/key; zfs create -o encryption=on -o keyformat=passphrase "
    "-o keylocation=file:///root/key tank/{0}"
)
FILE = "dd if=/dev/urandom of=/tank/{0}/file bs=64k count=10 {1} status=none"


def wish(guest: Guest, *log: str, cache: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Options of a plan with a log on some SSDs and a cache on some, by their names in the scenario."""
    disks = guest.disks()
    logs = ("--log", *(disks[name].by_id for name in log), *LOG) if log else ()
    return (*logs, *(("--cache", *(disks[name].by_id for name in cache), *CACHE) if cache else ()))


def status(guest: Guest, pool: str = "tank") -> str:
    return guest.run(["zpool", "status", "-P", pool]).stdout


def wait_for_log(guest: Guest, state: str) -> None:
    """Until the only log of the pool is in a state."""
    guest.run(f"until zpool status -P tank | grep -Eq 'by-(partuuid|id)/[^ ]+ +{state}'; do sleep 0.3; done")


def is_as_before(guest: Guest, pool: str = "tank") -> bool:
    """Whether the pool is well and has neither a log nor a cache."""
    said = status(guest, pool)
    return "state: ONLINE" in said and not re.search(r"\blogs\b|\bcache\b", said)


@pytest.mark.long
def test_beside_a_mounted_partition_nothing_is_left_and_the_ssd_can_be_planned_on_again(cli: CommandLine) -> None:
    """Proves: the kernel lets go of the deleted slice although it cannot read the table again, the old table is written
    back and so called, no hole is spoken of where no log was, and the partition beside it is untouched."""
    guest = cli.guest
    disk = guest.disks()["sata0"]
    guest.run(FRIEND.format(disk.by_id))
    table = guest.run(TABLE.format(disk.by_id)).stdout
    options = (*wish(guest, cache=("sata0",)), "--use-free-space")
    ending = cli.ending("undo", cli.apply(*options))
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert "byte for byte as before" in ending.notes
    assert "hole" not in ending.notes
    node = disk.device.removeprefix("/dev/")
    assert guest.run(f"cd /sys/block/{node} && echo {node}*").stdout.split() == [f"{node}1"]
    assert guest.run(TABLE.format(disk.by_id)).stdout == table
    again = cli("plan", "--pool", "tank", *options)
    assert again.code == 0, again.stderr
    guest.run("cmp /etc/services /mnt/friend/services")


def test_a_dead_ssd_does_not_keep_the_other_one(cli: CommandLine) -> None:
    """Proves: an SSD of a mirrored log is pulled; undo, under writers, frees the other one to the last byte
    and says what it could not reach; the SSD is put back, and the same undo frees it too."""
    guest = cli.guest
    guest.run(PHOTOS)
    blank = guest.digests("nvme0", "nvme1")
    run = cli.apply(*wish(guest, "nvme0", "nvme1"))
    (gone,) = {piece.disk_path for piece in cli.shown(run).plan.slices} & set(guest.disks()["nvme0"].links)
    guest.vanish("nvme0")
    with writing(guest):
        ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert gone in ending.notes
    assert "undo this run once more" in ending.notes
    assert is_as_before(guest)
    assert guest.digests("nvme1") == {"nvme1": blank["nvme1"]}
    guest.bring_back("nvme0")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert guest.digests("nvme0", "nvme1") == blank
    guest.run(CHECK)


@pytest.mark.long
def test_the_only_log_is_taken_out_although_its_ssd_answers_with_errors(cli: CommandLine) -> None:
    """Proves: the pool is freed of the log while its SSD does not work, and the run needs attention for as long as its
    slice stands there; once the SSD works again, the same undo ends it."""
    guest = cli.guest
    blank = guest.digests("nvme0")
    run = cli.apply(*wish(guest, "nvme0"))
    guest.run("zfs create -o sync=always tank/busy")
    guest.fail("nvme0")
    guest.run(FILE.format("busy", "oflag=sync"))
    wait_for_log(guest, "FAULTED")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (5, "attention"), ending
    assert is_as_before(guest)
    guest.fail("nvme0", on=False)
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert guest.digests("nvme0") == blank


def test_a_log_with_blocks_of_a_locked_dataset_waits_for_the_key_and_no_other(cli: CommandLine) -> None:
    """Proves: undo is refused before anything is changed, with the command that helps and the dataset that needs it;
    one that is locked and has nothing in the log is no obstacle, though others write."""
    guest = cli.guest
    run = cli.apply(*wish(guest, "nvme0"))
    guest.run("; ".join(("set -e", SECRET.format("backup"), SECRET.format("secret"))))
    guest.run("zfs create -o sync=always tank/busy")
    for name, flags in (("backup", ""), ("secret", "oflag=sync"), ("busy", "oflag=sync")):
        guest.run(FILE.format(name, flags))
    checksum = guest.run("sha256sum /tank/secret/file").stdout
    guest.run("zpool sync tank; zfs unmount tank/backup; zfs unmount tank/secret; zfs unload-key -a")
    before = guest.digests("nvme0")["nvme0"].partitions
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (3, "applied"), ending
    assert "zfs load-key tank/secret" in ending.reasons
    assert "backup" not in ending.reasons
    assert "logs" in status(guest)
    assert guest.digests("nvme0")["nvme0"].partitions == before
    guest.run("zfs load-key tank/secret && zfs mount tank/secret")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert is_as_before(guest)
    assert guest.run("sha256sum /tank/secret/file").stdout == checksum


@pytest.mark.long
def test_a_pool_under_another_name_and_guid_is_still_the_one(cli: CommandLine) -> None:
    """Proves: after `zpool import tank other` and `zpool reguid` undo finds its log and cache, and frees the SSD."""
    guest = cli.guest
    blank = guest.digests("nvme0")
    run = cli.apply(*wish(guest, "nvme0", cache=("nvme0",)))
    guest.run("zpool export tank && zpool import tank other && zpool reguid other")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert is_as_before(guest, "other")
    assert guest.digests("nvme0") == blank


@pytest.mark.long
def test_an_exported_pool_keeps_its_log_and_a_destroyed_one_frees_the_ssds(cli: CommandLine) -> None:
    """Proves: undo changes nothing on an SSD that an exported pool may need and says to import it; once the pool was
    destroyed, the same undo ends with blank SSDs and says so."""
    guest = cli.guest
    blank = guest.digests("nvme0")
    run = cli.apply(*wish(guest, "nvme0", cache=("nvme0",)))
    guid = guest.run("zpool get -Ho value guid tank").stdout.strip()
    guest.run("zpool export tank")
    held = guest.digests("nvme0")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (3, "applied"), ending
    assert f"zpool import {guid}" in ending.reasons
    assert guest.digests("nvme0") == held
    guest.run("zpool import tank && zpool destroy tank")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert "destroyed" in ending.reasons
    assert guest.digests("nvme0") == blank


@pytest.mark.long
def test_a_copy_of_an_ssd_is_not_taken_for_none(cli: CommandLine) -> None:
    """Proves: beside a copy of the SSD, the same PARTUUIDs are there twice; undo changes neither and says so."""
    guest = cli.guest
    blank = guest.digests("nvme0", "sas0")
    run = cli.apply(*wish(guest, "nvme0"))
    disks = guest.disks()
    guest.run(f"dd if={disks['nvme0'].device} of={disks['sas0'].device} bs=1M count=8 conv=fsync status=none")
    guest.run(f"sgdisk --move-second-header {disks['sas0'].device} && udevadm settle")
    held = guest.digests("nvme0", "sas0")
    ending = cli.ending("undo", run)
    assert ending.code in (3, 5), ending
    assert ending.state != "undone"
    assert "copy" in ending.reasons
    assert guest.digests("nvme0", "sas0") == held
    guest.run(f"wipefs --all {disks['sas0'].device} && blkdiscard {disks['sas0'].device} && udevadm settle")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert guest.digests("nvme0", "sas0") == blank


@pytest.mark.long
@pytest.mark.parametrize("records", [1, 2, 5])
def test_a_journal_that_was_rolled_back_does_not_hide_what_is_there(cli: CommandLine, records: int) -> None:
    """Proves: the journal is as old as a snapshot of the root pool would have it; undo finds log, cache and slices on
    the host, and ends with blank SSDs or says what is left, never *undone* with something there."""
    guest = cli.guest
    blank = guest.digests("nvme0")
    run = cli.apply(*wish(guest, "nvme0", cache=("nvme0",)))
    journal = cli.journal(run)
    guest.run(f"head -n {records} {journal} > {journal}.old && mv {journal}.old {journal}")
    ending = cli.ending("undo", run)
    if ending.state == "undone":
        assert ending.code == 0
        assert is_as_before(guest)
    else:
        assert (ending.code, ending.state) == (5, "attention"), ending
        assert ending.reasons
    assert "byte for byte" not in ending.notes or guest.digests("nvme0") == blank
    left = guest.run("ls /dev/disk/by-partuuid").stdout
    made = [piece.partuuid for piece in cli.shown(run).plan.slices]
    assert ending.state != "undone" or not [partuuid for partuuid in made if partuuid in left]


@pytest.mark.long
def test_a_suspended_pool_is_named_and_nothing_hangs(cli: CommandLine) -> None:
    """Proves: undo on a pool whose disk does not answer is refused at once, `doctor` does not call the pools well, and
    once the disk answers again the undo ends with a blank SSD."""
    guest = cli.guest
    blank = guest.digests("nvme0")
    guest.run(f"zpool create -o ashift=12 attic {guest.disks()['sata0'].by_id}")
    run = cli.apply(*wish(guest, "nvme0"), pool="attic")
    guest.fail("sata0")
    guest.run("nohup dd if=/dev/urandom of=/attic/file bs=1M count=20 conv=fsync > /dev/null 2>&1 < /dev/null &")
    guest.run("until zpool list -Ho health attic | grep --quiet SUSPENDED; do sleep 0.5; done")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (3, "applied"), ending
    assert "zpool clear attic" in ending.reasons
    assert "attic" in cli("doctor").stdout
    guest.fail("sata0", on=False)
    guest.run("until zpool clear attic && zpool list -Ho health attic | grep --quiet ONLINE; do sleep 0.5; done")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert guest.digests("nvme0") == blank


@pytest.mark.long
def test_what_somebody_added_to_the_ssd_stays_and_the_table_is_not_written_over_it(cli: CommandLine) -> None:
    """Proves: a partition made after the run keeps every byte through the undo; the step that would have written the
    old table back is shown as left out, and the pool and our slices are taken back."""
    guest = cli.guest
    disk = guest.disks()["nvme0"].by_id
    run = cli.apply(*wish(guest, "nvme0", cache=("nvme0",)))
    guest.run(f"sgdisk --new=9:8G:+1G {disk}; partprobe {disk}; partx --add --nr 9 {disk}; udevadm settle")
    guest.run(f"mkfs.ext4 -q {disk}-part9 && mkdir -p /mnt/friend && mount {disk}-part9 /mnt/friend")
    guest.run("cp /etc/services /mnt/friend/ && sync")
    ending = cli.ending("undo", run)
    assert (ending.code, ending.state) == (0, "undone"), ending
    assert "is not the original one" in ending.notes
    restoring = [step for step in cli.shown(run).undo_steps if step.what.code == "restore-table"]
    assert [step.state for step in restoring] == ["skipped"]
    assert is_as_before(guest)
    guest.run("umount /mnt/friend")
    guest.run(f"fsck.ext4 -fn {disk}-part9 && mount -o ro {disk}-part9 /mnt/friend")
    guest.run("cmp /etc/services /mnt/friend/services")
