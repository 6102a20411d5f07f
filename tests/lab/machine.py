"""Starting and stopping QEMU and the disk servers of one instance."""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from .accel import acceleration
from .disks import DiskFiles, Options, block_nodes, devices, disk_devices, recorded
from .errors import LabError
from .image import Image
from .instance import Instance
from .layer_final import ROOT_PARTUUID
from .qmp import qmp
from .scenario import Disk, load_scenario

KERNEL_OPTIONS = (
    f"root=PARTUUID={ROOT_PARTUUID} rw console=ttyS0 net.ifnames=0 systemd.show_status=0 "
    "fsck.mode=skip mitigations=off audit=0 lsm=capability nowatchdog 8250.nr_uarts=1 random.trust_cpu=on "
    "no_timer_check systemd.default_device_timeout_sec=1200"  # on a busy machine udev takes minutes to find eth0
)


class Machine:
    """The processes and files of one instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.directory = instance.directory
        self.scenario = load_scenario(instance.scenario)
        self.image = Image(Path(instance.image))
        self.files = DiskFiles(self.directory)

    @property
    def control(self) -> Path:
        return self.directory / "qmp.sock"

    @property
    def serial_log(self) -> Path:
        return self.directory / "serial.log"

    def make_disks(self) -> None:
        """Blank data disks and a fresh overlay over the image."""
        for disk in self.scenario.disks:
            self.files.create(disk)
        backing = ("-b", str(self.image.disk), "-F", "raw")
        overlay = str(self.directory / "root.qcow2")
        _run("qemu-img", "create", "-q", "-f", "qcow2", *backing, overlay)
        link = self.directory / "image"
        link.unlink(missing_ok=True)
        link.symlink_to(self.image.directory)

    def start(self) -> None:
        """Start the disk servers and QEMU; returns as soon as QEMU runs."""
        if self.is_running():
            raise LabError(f"The lab instance {self.instance.name} is running already.")
        if not self.image.disk.exists():
            raise LabError(f"The image {self.image.directory} is gone. Start the instance without --keep.")
        for disk in self.scenario.disks:
            self.files.error_file(disk).unlink(missing_ok=True)
            if disk.served and not disk.recorded and not _alive(self.files.pid_file(disk), self.directory):
                self.files.socket(disk).unlink(missing_ok=True)
                _run(*self.files.server_argv(disk))
        self.start_recorder()
        _run(*self._qemu_argv())

    def start_recorder(self) -> None:
        """Start the server of the recorded disks, if there are any and it does not run."""
        disks = recorded(self.scenario)
        if not disks or _alive(self.files.recorder_pid, self.directory):
            return
        for disk in disks:
            self.files.socket(disk).unlink(missing_ok=True)
        _run(*self.files.recorder_argv(self.scenario))

    def stop_recorder(self) -> None:
        """End it, with QEMU gone before; what was recorded is on file."""
        _kill(self.files.recorder_pid, self.directory)

    def is_running(self) -> bool:
        return _alive(self.directory / "qemu.pid", self.directory) is not None

    def panics(self) -> int:
        """How often the guest's kernel panicked since the machine was switched on."""
        return self.serial_log.read_bytes().count(b"---[ end Kernel panic") if self.serial_log.exists() else 0

    def power_cut(self) -> None:
        """End QEMU without warning, as when the mains fail. The disk servers stay."""
        _kill(self.directory / "qemu.pid", self.directory)

    def stop(self) -> None:
        """End everything that belongs to the instance."""
        self.power_cut()
        self.stop_recorder()
        for disk in self.scenario.disks:
            if disk.served:
                _kill(self.files.pid_file(disk), self.directory)

    def remove(self) -> None:
        """Stop, and forget the disks and the record."""
        self.stop()
        shutil.rmtree(self.directory)

    def qmp(self, command: str, /, **arguments: Any) -> Any:
        """One command to QEMU."""
        return qmp(self.control, command, **arguments)

    def blank_disks(self) -> None:
        """Make every data disk zeros from end to end, behind the back of a guest that uses none of them."""
        for image in self.images().values():
            _run("fallocate", "--punch-hole", "--length", str(image.stat().st_size), str(image))

    def images(self) -> dict[str, Path]:
        """The file behind each data disk; a second namespace is `name-2`."""
        return {
            disk.name if namespace == 1 else f"{disk.name}-{namespace}": self.files.image(disk, namespace)
            for disk in self.scenario.disks
            for namespace in range(1, disk.namespaces + 1)
        }

    def plug(self, disk: Disk) -> None:
        """Put a disk back into its slot, with the serial it has now."""
        serial = self.instance.serials.get(disk.name, disk.serial)
        for options in disk_devices(self.scenario, disk, serial):
            self.qmp("device_add", **options)

    def unplug(self, disk: Disk, seconds: float = 60) -> None:
        """Pull a disk out; waits until the guest has let it go."""
        self.qmp("device_del", id=disk.name)
        deadline = time.monotonic() + seconds
        while self.is_plugged(disk):
            if time.monotonic() > deadline:
                raise LabError(f"The guest did not let go of {disk.name} within {seconds:.0f} s.")
            time.sleep(0.2)

    def is_plugged(self, disk: Disk) -> bool:
        """Whether the disk is in its slot."""
        found = self.qmp("qom-list", path="/machine/peripheral")
        return any(entry["name"] == disk.name for entry in found)

    def _qemu_argv(self) -> list[str]:
        forwards = {22: self.instance.ssh_port, **self.instance.forwards}
        rules = "".join(f",hostfwd=tcp:127.0.0.1:{host}-:{guest}" for guest, host in forwards.items())
        argv = ["qemu-system-x86_64", *acceleration(self.image), "-machine", "q35,usb=off", "-nodefaults",
                "-no-user-config", "-display", "none", "-daemonize", "-name", f"lab-{self.instance.name}",
                "-smp", str(processors(self.scenario.cpus)), "-m", str(self.scenario.memory_mib),
                "-pidfile", str(self.directory / "qemu.pid"), "-serial", f"file:{self.serial_log}",
                "-qmp", f"unix:{self.control},server=on,wait=off",
                "-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd), "-append", KERNEL_OPTIONS,
                "-netdev", f"user,id=net0{rules}", "-device", "virtio-net-pci,netdev=net0,romfile=",
                "-device", "virtio-rng-pci"]  # fmt: skip
        cache = {"direct": False, "no-flush": True}
        overlay = {"driver": "file", "filename": str(self.directory / "root.qcow2"), "cache": cache}
        boot: Options = {"driver": "qcow2", "node-name": "boot", "file": overlay, "discard": "unmap", "cache": cache}
        nodes = [("blockdev", boot), *block_nodes(self.scenario, self.files)]
        for option, value in nodes:
            argv += [f"-{option}", json.dumps(value)]
        for value in devices(self.scenario, self.instance.serials):
            argv += ["-device", json.dumps(value)]
        return argv


def processors(wanted: int) -> int:
    """How many a guest gets: no more than its share of this machine's where pytest-xdist runs several guests.

    A guest whose other processor waits for its turn spins until it comes: two guests with two processors each booted in
    149 s on a machine of two, with one each in 112 s, and did the same work in 245 s and 208 s.
    """
    guests = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, min(wanted, (os.cpu_count() or 1) // guests))


def _run(*argv: str) -> None:
    """Run a program that ends at once or puts itself into the background."""
    try:
        result = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise LabError(
            f"{argv[0]} is not installed. `python3 -m tests.lab packages` lists what the lab needs."
        ) from None
    if result.returncode != 0:
        raise LabError(f"{argv[0]} failed: {result.stderr.strip() or f'exit code {result.returncode}'}.")


def _alive(pid_file: Path, directory: Path) -> int | None:
    """The process that wrote the file, if it still lives and is one of ours: numbers are used again."""
    try:
        pid = int(pid_file.read_text(encoding="ascii"))
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return pid if str(directory).encode() in command else None


def _kill(pid_file: Path, directory: Path) -> None:
    """End the process at once and wait until it is gone."""
    pid = _alive(pid_file, directory)
    if pid is None:
        return
    # A descriptor of the process, because its command line is gone long before its files are closed.
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
    finally:
        os.close(process)
    pid_file.unlink(missing_ok=True)
