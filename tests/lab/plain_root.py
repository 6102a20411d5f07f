"""A plain Debian with Python, as a tar file: what packages are built in, and tried in."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from .cache import built, hash_of
from .host_settings import CERTIFICATES, pip_environment
from .mmdebstrap import mmdebstrap
from .paths import HERE
from .stages import run_logged, stage

# Python packages install themselves with the module venv.
PACKAGES = ("ca-certificates", "python3-venv")


def plain_root(suite: str) -> Path:
    """The tar file; builds it if it is not there."""

    def build(directory: Path, log: Path) -> None:
        with stage(f"Installing a plain Debian {suite} to build packages in"):
            mmdebstrap(suite, PACKAGES, directory / "root.tar", log)

    return built(f"plain-{suite}", hash_of((Path(__file__), HERE / "mmdebstrap.py")), build) / "root.tar"


def unpack_plain_root(suite: str, root: Path, log: Path) -> None:
    """Unpack it where there is nothing, with this machine's way to the net."""
    root.mkdir()
    run_logged(["tar", "--numeric-owner", "-xpf", str(plain_root(suite)), "-C", str(root)], log)
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    if CERTIFICATES.exists():
        shutil.copyfile(CERTIFICATES, root / CERTIFICATES.relative_to("/"))


def run_in_root(root: Path, argv: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a program in there, with its output in the log."""
    settings = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    run_logged(["chroot", str(root), *argv], log, {**settings, **pip_environment(), **(environment or {})})
