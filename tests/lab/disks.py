"""From a scenario's disks to what QEMU and nbdkit are told."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .scenario import Boot, Bus, Disk, Scenario

Options = dict[str, Any]
# The board's own AHCI controller, and each one added, has this many ports.
SATA_PORTS = 6
SAS_CONTROLLER = "scsi0"
# Fixed places on the PCI bus, so that /dev/disk/by-path tells which disk is which whatever its serial.
SAS_ADDRESS = 0x07
AHCI_ADDRESS = 0x08
PORT_ADDRESS = 0x10
# The guest's flushes stop at QEMU: what QEMU has written survives its death in the host's page cache,
# and waiting for the host's own disk would only make timings depend on the host.
CACHE = {"direct": False, "no-flush": True}
FLUSHED = {"direct": False, "no-flush": False}


class DiskFiles:
    """The files of one instance's disks."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def image(self, disk: Disk, namespace: int = 1) -> Path:
        suffix = "" if namespace == 1 else f"-{namespace}"
        return self.directory / f"{disk.name}{suffix}.img"

    def socket(self, disk: Disk) -> Path:
        return self.directory / f"{disk.name}.sock"

    def pid_file(self, disk: Disk) -> Path:
        return self.directory / f"{disk.name}.pid"

    def error_file(self, disk: Disk) -> Path:
        """While this file exists, every request to the disk fails."""
        return self.directory / f"{disk.name}.fails"

    def create(self, disk: Disk) -> None:
        """Blank and sparse, whatever was there before."""
        for namespace in range(1, disk.namespaces + 1):
            with self.image(disk, namespace).open("wb") as image:
                os.truncate(image.fileno(), disk.size)

    @property
    def record(self) -> Path:
        """Every write and flush of the recorded disks, in order."""
        return self.directory / "record"

    @property
    def recorder_pid(self) -> Path:
        return self.directory / "recorder.pid"

    def recorder_argv(self, scenario: Scenario) -> tuple[str, ...]:
        """The server of all recorded disks; they are numbered in the order of the scenario."""
        disks = [str(path(disk)) for disk in recorded(scenario) for path in (self.socket, self.image)]
        return (sys.executable, "-m", "tests.lab.recorder", str(self.record), str(self.recorder_pid), *disks)

    def server_argv(self, disk: Disk) -> tuple[str, ...]:
        """The server that makes a disk slow or able to fail."""
        filters: tuple[str, ...] = ()
        settings: tuple[str, ...] = ()
        if disk.error_switch:
            filters += ("--filter=error",)
            settings += ("error=EIO", "error-rate=100%", f"error-file={self.error_file(disk)}")
        if disk.latency_ms:
            filters += ("--filter=delay",)
            settings += (f"rdelay={disk.latency_ms}ms", f"wdelay={disk.latency_ms}ms")
        files = (f"--unix={self.socket(disk)}", f"--pidfile={self.pid_file(disk)}")
        return ("nbdkit", "--threads=8", *files, *filters, "file", str(self.image(disk)), *settings)


def recorded(scenario: Scenario) -> tuple[Disk, ...]:
    """The disks that the recorder serves; their places are their numbers in the record."""
    return tuple(disk for disk in scenario.disks if disk.recorded)


def block_nodes(scenario: Scenario, files: DiskFiles) -> Iterator[tuple[str, Options]]:
    """Pairs of QEMU option name and value, for the storage behind each disk."""
    for disk in scenario.disks:
        for namespace in range(1, disk.namespaces + 1):
            yield from _node(disk, namespace, files)


def _node(disk: Disk, namespace: int, files: DiskFiles) -> Iterator[tuple[str, Options]]:
    cache = FLUSHED if disk.recorded else CACHE
    storage: Options = {"discard": "unmap" if disk.is_ssd else "ignore", "cache": cache}
    if disk.served:
        storage |= {"driver": "nbd", "server": {"type": "unix", "path": str(files.socket(disk))}}
    else:
        storage |= {"driver": "file", "filename": str(files.image(disk, namespace))}
    name = node_name(disk, namespace)
    if disk.iops:
        group = f"limit-{disk.name}"
        yield "object", {"qom-type": "throttle-group", "id": group, "limits": {"iops-total": disk.iops}}
        storage = {"driver": "throttle", "throttle-group": group, "file": storage}
    yield "blockdev", {"node-name": name, **storage}


def node_name(disk: Disk, namespace: int = 1) -> str:
    """QEMU's name for the storage behind a disk."""
    return f"{disk.name}-{namespace}"


def devices(scenario: Scenario, serials: Mapping[str, str]) -> Iterator[Options]:
    """The controllers, and the disks on them, in the order of the scenario."""
    yield boot_device(scenario.boot)
    sata = [disk for disk in scenario.disks if disk.bus is Bus.SATA]
    for controller in range(1, len(sata) // SATA_PORTS + 1):
        yield {"driver": "ahci", "id": f"ahci{controller}", "addr": f"{AHCI_ADDRESS + controller:#x}"}
    if any(disk.bus is Bus.SAS for disk in scenario.disks):
        yield {"driver": "virtio-scsi-pci", "id": SAS_CONTROLLER, "addr": f"{SAS_ADDRESS:#x}"}
    for slot, disk in enumerate((disk for disk in scenario.disks if disk.bus is Bus.NVME), start=1):
        # Only a disk behind a port of its own can be pulled and plugged while the guest runs.
        address = f"{PORT_ADDRESS + slot:#x}"
        yield {"driver": "pcie-root-port", "id": _port(disk), "chassis": slot, "slot": slot, "addr": address}
    for disk in scenario.disks:
        yield from disk_devices(scenario, disk, serials.get(disk.name, disk.serial))


def boot_device(boot: Boot) -> Options:
    """The disk the guest boots from, on the first SATA port."""
    return {
        "driver": "ide-hd",
        "id": "boot",
        "drive": "boot",
        "bus": "ide.0",
        "model": boot.model,
        "serial": boot.serial,
        "wwn": boot.wwn,
        "rotation_rate": 1,
    }


def disk_devices(scenario: Scenario, disk: Disk, serial: str) -> Iterator[Options]:
    """The devices that make up one disk: one, or a controller and its namespaces."""
    common: Options = {
        "logical_block_size": disk.logical_sector,
        "physical_block_size": disk.physical_sector,
    }
    place = _place(scenario, disk)
    if disk.bus is Bus.NVME:
        yield from _nvme(disk, serial, common)
        return
    if not disk.is_ssd:
        common["discard_granularity"] = 0
    if disk.wwn is not None:
        common["wwn"] = disk.wwn
    common |= {"id": disk.name, "drive": node_name(disk), "rotation_rate": disk.rotation}
    if disk.bus is Bus.SATA:
        # The boot disk has the first port.
        controller, port = divmod(place + 1, SATA_PORTS)
        bus = f"ide.{port}" if controller == 0 else f"ahci{controller}.{port}"
        yield {"driver": "ide-hd", "bus": bus, "model": disk.model, "serial": serial, **common}
    else:
        names = {"vendor": disk.vendor, "product": disk.model[:16]}
        if serial:
            names["serial"] = serial
        address = {"bus": f"{SAS_CONTROLLER}.0", "scsi-id": place}
        yield {"driver": "scsi-hd", **names, **address, **common}


def _nvme(disk: Disk, serial: str, common: Options) -> Iterator[Options]:
    controller = {"driver": "nvme", "id": disk.name, "bus": _port(disk), "serial": serial}
    if disk.namespaces == 1:
        yield {**controller, "drive": node_name(disk), **common}
        return
    yield controller
    for namespace in range(1, disk.namespaces + 1):
        drive = node_name(disk, namespace)
        yield {"driver": "nvme-ns", "bus": disk.name, "drive": drive, "nsid": namespace, **common}


def _port(disk: Disk) -> str:
    return f"port-{disk.name}"


def _place(scenario: Scenario, disk: Disk) -> int:
    """The how-manieth of its bus the disk is, from 0."""
    return [other.name for other in scenario.disks if other.bus is disk.bus].index(disk.name)


def by_path(scenario: Scenario, disk: Disk, namespace: int = 1) -> str:
    """The link by which the guest knows the disk's place in the machine."""
    place = _place(scenario, disk)
    if disk.bus is Bus.NVME:
        # The firmware numbers the buses behind the ports in their order.
        end = f"{place + 1:02x}:00.0-nvme-{namespace}"
    elif disk.bus is Bus.SAS:
        end = f"00:{SAS_ADDRESS:02x}.0-scsi-0:0:{place}:0"
    else:
        controller, port = divmod(place + 1, SATA_PORTS)
        address = "1f.2" if controller == 0 else f"{AHCI_ADDRESS + controller:02x}.0"
        end = f"00:{address}-ata-{port + 1}"
    return f"/dev/disk/by-path/pci-0000:{end}"
