"""Making disks fail the ways they do."""

from dataclasses import replace

from .errors import LabError
from .guest import Guest
from .scenario import Bus

KINDS = {
    "err": "every request to the disk fails (or works again)",
    "vanish": "the disk is pulled out while the guest runs",
    "return": "a disk that was pulled out is put back",
    "swap": "another disk, told by its serial number, is in the slot from now on",
    "powercut": "the mains fail; `up --keep` switches the machine on again",
}


def fail(guest: Guest, name: str, on: bool = True) -> None:
    """Every request to the disk ends with an I/O error until it is switched off."""
    disk = guest.scenario.disk(name)
    if not disk.error_switch:
        raise LabError(f"{name} has no error switch in the scenario {guest.scenario.name}.")
    switch = guest.machine.files.error_file(disk)
    if on:
        switch.touch()
    else:
        switch.unlink(missing_ok=True)


def vanish(guest: Guest, name: str) -> None:
    """Pull a disk. QEMU cannot unplug SATA, so there the guest's kernel is told that the disk is gone."""
    disk = guest.scenario.disk(name)
    if disk.bus is Bus.SATA:
        device = guest.disks()[name].device.removeprefix("/dev/")
        guest.run(f"echo 1 > /sys/block/{device}/device/delete")
    else:
        _one_namespace(guest, name)
        guest.machine.unplug(disk)
    guest.run("udevadm settle")


def bring_back(guest: Guest, name: str) -> None:
    """Put a pulled disk back."""
    disk = guest.scenario.disk(name)
    if disk.bus is Bus.SATA:
        guest.run("for host in /sys/class/scsi_host/*/scan; do echo '- - -' > $host; done")
    else:
        guest.machine.plug(disk)
    guest.wait_for_disk(name)


def swap(guest: Guest, name: str, serial: str) -> None:
    """Another disk with the same content in the same slot: what a check by name alone would not notice."""
    disk = guest.scenario.disk(name)
    running = guest.machine.is_running()
    if running and disk.bus is Bus.SATA:
        raise LabError(f"{name} is a SATA disk: cut the power, swap it, and switch on again with `up --keep`.")
    if running:
        vanish(guest, name)
    serials = {**guest.machine.instance.serials, name: serial}
    guest.remember(replace(guest.machine.instance, serials=serials))
    if running:
        bring_back(guest, name)


def _one_namespace(guest: Guest, name: str) -> None:
    if guest.scenario.disk(name).namespaces > 1:
        raise LabError(f"{name} has several namespaces, and QEMU cannot plug such a disk back.")
