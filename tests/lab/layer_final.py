"""The quick layer of the image: our files, the product's Python packages and a bootable disk."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from . import python_packages
from .layer_base import MODULES
from .paths import GUEST_VENV, HERE
from .stages import run_logged, stage

RECIPE = HERE / "recipe"
ROOTFS = RECIPE / "rootfs"
INGREDIENTS = (
    Path(__file__),
    RECIPE / "final.sh",
    RECIPE / "masked-units",
    *sorted(path for path in ROOTFS.rglob("*") if path.is_file()),
    *python_packages.INGREDIENTS,
)
INSTALLS = RECIPE / "product.sh"
ROOT_PARTUUID = "5a5e0ad5-0001-4000-8000-000000000002"
DISK_BYTES = 8 << 30
ESP_START, ESP_SECTORS = 2048, 131072
ROOT_START = ESP_START + ESP_SECTORS
# The last MiB holds the second copy of the partition table.
ROOT_SECTORS = DISK_BYTES // 512 - ROOT_START - 2048


@dataclass(frozen=True)
class WithPythonPackages:
    """For tests that run the source, or install the package themselves as a user does."""

    venv: Path

    def put_in(self, root: Path, log: Path) -> None:
        run_logged(["cp", "--archive", str(self.venv), str(root / GUEST_VENV.lstrip("/"))], log)


@dataclass(frozen=True)
class WithProduct:
    """The package, installed without the guest running: what takes minutes under emulation takes seconds."""

    packages: Path

    def put_in(self, root: Path, log: Path) -> None:
        with stage("Installing NAS Advisor in the image"):
            package = next(self.packages.glob("nasadvisor_*.deb"))
            shutil.copyfile(package, root / "tmp/nasadvisor.deb")
            shutil.copy(INSTALLS, root / "tmp")
            # Debian's tools look into /proc; what they mount and start ends with them.
            alone = ("unshare", "--mount", "--uts", "--pid", "--fork", f"--mount-proc={root}/proc")
            run_logged([*alone, "chroot", str(root), "sh", f"/tmp/{INSTALLS.name}", GUEST_VENV], log)
            for name in (INSTALLS.name, "nasadvisor.deb"):
                (root / "tmp" / name).unlink()


def build_final(base: Path, content: WithPythonPackages | WithProduct, directory: Path, log: Path) -> None:
    """Leave vmlinuz, initrd, disk.img and the ssh keys in the directory."""
    root = directory / "root"
    with stage("Copying the base system"):
        run_logged(["cp", "--archive", str(base / "root"), str(root)], log)
        run_logged(["cp", "-r", "--remove-destination", f"{ROOTFS}/.", str(root)], log)
    content.put_in(root, log)
    _make_keys(directory, root, log)
    with stage("Preparing the boot"):
        files = (RECIPE / "final.sh", RECIPE / "masked-units", base / MODULES)
        run_logged(["cp", *map(str, files), str(root / "tmp")], log)
        run_logged(["chroot", str(root), "sh", "/tmp/final.sh"], log)
        for file in files:
            (root / "tmp" / file.name).unlink()
        for name in ("vmlinuz", "initrd.img"):
            shutil.copyfile((root / name).resolve(), directory / name)
    with stage("Making the boot disk"):
        _make_disk(root, directory / "disk.img", log)
    shutil.rmtree(root)


def _make_keys(directory: Path, root: Path, log: Path) -> None:
    """A key to log in with, and a host key known in advance, so that ssh never asks."""
    host_key = root / "etc/ssh/ssh_host_ed25519_key"
    for old in (root / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    for key in (directory / "id_ed25519", host_key):
        run_logged(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(key)], log)
    public = host_key.with_suffix(".pub").read_text(encoding="ascii").split()
    (directory / "known_hosts").write_text(f"guest {public[0]} {public[1]}\n", encoding="ascii")
    ssh = root / "root/.ssh"
    ssh.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(directory / "id_ed25519.pub", ssh / "authorized_keys")


def _make_disk(root: Path, disk: Path, log: Path) -> None:
    """A boot disk as an installer leaves it: an EFI partition and a root partition."""
    with disk.open("wb") as image:
        image.truncate(DISK_BYTES)
    table = (
        "label: gpt\nlabel-id: 5a5e0ad5-0001-4000-8000-000000000000\n"
        f"start={ESP_START}, size={ESP_SECTORS}, type=U, uuid=5a5e0ad5-0001-4000-8000-000000000001\n"
        f"start={ROOT_START}, size={ROOT_SECTORS}, type=L, uuid={ROOT_PARTUUID}\n"
    )
    run_logged(["sfdisk", "--quiet", str(disk)], log, stdin=table)
    esp = ["mkfs.vfat", "-F", "32", "--offset", str(ESP_START), str(disk), str(ESP_SECTORS // 2)]
    run_logged(esp, log)
    options = f"offset={ROOT_START * 512},lazy_itable_init=1,lazy_journal_init=1"
    size = f"{ROOT_SECTORS // 2}k"
    run_logged(["mkfs.ext4", "-q", "-F", "-d", str(root), "-E", options, str(disk), size], log)
