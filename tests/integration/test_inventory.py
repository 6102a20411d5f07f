"""The inventory of a real machine, and everything that may hold a disk there.

Refusals are tested elsewhere; here it is what is seen, down to the words.
"""

from dataclasses import dataclass

import pytest

from nasadvisor.domain.storage.inventory import Bus, Disk, HoldKind, TableKind
from nasadvisor.domain.units import GIB
from tests.integration.agent import Agent
from tests.integration.wishes import SSDS, disk_named, pool_of

pytestmark = [pytest.mark.lab, pytest.mark.long]

SERIALS = {"nvme0": "S64FNE0R800001", "nvme1": "S64FNE0R800002", "sata0": "S62ANJ0R900003", "sas0": "0QV1LMNA"}


def seen(agent: Agent, name: str) -> Disk:
    return disk_named(agent.inventory(), SERIALS[name])


def shown(disk: Disk) -> list[str]:
    """Every hold: of the disk, then of its partitions."""
    return [f"{hold.kind}:{hold.what}" for hold in disk.all_holds]


def test_it_sees_the_machine_as_it_was_built(agent: Agent) -> None:
    inventory = agent.inventory()
    scenario = agent.guest.scenario
    serials = {scenario.boot.serial} | {disk.serial for disk in scenario.disks}
    assert {disk.identity.serial for disk in inventory.disks} == serials
    ssds = {name: disk_named(inventory, SERIALS[name]) for name in SSDS}
    assert {name: disk.bus for name, disk in ssds.items()} == {
        "nvme0": Bus.NVME,
        "nvme1": Bus.NVME,
        "sata0": Bus.SATA,
        "sas0": Bus.SAS,
    }
    for disk in ssds.values():
        assert (disk.table, disk.partitions, disk.all_holds, disk.rotational) == (TableKind.NONE, (), (), False)
        assert disk.identity.size_bytes == 16 * GIB
        assert disk.path.startswith("/dev/disk/by-id/")
    assert inventory.host.zfs_kernel.startswith("2.3.")
    assert inventory.fingerprint == agent.inventory().fingerprint


def test_it_sees_the_pool_on_its_disks(agent: Agent) -> None:
    inventory = agent.inventory()
    tank = pool_of(agent)
    assert [(top.kind, len(top.children)) for top in tank.data] == [("mirror", 2), ("mirror", 2)]
    assert (tank.state, tank.ashift) == ("ONLINE", 12)
    for leaf in (leaf for top in tank.data for leaf in top.leaves()):
        found = inventory.partition_at(leaf.path)
        assert found is not None
        assert [(hold.kind, hold.what) for hold in found[1].holds] == [(HoldKind.POOL, "tank")]


def test_it_knows_the_boot_disk(agent: Agent) -> None:
    boot = disk_named(agent.inventory(), agent.guest.scenario.boot.serial)
    assert {hold.what for hold in boot.holds} == {"/", "EFI system partition"}
    assert all(hold.kind is HoldKind.BOOT for hold in boot.holds)


@dataclass(frozen=True)
class Use:
    """Shell commands that use nvme0 ($D), and the holds that must be seen then."""

    name: str
    commands: str
    holds: tuple[str, ...]


SLICES = "sgdisk -n1:0:+1G -t1:BF01 -n2:0:+1G -t2:BF01 $D && udevadm settle"
ADD = f"{SLICES} && zpool add tank log $D-part1 cache $D-part2 && udevadm settle"
LVM = "mdadm -q --create /dev/md9 --run -e1.2 -l1 -n2 $D missing && vgcreate -q v /dev/md9 && lvcreate -q -L64M -n l v"
LUKS = "printf secret | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $D - && "
LUKS += "printf secret | cryptsetup open $D crypt -"
UNKNOWN = "exported-pool:without a name"
RESERVED = "signature:Solaris reserved partition type"

USES = (
    Use("blank slices", SLICES, ()),
    Use("log and cache", ADD, ("pool:tank", "pool:tank")),
    Use("log and cache of an exported pool", f"{ADD} && zpool export tank", ("exported-pool:tank", UNKNOWN)),
    Use(
        "a removed cache",
        f"{ADD} && zpool remove tank $D-part1 $D-part2 && udevadm trigger --settle $D-part1 $D-part2",
        (UNKNOWN,),
    ),
    Use("a whole disk of an exported pool", "zpool create x $D && zpool export x", ("exported-pool:x", RESERVED)),
    Use(
        "a filesystem on LVM on md",
        f"{LVM} && mkfs.ext4 -q /dev/v/l && mkdir -p '/mnt/a b' && mount /dev/v/l '/mnt/a b'",
        ("mount:/mnt/a b", "holder:md9", "holder:v-l", "lvm:v", "raid:linux_raid_member"),
    ),
    Use("opened LUKS", LUKS, ("holder:crypt", "signature:crypto_LUKS")),
    Use(
        "a pool on LUKS",
        f"{LUKS} && zpool create x /dev/mapper/crypt",
        ("holder:crypt", "pool:x", "signature:crypto_LUKS"),
    ),
    Use("a read-only disk", "blockdev --setro $D", ("read-only:read-only",)),
    Use(
        "a damaged partition table",
        "sgdisk -n1:0:+1G -t1:BF01 $D && udevadm settle && dd if=/dev/urandom of=$D bs=512 seek=1 count=1",
        ("unreadable:its partition table is damaged: there is no GPT header",),
    ),
    Use(
        "types that claim empty partitions",
        "sgdisk -n1:0:+1G -t1:8200 -n2:0:+1G -t2:8E00 -n3:0:+1G -t3:FD00 $D",
        ("signature:swap partition type", "lvm:LVM partition type", "raid:RAID partition type"),
    ),
)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.name)
def test_what_holds_a_disk(agent: Agent, use: Use) -> None:
    device = agent.guest.disks()["nvme0"].by_id
    agent.guest.run(f"set -e; D={device}; {{ {use.commands}; }} >/dev/null; udevadm settle")
    assert shown(seen(agent, "nvme0")) == list(use.holds)
    agent.guest.run(f"blockdev --setrw {device}")


def test_clones_are_told_by_their_partuuid(agent: Agent) -> None:
    disks = agent.guest.disks()
    original, clone = disks["nvme0"].by_id, disks["nvme1"].by_id
    agent.guest.run(
        f"set -e; sgdisk -n1:0:+1G -t1:BF01 {original} >/dev/null; udevadm settle; "
        f"dd if={original} of={clone} bs=1M count=1; partx -u {clone}; udevadm trigger --settle {clone}; udevadm settle"
    )
    for name in ("nvme0", "nvme1"):
        (part,) = seen(agent, name).partitions
        assert [hold.kind for hold in part.holds] == [HoldKind.COPY]
        assert not part.path.startswith("/dev/disk/by-partuuid/")


def test_what_udev_has_not_seen_yet_is_not_free(agent: Agent) -> None:
    device = agent.guest.disks()["nvme0"].by_id
    agent.guest.run(f"udevadm control --stop-exec-queue; sgdisk -n1:0:+1G -t1:BF01 {device}")
    try:
        holds = seen(agent, "nvme0").all_holds
        assert holds
        assert {hold.kind for hold in holds} == {HoldKind.UNREADABLE}
    finally:
        agent.guest.run("udevadm control --start-exec-queue; udevadm settle")
    assert seen(agent, "nvme0").all_holds == ()
