"""The quick layer of the image: our files, the product's Python packages and a bootable disk."""

import hashlib
import shutil
from pathlib import Path

from .host_settings import CERTIFICATES, pip_environment
from .paths import HERE, LOCK_FILE
from .stages import run_logged, stage

RECIPE = HERE / "recipe"
ROOTFS = RECIPE / "rootfs"
INGREDIENTS = (
    Path(__file__),
    RECIPE / "final.sh",
    RECIPE / "masked-units",
    *sorted(path for path in ROOTFS.rglob("*") if path.is_file()),
    LOCK_FILE,
)
VENV = "/usr/lib/nasadvisor/venv"
ROOT_PARTUUID = "5a5e0ad5-0001-4000-8000-000000000002"
DISK_BYTES = 8 << 30
ESP_START, ESP_SECTORS = 2048, 131072
ROOT_START = ESP_START + ESP_SECTORS
# The last MiB holds the second copy of the partition table.
ROOT_SECTORS = DISK_BYTES // 512 - ROOT_START - 2048


def build_final(base: Path, directory: Path, log: Path) -> None:
    """Leave vmlinuz, initrd, disk.img and the ssh keys in the directory."""
    root = directory / "root"
    root.mkdir()
    with stage("Unpacking the base system"):
        run_logged(["tar", "--numeric-owner", "-xpf", str(base / "root.tar"), "-C", str(root)], log)
        run_logged(["cp", "-r", "--remove-destination", f"{ROOTFS}/.", str(root)], log)
    _make_keys(directory, root, log)
    with stage("Installing the product's Python packages"):
        _install_python_packages(root, log)
    with stage("Preparing the boot"):
        scripts = [str(RECIPE / name) for name in ("final.sh", "masked-units")]
        run_logged(["cp", *scripts, str(root / "tmp")], log)
        run_logged(["chroot", str(root), "sh", "/tmp/final.sh"], log)
        for name in ("final.sh", "masked-units"):
            (root / "tmp" / name).unlink()
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


def _install_python_packages(root: Path, log: Path) -> None:
    """In the guest's own Python, so that nothing is compiled or downloaded under emulation."""
    resolver = root / "etc/resolv.conf"
    of_the_guest = resolver.read_bytes()
    resolver.write_bytes(Path("/etc/resolv.conf").read_bytes())
    if CERTIFICATES.exists():
        shutil.copyfile(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    shutil.copyfile(LOCK_FILE, root / "tmp/run.txt")
    environment = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "LANG": "C.UTF-8", **pip_environment()}
    pip = f"{VENV}/bin/pip"
    for argv in (
        ["python3", "-m", "venv", VENV],
        [pip, "install", "--no-cache-dir", "--require-hashes", "-r", "/tmp/run.txt"],
    ):
        run_logged(["chroot", str(root), *argv], log, environment)
    (root / "tmp/run.txt").unlink()
    _mark_as_installed(root)
    resolver.write_bytes(of_the_guest)


def _mark_as_installed(root: Path) -> None:
    """What the product's installer looks for, so that it need not ask pip again at every installation."""
    python = next((root / VENV.lstrip("/") / "lib").glob("python3.*")).name
    digest = hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()
    (root / VENV.lstrip("/") / "nasadvisor-lock").write_text(f"{python} {digest}\n", encoding="ascii")


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
