"""Scenario files and digests of disk images: the parts of the lab that need no guest."""

import os
from pathlib import Path

import pytest

from tests.lab import host_settings, scenario
from tests.lab.disks import DiskFiles, by_path, devices
from tests.lab.errors import LabError
from tests.lab.guest_disks import content_digest, find_disks
from tests.lab.scenario import Bus, load_scenario, parse_size, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_is_a_machine(name: str) -> None:
    machine = load_scenario(name)
    names = [disk.name for disk in machine.disks]
    assert len(set(names)) == len(names)
    assert machine.pool
    assert all(disk in names for mirror in machine.pool.mirrors for disk in mirror)


@pytest.mark.parametrize("name", scenario_names())
def test_every_disk_has_a_place_of_its_own(name: str) -> None:
    machine = load_scenario(name)
    places = [by_path(machine, disk, n) for disk in machine.disks for n in range(1, disk.namespaces + 1)]
    assert len(set(places)) == len(places)
    plugs = [(d["bus"], d.get("scsi-id")) for d in devices(machine, {}) if d["driver"] in {"ide-hd", "scsi-hd"}]
    assert len(set(plugs)) == len(plugs)


def test_a_scenario_changes_the_one_it_extends() -> None:
    default, slow = load_scenario("default"), load_scenario("slow")
    assert default.disk("hdd0").latency_ms == 0
    assert slow.disk("hdd0").latency_ms == 8
    assert slow.disk("nvme0") == default.disk("nvme0")


@pytest.mark.parametrize(
    "text",
    ['disk = [{name = "a", bus = "scsi"}]', 'disk = [{name = "a", sise = "4GiB"}]', "[change.nobody]\nextends = 1"],
)
def test_a_wrong_scenario_is_refused_with_a_sentence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.toml").write_text(text)
    monkeypatch.setattr(scenario, "SCENARIOS", tmp_path)
    with pytest.raises(LabError, match=r"wrong\.toml describes no machine"):
        load_scenario("wrong")


def test_an_unknown_scenario_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LabError, match="There is no scenario named nothing"):
        load_scenario("nothing")


def test_sizes() -> None:
    assert parse_size("48MiB") == 48 << 20
    with pytest.raises(ValueError, match="is not a size"):
        parse_size("48MB")


def test_a_serial_that_was_swapped_is_told_to_qemu() -> None:
    machine = load_scenario("default")
    serials = [device.get("serial") for device in devices(machine, {"nvme0": "OTHER"})]
    assert "OTHER" in serials
    assert machine.disk("nvme0").serial not in serials


def test_only_disks_that_need_it_are_served(tmp_path: Path) -> None:
    machine = load_scenario("slow")
    argv = DiskFiles(tmp_path).server_argv(machine.disk("hdd0"))
    assert "--filter=delay" in argv
    assert "--filter=error" not in argv
    assert not load_scenario("default").disk("hdd0").served


def test_disks_are_found_by_their_place(tmp_path: Path) -> None:
    machine = load_scenario("default")
    listing = "../../sdc /dev/disk/by-path/pci-0000:00:1f.2-ata-2\n../../sdc /dev/disk/by-id/ata-X\n"
    found = find_disks(machine, listing)
    assert list(found) == ["hdd0"]
    assert found["hdd0"].device == "/dev/sdc"
    assert found["hdd0"].by_id == "/dev/disk/by-id/ata-X"
    assert machine.disk("hdd0").bus is Bus.SATA


def test_a_content_digest_sees_bytes_and_not_holes(tmp_path: Path) -> None:
    sparse, written = tmp_path / "sparse", tmp_path / "written"
    for path in (sparse, written):
        with path.open("wb") as file:
            os.truncate(file.fileno(), 64 << 20)
    with written.open("r+b") as file:
        file.seek(10 << 20)
        file.write(bytes(1 << 20))
    assert content_digest(sparse) == content_digest(written) == ""
    with written.open("r+b") as file:
        file.seek((10 << 20) + 4711)
        file.write(b"x")
    first = content_digest(written)
    with written.open("r+b") as file:
        file.seek((10 << 20) + 4711)
        file.write(b"\0x")
    assert first
    assert content_digest(written) not in {"", first}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sources.list", "deb http://archive.example/debian bookworm main\n"),
        ("sources.list.d/a.sources", "Types: deb\nURIs: http://archive.example/debian/\nSuites: bookworm\n"),
    ],
)
def test_the_archive_is_the_one_apt_uses(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(host_settings, "APT", tmp_path)
    monkeypatch.delenv(host_settings.MIRROR_VARIABLE, raising=False)
    assert host_settings.debian_mirror() == "http://archive.example/debian"


def test_without_an_archive_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_settings, "APT", tmp_path)
    monkeypatch.delenv(host_settings.MIRROR_VARIABLE, raising=False)
    with pytest.raises(LabError, match="NASADVISOR_LAB_MIRROR"):
        host_settings.debian_mirror()
