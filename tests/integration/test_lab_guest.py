"""The lab keeps its promises: what its guests look like, and what its faults do."""

import urllib.request
from pathlib import Path

import pytest

from tests.lab.errors import LabError
from tests.lab.guest import Guest
from tests.lab.paths import GUEST_VENV
from tests.lab.shell import CommandError

pytestmark = [pytest.mark.lab, pytest.mark.long]
SSDS = ("nvme0", "nvme1", "sata0", "sas0")


def property_of(guest: Guest, name: str, attribute: str) -> str:
    return guest.run(["lsblk", "-dno", attribute, guest.disk(name).device]).stdout.strip()


def test_a_reset_leaves_a_pool_of_two_mirrors_and_blank_ssds(clean_guest: Guest) -> None:
    status = clean_guest.run(["zpool", "status", "tank"]).stdout
    assert status.count("mirror-") == 2
    assert status.count("ata-WDC_WD6002FFWX") == 4
    digests = clean_guest.digests(*SSDS)
    assert {name: digest.content for name, digest in digests.items()} == dict.fromkeys(SSDS, "")


def test_the_boot_disk_is_known_by_its_serial(guest: Guest) -> None:
    source = guest.run("findmnt -no SOURCE /").stdout.strip()
    parent = guest.run(["lsblk", "-no", "PKNAME", source]).stdout.split()[0]
    serial = guest.run(["lsblk", "-dno", "SERIAL", f"/dev/{parent}"]).stdout.strip()
    assert serial == guest.scenario.boot.serial


def test_disks_are_what_the_scenario_says(guest: Guest) -> None:
    seen = guest.disks()
    rows = guest.run(["lsblk", "-bdnPo", "PATH,SIZE,SERIAL,ROTA", *(disk.device for disk in seen.values())]).stdout
    for disk in guest.scenario.disks:
        size, serial, rotates = disk.size, disk.serial, int(not disk.is_ssd)
        row = f'PATH="{seen[disk.name].device}" SIZE="{size}" SERIAL="{serial}" ROTA="{rotates}"'
        assert row in rows


def test_the_product_can_be_imported_from_the_image(guest: Guest) -> None:
    guest.run([f"{GUEST_VENV}/bin/python", "-c", "import django, celery, redis, pyudev"])


def test_a_reset_takes_back_whatever_holds_the_disks(clean_guest: Guest) -> None:
    nvme0, nvme1, sata0, sas0 = (clean_guest.disk(name).device for name in SSDS)
    clean_guest.run(
        f"set -e; mkfs.ext4 -q {nvme0}; mkdir -p /mnt/held; mount {nvme0} /mnt/held;"
        f"mkswap -q {nvme1}; swapon {nvme1};"
        f"pvcreate -q {sata0}; vgcreate -q held {sata0}; lvcreate -qy -L 1G -n volume held;"
        f"mdadm --quiet --create /dev/md0 --run --level=1 --raid-devices=2 {sas0} missing"
    )
    clean_guest.reset()
    digests = clean_guest.digests(*SSDS)
    assert {name: digest.content for name, digest in digests.items()} == dict.fromkeys(SSDS, "")
    known_to_udev = clean_guest.run(["lsblk", "-dno", "FSTYPE,PTTYPE,UUID", nvme0, nvme1, sata0, sas0]).stdout
    assert known_to_udev.split() == []


def test_a_digest_notices_one_byte_in_the_middle(clean_guest: Guest) -> None:
    before = clean_guest.digests("sas0")["sas0"]
    device = clean_guest.disk("sas0").device
    clean_guest.run(f"printf x | dd of={device} bs=1 seek=5000000000 conv=notrunc status=none")
    assert clean_guest.digests("sas0")["sas0"] != before


def test_discarded_blocks_of_an_ssd_read_as_zeros(clean_guest: Guest) -> None:
    devices = " ".join(clean_guest.disk(name).device for name in SSDS)
    clean_guest.run(f"for d in {devices}; do dd if=/dev/urandom of=$d bs=1M count=4 oflag=direct status=none; done")
    assert all(digest.content for digest in clean_guest.digests(*SSDS).values())
    clean_guest.run(f"for d in {devices}; do blkdiscard $d; done")
    assert {digest.content for digest in clean_guest.digests(*SSDS).values()} == {""}


def test_files_come_and_go(guest: Guest, tmp_path: Path) -> None:
    (tmp_path / "with space").mkdir()
    (tmp_path / "with space" / "data").write_bytes(bytes(range(256)))
    guest.push_tree(tmp_path, "/root/pushed tree")
    assert guest.read_bytes("/root/pushed tree/with space/data") == bytes(range(256))
    guest.put(tmp_path / "with space" / "data", "/root/one file")
    assert guest.read_bytes("/root/one file") == bytes(range(256))


def test_a_failed_command_is_a_sentence(guest: Guest) -> None:
    with pytest.raises(CommandError, match="`ls /nowhere` ended with code 2") as caught:
        guest.run(["ls", "/nowhere"])
    assert caught.value.completed.code == 2


def test_a_port_of_the_guest_can_be_reached(guest: Guest) -> None:
    guest.run("cd /etc && (setsid python3 -m http.server 8123 >/dev/null 2>&1 & echo $! >/run/served)")
    try:
        guest.run("until ss -ltn | grep -q :8123; do sleep 0.2; done")
        url = f"http://127.0.0.1:{guest.forwarded_port(8123)}/hostname"
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert answer.read() == b"nas\n"
    finally:
        guest.run("kill $(cat /run/served)")


def test_a_failing_disk_fails_until_it_is_switched_off(clean_guest: Guest) -> None:
    for name, disk in clean_guest.disks().items():
        if clean_guest.scenario.disk(name).error_switch:
            read = f"dd if={disk.device} of=/dev/null bs=4k count=1 iflag=direct"
            clean_guest.fail(name)
            assert clean_guest.run(read, check=False).code != 0
            clean_guest.fail(name, on=False)
            clean_guest.run(read)


def test_a_pulled_disk_is_gone_and_can_come_back(clean_guest: Guest) -> None:
    for name in ("nvme0", "sata0", "sas0", "hdd3"):
        clean_guest.vanish(name)
        assert name not in clean_guest.disks()
        clean_guest.bring_back(name)
        assert property_of(clean_guest, name, "SERIAL") == clean_guest.scenario.disk(name).serial


def test_a_swapped_disk_has_another_serial_until_the_reset(clean_guest: Guest) -> None:
    swapped = ("nvme0", "sas0")
    for name in swapped:
        clean_guest.swap(name, "OTHER-1")
        assert property_of(clean_guest, name, "SERIAL") == "OTHER-1"
    clean_guest.reset()
    for name in swapped:
        assert property_of(clean_guest, name, "SERIAL") == clean_guest.scenario.disk(name).serial


def test_a_sata_disk_is_not_swapped_while_the_guest_runs(guest: Guest) -> None:
    with pytest.raises(LabError, match="cut the power"):
        guest.swap("sata0", "OTHER-1")


def test_what_was_written_survives_a_power_cut(clean_guest: Guest) -> None:
    clean_guest.run("echo kept > /tank/kept; echo kept > /root/kept; sync")
    device = clean_guest.disk("nvme1").device
    clean_guest.run(f"dd if=/dev/urandom of={device} bs=1M count=1 oflag=direct status=none")
    before = clean_guest.digests("nvme1")
    clean_guest.power_cut()
    clean_guest.start_again()
    assert clean_guest.run("cat /tank/kept /root/kept").stdout == "kept\nkept\n"
    assert clean_guest.digests("nvme1") == before


def test_a_reset_gets_out_of_a_suspended_pool(clean_guest: Guest) -> None:
    clean_guest.run(f"zpool create -O sync=always stuck {clean_guest.disk('nvme0').by_id}")
    clean_guest.fail("nvme0")
    clean_guest.run("(setsid dd if=/dev/urandom of=/stuck/file bs=1M count=8 >/dev/null 2>&1 &)")
    clean_guest.run("for i in $(seq 60); do zpool list -Ho health stuck | grep -q SUSP && break; sleep 0.5; done")
    clean_guest.reset()
    assert clean_guest.run("zpool list -Ho name").stdout == "tank\n"
    assert clean_guest.digests("nvme0")["nvme0"].content == ""
