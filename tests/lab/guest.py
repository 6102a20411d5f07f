"""A running guest, as tests use it.

    with Lab.start("default", name="mine") as guest:
        guest.run(["zpool", "status", "-j"]).stdout
"""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .disks import by_path
from .errors import LabError
from .image import image
from .instance import Instance, check_name, free_port, instance_names, load_instance
from .machine import Machine
from .paths import HERE
from .scenario import Disk, Scenario, load_scenario
from .ssh import Completed, Connection
from .stages import say

# Software emulation on a busy machine.
BOOT_SECONDS = 300
COMMAND_SECONDS = 120
SCRIPTS = HERE / "in_guest"


@dataclass(frozen=True)
class GuestDisk:
    """How the guest sees one disk of the scenario."""

    # /dev/sda or /dev/nvme0n1: valid until the next reboot.
    device: str
    # Every link below /dev/disk that leads to it.
    links: tuple[str, ...]

    @property
    def by_id(self) -> str:
        """A persistent name, as a person would choose it."""
        links = [link for link in self.links if link.startswith("/dev/disk/by-id/")]
        order = ("ata-", "nvme-", "scsi-S", "wwn-", "scsi-")
        ranked = sorted(links, key=lambda link: (_rank(link, order), len(link), link))
        if not ranked:
            raise LabError(f"{self.device} has no link in /dev/disk/by-id.")
        return ranked[0]


def _rank(link: str, order: Sequence[str]) -> int:
    name = link.rsplit("/", 1)[1]
    return next((place for place, start in enumerate(order) if name.startswith(start)), len(order))


class Guest:
    """One running guest. Every method that changes the machine waits until the change is there."""

    def __init__(self, instance: Instance) -> None:
        self.machine = Machine(instance)
        picture = self.machine.image
        self.ssh = Connection(instance.directory, instance.ssh_port, picture.key, picture.known_hosts)

    @property
    def name(self) -> str:
        return self.machine.instance.name

    @property
    def scenario(self) -> Scenario:
        return self.machine.scenario

    # Commands and files

    def run(
        self,
        command: str | Sequence[str],
        timeout: float = COMMAND_SECONDS,
        check: bool = True,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command as root: a sequence is one program, a string goes to the guest's shell."""
        return self.ssh.run(command, stdin, timeout, check)

    def script(self, name: str, *arguments: str, timeout: float = COMMAND_SECONDS) -> Completed:
        """Run a shell script of the lab (`tests/lab/in_guest/`) in one round trip."""
        text = (SCRIPTS / name).read_bytes()
        return self.run(["sh", "-s", "--", *arguments], timeout=timeout, stdin=text)

    def read_bytes(self, path: str) -> bytes:
        """The content of a file."""
        done = self.ssh.run_bytes(f"cat -- '{path}'", b"", COMMAND_SECONDS)
        if done.returncode != 0:
            raise LabError(f"{path} cannot be read in the guest: {done.stderr.decode().strip()}")
        return done.stdout

    def put(self, local: Path, remote: str) -> None:
        """Copy one file; the mode comes along."""
        mode = f"{local.stat().st_mode & 0o777:o}"
        command = f"cat > '{remote}' && chmod {mode} '{remote}'"
        self.run(command, stdin=local.read_bytes())

    def push_tree(self, local: Path, remote: str, exclude: Sequence[str] = ()) -> None:
        """Copy a directory's content into a directory of the guest, as one tar stream."""
        excludes = [f"--exclude={pattern}" for pattern in (".git", ".venv", "__pycache__", ".*_cache", *exclude)]
        tar = ["tar", "-cf", "-", "--owner=0", "--group=0", *excludes, "-C", str(local), "."]
        packed = subprocess.run(tar, capture_output=True, check=True).stdout
        self.run(f"mkdir -p '{remote}' && tar -xf - -C '{remote}'", stdin=packed)

    # The machine

    def wait_ready(self, seconds: float = BOOT_SECONDS) -> None:
        """Wait until the guest has booted to its end."""
        self.ssh.write_config()
        deadline = time.monotonic() + seconds
        while not self.ssh.answers():
            if not self.machine.is_running():
                raise LabError(f"QEMU ended while the guest booted. See {self.machine.serial_log}.")
            if time.monotonic() > deadline:
                raise LabError(f"The guest did not boot in {seconds:.0f} s. See {self.machine.serial_log}.")
            time.sleep(0.3)
        self.run("systemctl is-system-running --wait", timeout=seconds, check=False)

    def reboot(self) -> None:
        """Restart the guest's system the orderly way."""
        before = self._boot_id()
        self.run("systemctl reboot", check=False)
        self._wait_for_another_boot(before)

    def power_cut(self) -> None:
        """The mains fail: QEMU is killed. Disks keep what had been written to them."""
        self.machine.power_cut()
        self.ssh.close()

    def start_again(self) -> None:
        """Switch the machine on again after a power cut, with its disks as they are."""
        self.machine.start()
        self.wait_ready()

    def _boot_id(self) -> str:
        return self.run("cat /proc/sys/kernel/random/boot_id").stdout

    def _wait_for_another_boot(self, before: str) -> None:
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline:
            self.ssh.close()
            self.wait_ready()
            # The old system may have answered on its way down.
            try:
                if self._boot_id() != before:
                    return
            except LabError:
                pass
            time.sleep(0.5)
        raise LabError(f"The guest did not restart within {BOOT_SECONDS} s.")

    def forwarded_port(self, guest_port: int) -> int:
        """The port of this machine (on 127.0.0.1) that leads to a port of the guest."""
        instance = self.machine.instance
        if guest_port not in instance.forwards:
            host_port = free_port()
            rule = f"hostfwd_add net0 tcp:127.0.0.1:{host_port}-:{guest_port}"
            self.machine.qmp("human-monitor-command", **{"command-line": rule})
            self.remember(replace(instance, forwards={**instance.forwards, guest_port: host_port}))
        return self.machine.instance.forwards[guest_port]

    def remember(self, instance: Instance) -> None:
        """Change the record of this instance."""
        instance.save()
        self.machine.instance = instance

    # Disks

    def disks(self) -> dict[str, GuestDisk]:
        """The scenario's disks that the guest sees now, by the lab's names; a second namespace is `name-2`."""
        links: dict[str, list[str]] = {}
        for line in self.run(["find", "/dev/disk", "-type", "l", "-printf", "%l %p\\n"]).stdout.splitlines():
            target, link = line.split(" ", 1)
            links.setdefault(f"/dev/{target.rsplit('/', 1)[1]}", []).append(link)
        found: dict[str, GuestDisk] = {}
        for disk in self.scenario.disks:
            for namespace in range(1, disk.namespaces + 1):
                place = by_path(self.scenario, disk, namespace)
                for device, names in links.items():
                    if place in names:
                        key = disk.name if namespace == 1 else f"{disk.name}-{namespace}"
                        found[key] = GuestDisk(device, tuple(sorted(names)))
        return found

    def wait_for_disk(self, name: str, seconds: float = 60) -> GuestDisk:
        """Wait until the guest sees a disk, with its links made."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.run("udevadm settle")
            if disk := self.disks().get(name):
                return disk
            time.sleep(0.3)
        raise LabError(f"The guest did not see {name} within {seconds:.0f} s.")

    def reset(self, pool: bool = True) -> None:
        """Blank all data disks from end to end and create the scenario's pool anew. Seconds, not a boot."""
        for disk in self.scenario.disks:
            self.machine.files.error_file(disk).unlink(missing_ok=True)
        disks = self.disks()
        devices = [disk.device for disk in disks.values()]
        self.script("release.sh", *devices)
        self.machine.blank_disks()
        self.script("renew.sh", *devices, *(self._pool_arguments(disks) if pool else ()))

    def _pool_arguments(self, disks: dict[str, GuestDisk]) -> list[str]:
        wanted = self.scenario.pool
        if wanted is None:
            return []
        arguments = ["--", "-o", f"ashift={wanted.ashift}", wanted.name]
        for mirror in wanted.mirrors:
            arguments += ["mirror", *(disks[name].by_id for name in mirror)]
        return arguments


class Lab:
    """Starting, finding and ending guests."""

    @staticmethod
    @contextmanager
    def start(scenario: str = "default", name: str = "test") -> Iterator[Guest]:
        """A fresh guest for the length of a `with` block."""
        guest = Lab.up(scenario, name)
        try:
            yield guest
        finally:
            Lab.down(name)

    @staticmethod
    def up(
        scenario: str = "default",
        name: str = "dev",
        keep: bool = False,
        ssh_port: int | None = None,
        forwards: Sequence[int] = (),
    ) -> Guest:
        """Boot a guest and leave it running. `keep` goes on with the disks of the last time."""
        if keep:
            guest = Guest(load_instance(name))
        else:
            if name in instance_names():
                Machine(load_instance(name)).remove()
            instance = Instance(
                name=check_name(name),
                scenario=load_scenario(scenario).name,
                image=str(image().directory),
                ssh_port=ssh_port or free_port(),
                forwards={port: free_port() for port in forwards},
            )
            instance.directory.mkdir(parents=True)
            instance.save()
            guest = Guest(instance)
            guest.machine.make_disks()
        guest.machine.start()
        guest.wait_ready()
        if not keep:
            guest.reset()
        return guest

    @staticmethod
    def attach(name: str) -> Guest:
        """A guest that runs already."""
        guest = Guest(load_instance(name))
        if not guest.machine.is_running():
            raise LabError(f"The lab instance {name} is not running. Start it with `up --name {name}`.")
        guest.ssh.write_config()
        return guest

    @staticmethod
    def down(name: str) -> None:
        """End a guest and forget its disks."""
        Machine(load_instance(name)).remove()
