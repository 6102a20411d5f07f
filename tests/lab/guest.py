"""A guest, as tests use it: its shell, its disks, and what can go wrong with them."""

import time
from dataclasses import replace

from .errors import LabError
from .guest_disks import LIST_LINKS, DiskDigest, GuestDisk, content_digest, digests_from, find_disks, is_blank
from .instance import Instance, free_port
from .machine import Machine
from .scenario import Bus, Disk, Pool, Scenario
from .shell import Shell
from .stages import say

# Generous: under software emulation on a machine that has other work, a boot can take minutes.
BOOT_SECONDS = 600
# Emulated processors can run an instruction that another one is just rewriting, as Linux does to its own code while it
# boots; now and then a boot ends so, in its first seconds, with an invalid opcode.
PANICS_FORGIVEN = 2
SETTLE_SECONDS = 60
# Ports that have a disk are left alone: looking at each of them again takes two seconds.
SCAN_EMPTY_PORTS = (
    "for host in /sys/class/scsi_host/*; do "
    'set -- "$host"/device/target*; [ -e "$1" ] || echo "- - -" > "$host/scan"; done'
)


class Guest(Shell):
    """One guest. Every method that changes the machine waits until the guest has noticed."""

    def __init__(self, instance: Instance) -> None:
        self.machine = Machine(instance)
        image = self.machine.image
        console = self.machine.serial_log
        super().__init__(instance.directory, console, instance.ssh_port, image.key, image.known_hosts)
        self._panics = 0

    @property
    def name(self) -> str:
        return self.machine.instance.name

    @property
    def scenario(self) -> Scenario:
        return self.machine.scenario

    # The machine

    def wait_ready(self, seconds: float = BOOT_SECONDS, to_its_end: bool = True) -> None:
        """Wait until the guest has booted, to its end or until one can log in."""
        if not self.connect(seconds, self._boots_on):
            ended = "" if self.machine.is_running() else " QEMU ended."
            raise LabError(f"The guest did not boot.{ended} Its last words are in {self.machine.serial_log}.")
        # Either way a first login makes the connection that all later commands share.
        self.run("systemctl is-system-running --wait" if to_its_end else "true", timeout=seconds, check=False)

    def _boots_on(self) -> bool:
        """Whether it can still come up; after a panic the machine is reset, but not for ever."""
        panics = self.machine.panics()
        if panics > self._panics:
            self._panics = panics
            say(f"The kernel of {self.name} panicked while it booted; the machine is reset.")
            self.machine.qmp("system_reset")
        return self.machine.is_running() and panics <= PANICS_FORGIVEN

    def reboot(self) -> None:
        """Restart the guest's system the orderly way."""
        before = self._boot_id()
        self.run("systemctl reboot", check=False)
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline:
            self.disconnect()
            time.sleep(0.5)
            self.wait_ready()
            # The old system may have answered on its way down.
            if self._boot_id() != before:
                return
        raise LabError(f"The guest did not restart within {BOOT_SECONDS} s.")

    def power_cut(self) -> None:
        """The mains fail: QEMU is killed. What had been written to the disks is there afterwards."""
        self.machine.power_cut()
        self.disconnect()

    def start_again(self, to_its_end: bool = True) -> None:
        """Switch the machine on after a power cut, with its disks as they are."""
        self.machine.start()
        self._panics = 0
        self.wait_ready(to_its_end=to_its_end)

    def _boot_id(self) -> str:
        return self.run("cat /proc/sys/kernel/random/boot_id", check=False).stdout

    def forwarded_port(self, guest_port: int) -> int:
        """The port of this machine (on 127.0.0.1) that leads to a port of the guest; opened if need be."""
        instance = self.machine.instance
        if guest_port not in instance.forwards:
            host_port = free_port()
            rule = f"hostfwd_add net0 tcp:127.0.0.1:{host_port}-:{guest_port}"
            self.machine.qmp("human-monitor-command", **{"command-line": rule})
            self._remember(replace(instance, forwards={**instance.forwards, guest_port: host_port}))
        return self.machine.instance.forwards[guest_port]

    def _remember(self, instance: Instance) -> None:
        instance.save()
        self.machine.instance = instance

    # What is on the disks

    def disks(self) -> dict[str, GuestDisk]:
        """The scenario's disks that the guest sees now, by the lab's names; a second namespace is `name-2`."""
        return find_disks(self.scenario, self.run(LIST_LINKS).stdout)

    def disk(self, name: str) -> GuestDisk:
        """One disk, as the guest sees it now."""
        disks = self.disks()
        if name not in disks:
            raise LabError(f"The guest does not see {name}. It sees {', '.join(disks)}.")
        return disks[name]

    def digests(self, *names: str) -> dict[str, DiskDigest]:
        """What is on these disks (or all), for "nothing has changed" and "it is blank". One round trip."""
        disks = {name: disk for name, disk in self.disks().items() if not names or name in names}
        described = self.script("describe.sh", *(disk.device for disk in disks.values())).stdout
        images = self.machine.images()
        return digests_from(described, disks, {name: content_digest(images[name]) for name in disks})

    def reset(self, pool: bool = True) -> None:
        """Every disk works again and is blank from end to end; the scenario's pool is made anew. Seconds."""
        try:
            self._restore_disks()
            self._blank(pool)
        except LabError as error:
            say(f"{error}\nThe guest lets go of its disks the hard way: by a power cut.")
            self.power_cut()
            self.machine.blank_disks()
            self._remember(replace(self.machine.instance, serials={}))
            self.start_again()
            self._blank(pool)

    def make_pool(self) -> None:
        """The scenario's pool, on disks that nobody has used since they were made."""
        if not self.scenario.pool:
            return
        disks = self._all_disks()
        create = self._pool_arguments(self.scenario.pool, disks)
        devices = [disk.device for disk in disks.values()]
        self.script("renew.sh", *devices, "--", "--", *create, timeout=BOOT_SECONDS)

    def _all_disks(self) -> dict[str, GuestDisk]:
        """Every disk of the scenario, once the guest has seen it: it may have booted just now."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            self.run("udevadm settle", check=False)
            disks = self.disks()
            missing = [disk.name for disk in self.scenario.disks if disk.name not in disks]
            if not missing:
                return disks
            if time.monotonic() > deadline:
                raise LabError(f"The guest did not see {', '.join(missing)} within {SETTLE_SECONDS} s.")
            time.sleep(0.3)

    def _blank(self, pool: bool) -> None:
        disks = self.disks()
        devices = [disk.device for disk in disks.values()]
        self.script("release.sh", *devices, timeout=SETTLE_SECONDS)
        wanted = self.scenario.pool if pool else None
        in_pool = {name for mirror in wanted.mirrors for name in mirror} if wanted else set()
        images = self.machine.images()
        changed = [disk.device for name, disk in disks.items() if name not in in_pool and not is_blank(images[name])]
        self.machine.blank_disks()
        create = self._pool_arguments(wanted, disks) if wanted else []
        self.script("renew.sh", *devices, "--", *changed, "--", *create)

    def _pool_arguments(self, wanted: Pool, disks: dict[str, GuestDisk]) -> list[str]:
        arguments = ["-o", f"ashift={wanted.ashift}", wanted.name]
        for mirror in wanted.mirrors:
            arguments += ["mirror", *(disks[name].by_id for name in mirror)]
        return arguments

    def _restore_disks(self) -> None:
        """Take back every fault."""
        for disk in self.scenario.disks:
            if disk.error_switch:
                self.fail(disk.name, on=False)
        for name in self.machine.instance.serials:
            self.swap(name, self.scenario.disk(name).serial)
        seen = self.disks()
        for disk in self.scenario.disks:
            if disk.name not in seen:
                self.bring_back(disk.name)

    # Faults

    def fail(self, name: str, on: bool = True) -> None:
        """Every request to the disk ends with an I/O error, until it is switched off."""
        disk = self.scenario.disk(name)
        if not disk.error_switch:
            raise LabError(f"{name} has no error switch in the scenario {self.scenario.name}.")
        switch = self.machine.files.error_file(disk)
        if on:
            switch.touch()
        else:
            switch.unlink(missing_ok=True)

    def vanish(self, name: str) -> None:
        """Pull a disk. QEMU cannot unplug SATA: there the guest's kernel is told that the disk is gone."""
        disk = self.scenario.disk(name)
        if disk.bus is Bus.SATA:
            node = self.disk(name).device.removeprefix("/dev/")
            self.run(f"echo 1 > /sys/block/{node}/device/delete")
        else:
            _refuse_namespaces(disk)
            self.machine.unplug(disk)
        self.run("udevadm settle")

    def bring_back(self, name: str) -> GuestDisk:
        """Put a pulled disk back into its slot."""
        disk = self.scenario.disk(name)
        if disk.bus is Bus.SATA:
            self.run(SCAN_EMPTY_PORTS)
        else:
            self.machine.plug(disk)
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            self.run("udevadm settle")
            if found := self.disks().get(name):
                return found
            time.sleep(0.3)
        raise LabError(f"The guest did not see {name} within {SETTLE_SECONDS} s.")

    def swap(self, name: str, serial: str) -> None:
        """Another disk with the same content in the same slot: what a look at names alone does not notice.

        A SATA disk can be swapped only while the power is off.
        """
        disk = self.scenario.disk(name)
        running = self.machine.is_running()
        if running and disk.bus is Bus.SATA:
            raise LabError(f"{name} is a SATA disk: cut the power, swap it, and switch on again.")
        if running:
            self.vanish(name)
        serials = {**self.machine.instance.serials, name: serial}
        if serial == disk.serial:
            del serials[name]
        self._remember(replace(self.machine.instance, serials=serials))
        if running:
            self.bring_back(name)


def _refuse_namespaces(disk: Disk) -> None:
    if disk.namespaces > 1:
        raise LabError(f"{disk.name} has several namespaces, and QEMU cannot plug such a disk back.")
