"""What holds a disk: nothing that is in use may ever look free."""

from dataclasses import replace

import pytest

from nasadvisor.domain.storage.inventory import Pool, ZfsLabel
from nasadvisor.domain.units import GIB
from nasadvisor.host.adapters.holds import STALE
from nasadvisor.host.adapters.procfs import Mount
from nasadvisor.host.adapters.udev import NOT_EXAMINED
from tests.unit.host.adapters.devices import disk, gpt, held_by, inventory_disks, part, pool, shown, virtual


def with_state(pool: Pool, state: str) -> Pool:
    """The pool with all its leaves in this state."""
    return replace(pool, data=tuple(replace(leaf, state=state) for leaf in pool.data))


ESP = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
BIOS_BOOT = "21686148-6449-6e6f-744e-656564454649"
SOLARIS_RESERVED = "6a945a3b-1dd2-11b2-99a6-080020736631"
SWAP_TYPE = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f"
LABEL = {
    "ID_FS_TYPE": "zfs_member",
    "ID_FS_USAGE": "filesystem",
    "ID_FS_LABEL": "my_tank",
    "ID_FS_LABEL_ENC": r"my\x20tank",
    "ID_FS_UUID": "77",
    "ID_FS_UUID_SUB": "42",
}


def test_blank_disk_is_free() -> None:
    assert inventory_disks(disk("sda"))["sda"].all_holds == ()


def test_blank_slice_of_ours_is_free() -> None:
    assert inventory_disks(gpt(disk("sda")), part("sda", 1))["sda"].all_holds == ()


@pytest.mark.parametrize(
    ("kind", "usage", "hold"),
    [
        ("ext4", "filesystem", "filesystem:ext4"),
        ("btrfs", "filesystem", "filesystem:btrfs"),
        ("LVM2_member", "raid", "lvm:LVM2_member"),
        ("linux_raid_member", "raid", "raid:linux_raid_member"),
        ("isw_raid_member", "raid", "raid:isw_raid_member"),
        ("ddf_raid_member", "", "raid:ddf_raid_member"),
        ("drbd", "raid", "raid:drbd"),
        ("ceph_bluestore", "other", "ceph:ceph_bluestore"),
        ("crypto_LUKS", "crypto", "signature:crypto_LUKS"),
        ("swap", "other", "swap:swap that is not in use"),
        ("bcache", "other", "signature:bcache"),
        ("mpath_member", "", "signature:mpath_member"),
        ("something_new", "", "signature:something_new"),
        ("", "other", "signature:other"),
    ],
)
def test_content_holds_disks_and_partitions_alike(kind: str, usage: str, hold: str) -> None:
    content = {"ID_FS_TYPE": kind, "ID_FS_USAGE": usage}
    disks = inventory_disks(disk("sda", **content), gpt(disk("sdb")), part("sdb", 1, **content))
    assert shown(disks["sda"].holds) == [hold]
    assert shown(disks["sdb"].partitions[0].holds) == [hold]
    assert disks["sdb"].holds == ()


def test_two_signatures_at_once_are_not_none() -> None:
    device = disk("sda", ID_FS_AMBIVALENT="filesystem:ext4:1.0 other:swap:1")
    assert shown(inventory_disks(device)["sda"].holds) == ["signature:more than one signature"]


@pytest.mark.parametrize(
    ("type_uuid", "hold"),
    [
        (SWAP_TYPE, "signature:swap partition type"),
        (SOLARIS_RESERVED, "signature:Solaris reserved partition type"),
        ("e6d6d379-f507-44c2-a23c-238f2a3df928", "lvm:LVM partition type"),
        ("a19d880f-05fc-4d3b-a006-743f0f84911e", "raid:RAID partition type"),
        ("4fbd7e29-9d25-41b8-afd0-062c0ceff05d", "ceph:Ceph OSD partition type"),
    ],
)
def test_type_claims_a_partition_with_nothing_in_it(type_uuid: str, hold: str) -> None:
    device = part("sda", 1, ID_PART_ENTRY_TYPE=type_uuid)
    assert shown(inventory_disks(gpt(disk("sda")), device)["sda"].partitions[0].holds) == [hold]


class TestPools:
    @pytest.mark.parametrize(
        "path",
        [
            "/dev/sda1",
            "/dev/disk/by-id/ata-Fast_SSD_SDA-part1",
            "/dev/disk/by-partuuid/00000000-0000-4000-8000-000073646101",
        ],
    )
    def test_member_by_path_even_without_a_label(self, path: str) -> None:
        """udev does not see every label: those of cache devices, and of vdevs added a moment ago."""
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1), pools=[pool("tank", (path, "9"))])
        assert shown(disks["sda"].partitions[0].holds) == ["pool:tank"]

    def test_member_by_guid_though_the_path_moved(self) -> None:
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[pool("tank", ("/dev/sdq1", "42"))])
        assert shown(disks["sda"].partitions[0].holds) == ["pool:tank"]

    def test_member_by_a_link_that_udev_did_not_make(self) -> None:
        tank = pool("tank", ("/my/log", "9"))
        disks = inventory_disks(disk("sda"), pools=[tank], my_log="/dev/sda")
        assert shown(disks["sda"].holds) == ["pool:tank"]

    def test_member_below_encryption(self) -> None:
        crypt = virtual("dm-0", "/dev/mapper/secret", DM_NAME="secret")
        disks = inventory_disks(
            held_by(disk("sda", ID_FS_TYPE="crypto_LUKS"), "dm-0"),
            crypt,
            pools=[pool("tank", ("/dev/mapper/secret", "9"))],
        )
        assert shown(disks["sda"].holds) == ["holder:secret", "pool:tank", "signature:crypto_LUKS"]

    def test_exported_pool_is_named_as_it_is(self) -> None:
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[pool("tank", ("/dev/sdb1", "9"))])
        assert shown(disks["sda"].partitions[0].holds) == ["exported-pool:my tank"]

    def test_a_label_of_an_imported_pool_that_does_without_the_device_is_left_behind(self) -> None:
        """An SSD that was pulled while its log was removed, or a disk that was replaced, comes back."""
        live = replace(pool("my tank", ("/dev/sdb1", "9")), guid="77")
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[live])
        found = disks["sda"].partitions[0]
        assert shown(found.holds) == ["leftover-label:my tank"]
        assert found.zfs_label == ZfsLabel("my tank", "77", "42")

    def test_it_goes_by_the_guid_of_the_pool_and_not_by_its_name(self) -> None:
        renamed = replace(pool("vault", ("/dev/sdb1", "9")), guid="77")
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[renamed])
        assert shown(disks["sda"].partitions[0].holds) == ["leftover-label:vault"]
        namesake = replace(pool("my tank", ("/dev/sdb1", "9")), guid="78")
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[namesake])
        assert shown(disks["sda"].partitions[0].holds) == ["exported-pool:my tank"]

    @pytest.mark.parametrize("state", ["UNAVAIL", "FAULTED", "OFFLINE", "REMOVED"])
    def test_what_has_the_kernel_name_of_a_leaf_that_is_not_open_is_not_taken_for_it(self, state: str) -> None:
        gone = with_state(pool("tank", ("/dev/sda1", "9")), state)
        assert inventory_disks(gpt(disk("sda")), part("sda", 1), pools=[gone])["sda"].all_holds == ()
        content = {"ID_FS_TYPE": "ext4", "ID_FS_USAGE": "filesystem"}
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **content), pools=[gone])
        assert shown(disks["sda"].partitions[0].holds) == ["filesystem:ext4"]

    def test_what_has_the_persistent_name_of_one_and_nothing_on_it_stays_held(self) -> None:
        path = "/dev/disk/by-id/ata-Fast_SSD_SDA-part1"
        gone = with_state(pool("tank", (path, "9")), "UNAVAIL")
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1), pools=[gone])
        assert shown(disks["sda"].partitions[0].holds) == ["pool:tank"]
        content = {"ID_FS_TYPE": "xfs", "ID_FS_USAGE": "filesystem"}
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **content), pools=[gone])
        assert shown(disks["sda"].partitions[0].holds) == ["filesystem:xfs"]

    def test_one_that_was_taken_offline_is_known_by_its_guid(self) -> None:
        offline = with_state(pool("tank", ("/dev/sdq1", "42")), "OFFLINE")
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, **LABEL), pools=[offline])
        assert shown(disks["sda"].partitions[0].holds) == ["pool:tank"]

    def test_of_a_pool_that_could_not_be_read_every_label_holds(self) -> None:
        """Its vdevs are not known, and the labels of its caches and spares do not name it."""
        unread = replace(pool("my tank"), guid="77", problem="it said nothing")
        nameless = {**LABEL, "ID_FS_LABEL_ENC": "", "ID_FS_LABEL": "", "ID_FS_UUID": ""}
        disks = inventory_disks(disk("sda", **LABEL), disk("sdb", **nameless), pools=[unread])
        assert shown(disks["sda"].holds) == shown(disks["sdb"].holds) == ["pool:my tank"]

    def test_label_without_a_name_still_holds(self) -> None:
        label = {**LABEL, "ID_FS_LABEL_ENC": "", "ID_FS_LABEL": ""}
        disks = inventory_disks(disk("sda", **label))
        assert shown(disks["sda"].holds) == ["exported-pool:without a name"]

    def test_files_and_missing_leaves_hold_nothing(self) -> None:
        disks = inventory_disks(disk("sda"), pools=[pool("tank", ("/srv/file", "9"), ("", "10"))])
        assert disks["sda"].all_holds == ()

    def test_partitions_without_a_partuuid_do_not_share_one(self) -> None:
        """As of an MBR without a disk signature: libblkid has nothing to make one from."""
        dos = {"ID_PART_TABLE_TYPE": "dos"}
        parts = [part("sda", number, ID_PART_ENTRY_UUID="") for number in (1, 2)]
        disks = inventory_disks(disk("sda", **dos), *parts, part("sdb", 1, ID_PART_ENTRY_UUID=""), disk("sdb", **dos))
        assert disks["sda"].all_holds == disks["sdb"].all_holds == ()

    def test_same_link_on_two_disks_holds_both(self) -> None:
        """A cloned disk brings the same PARTUUID; which one the pool uses is not ours to guess."""
        original = part("sda", 1)
        clone = replace(original, name="sdb1", disk="sdb", sys_path="/sys/x/sdb1", number="8:99")
        tank = pool("tank", (original.links[1], "9"))
        disks = inventory_disks(gpt(disk("sda")), gpt(disk("sdb")), original, clone, pools=[tank])
        for name in ("sda", "sdb"):
            holds = shown(disks[name].partitions[0].holds)
            assert holds == ["copy:00000000-0000-4000-8000-000073646101", "pool:tank"]


class TestMounts:
    def test_mount_by_device_number(self) -> None:
        device = disk("sda", ID_FS_TYPE="ext4", ID_FS_USAGE="filesystem")
        disks = inventory_disks(device, mounts=(Mount(device.number, "ext4", "/dev/root", "/srv"),))
        assert shown(disks["sda"].holds) == ["mount:/srv", "filesystem:ext4"]

    def test_btrfs_is_found_by_its_source_and_holds_all_its_devices(self) -> None:
        content = {"ID_FS_TYPE": "btrfs", "ID_FS_USAGE": "filesystem", "ID_FS_UUID": "b"}
        mount = Mount("0:44", "btrfs", "/dev/disk/by-id/ata-Fast_SSD_SDA", "/data")
        disks = inventory_disks(disk("sda", **content), disk("sdb", **content), mounts=(mount,))
        assert shown(disks["sda"].holds) == shown(disks["sdb"].holds) == ["mount:/data", "filesystem:btrfs"]

    def test_bcachefs_names_all_its_devices(self) -> None:
        mount = Mount("0:44", "bcachefs", "/dev/sda:/dev/sdb", "/data")
        disks = inventory_disks(disk("sda"), disk("sdb"), mounts=(mount,))
        assert shown(disks["sda"].holds) == shown(disks["sdb"].holds) == ["mount:/data"]

    def test_mount_on_top_of_lvm_on_raid_reaches_the_disk(self) -> None:
        devices = (
            held_by(disk("sda", ID_FS_TYPE="linux_raid_member", ID_FS_USAGE="raid"), "md0"),
            held_by(virtual("md0", "/dev/md/0"), "dm-0"),
            virtual("dm-0", "/dev/mapper/vg-root", DM_NAME=r"vg-ro\x20ot", DM_VG_NAME="vg"),
        )
        mount = Mount(devices[2].number, "xfs", "/dev/mapper/vg-root", "/")
        holds = shown(inventory_disks(*devices, mounts=(mount,))["sda"].holds)
        assert holds == ["boot:/", "mount:/", "holder:md0", "holder:vg-ro ot", "lvm:vg", "raid:linux_raid_member"]

    def test_only_bcachefs_names_several_devices_at_once(self) -> None:
        assert inventory_disks(disk("sda"), mounts=(Mount("0:50", "nfs", "nas:/dev/sda", "/mnt"),))["sda"].holds == ()

    def test_zfs_mounts_are_no_devices(self) -> None:
        assert inventory_disks(disk("sda"), mounts=(Mount("0:9", "zfs", "sda", "/sda"),))["sda"].all_holds == ()


def test_swap_without_a_signature() -> None:
    disks = inventory_disks(gpt(disk("sda")), part("sda", 3), swaps=("/dev/sda3",))
    assert shown(disks["sda"].partitions[0].holds) == ["swap:swap"]


def test_ceph_by_its_volume_group() -> None:
    osd = virtual("dm-0", DM_NAME="ceph--1-osd--block--2", DM_VG_NAME="ceph-1")
    holds = shown(inventory_disks(held_by(disk("sda"), "dm-0"), osd)["sda"].holds)
    assert holds == ["holder:ceph--1-osd--block--2", "ceph:ceph-1"]


def test_paths_below_multipath() -> None:
    mpath = virtual("dm-0", DM_NAME="mpatha")
    disks = inventory_disks(held_by(disk("sda"), "dm-0"), disk("sdb", DM_MULTIPATH_DEVICE_PATH="1"), mpath)
    assert shown(disks["sda"].holds) == ["holder:mpatha"]
    assert shown(disks["sdb"].holds) == ["holder:multipath"]


def test_holder_that_udev_does_not_know_counts() -> None:
    assert shown(inventory_disks(held_by(disk("sda"), "bcache0"))["sda"].holds) == ["holder:bcache0"]


def test_holders_in_a_circle_end() -> None:
    one, two = held_by(virtual("dm-0", DM_NAME="a"), "dm-1"), held_by(virtual("dm-1", DM_NAME="b"), "dm-0")
    assert shown(inventory_disks(held_by(disk("sda"), "dm-0"), one, two)["sda"].holds) == ["holder:a", "holder:b"]


def test_what_is_above_two_devices_is_found_once_and_what_is_above_that_too() -> None:
    devices = (
        held_by(disk("sda"), "dm-0", "dm-1"),
        held_by(virtual("dm-0", DM_NAME="a"), "dm-1"),
        held_by(virtual("dm-1", DM_NAME="b"), "dm-2"),
        virtual("dm-2", DM_NAME="c"),
    )
    assert shown(inventory_disks(*devices)["sda"].holds) == ["holder:a", "holder:b", "holder:c"]


class TestBoot:
    @pytest.mark.parametrize("target", ["/", "/boot", "/boot/efi", "/efi"])
    def test_by_what_is_mounted_on_a_partition(self, target: str) -> None:
        device = part("sda", 2)
        disks = inventory_disks(gpt(disk("sda")), device, mounts=(Mount(device.number, "ext4", "x", target),))
        assert shown(disks["sda"].holds) == [f"boot:{target}"]

    @pytest.mark.parametrize(("type_uuid", "what"), [(ESP, "EFI system partition"), (BIOS_BOOT, "BIOS boot partition")])
    def test_by_the_type_of_a_partition(self, type_uuid: str, what: str) -> None:
        disks = inventory_disks(gpt(disk("sda")), part("sda", 1, ID_PART_ENTRY_TYPE=type_uuid))
        assert shown(disks["sda"].holds) == [f"boot:{what}"]

    def test_every_disk_of_a_root_pool(self) -> None:
        root = pool("rpool", ("/dev/sda3", "1"), ("/dev/sdb3", "2"))
        mount = Mount("0:30", "zfs", "rpool/ROOT/pve-1", "/")
        devices = (gpt(disk("sda")), part("sda", 3), gpt(disk("sdb")), part("sdb", 3), disk("sdc"))
        disks = inventory_disks(*devices, mounts=(mount,), pools=[root])
        assert shown(disks["sda"].holds) == shown(disks["sdb"].holds) == ["boot:rpool"]
        assert disks["sdc"].all_holds == ()

    def test_not_the_disks_of_a_pool_that_is_mounted_elsewhere(self) -> None:
        mounts = (Mount("0:30", "zfs", "tank/media", "/srv/media"), Mount("0:31", "zfs", "rpool/ROOT/pve-1", "/"))
        disks = inventory_disks(disk("sda"), mounts=mounts, pools=[pool("tank", ("/dev/sda", "1"))])
        assert shown(disks["sda"].holds) == ["pool:tank"]


class TestNotToBeTrusted:
    def test_what_could_not_be_read_is_never_free(self) -> None:
        device = replace(disk("sda", 0), unread=NOT_EXAMINED)
        assert shown(inventory_disks(device)["sda"].holds) == [f"unreadable:{NOT_EXAMINED}"]

    def test_partition_that_udev_remembers_otherwise(self) -> None:
        device = replace(part("sda", 1), size_bytes=2 * GIB)
        holds = shown(inventory_disks(gpt(disk("sda")), device)["sda"].partitions[0].holds)
        assert holds == [f"unreadable:{STALE}"]

    def test_partition_of_which_udev_knows_nothing(self) -> None:
        device = replace(part("sda", 1), properties={}, links=())
        found = inventory_disks(gpt(disk("sda")), device)["sda"].partitions[0]
        assert (found.partuuid, found.path, shown(found.holds)[0][:10]) == ("", "", "unreadable")

    def test_read_only_disk(self) -> None:
        assert shown(inventory_disks(replace(disk("sda"), read_only=True))["sda"].holds) == ["read-only:read-only"]

    def test_two_disks_of_one_identity_are_both_held(self) -> None:
        twin = {"ID_WWN": "", "ID_SERIAL_SHORT": "AA01"}
        disks = inventory_disks(disk("sda", **twin), disk("sdb", **twin), disk("sdc"))
        assert (shown(disks["sda"].holds), shown(disks["sdb"].holds)) == (["duplicate:sdb"], ["duplicate:sda"])
        assert disks["sdc"].holds == ()
