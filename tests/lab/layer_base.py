"""The slow layer of the image: Debian with OpenZFS compiled for its kernel, as a tar file."""

import os
from pathlib import Path

from .errors import LabError
from .host_settings import apt_options, debian_mirror
from .packages import GUEST_BUILD_PACKAGES, GUEST_PACKAGES, GUEST_SUITE
from .paths import HERE
from .stages import run_logged, stage

RECIPE = HERE / "recipe"
# A change in any of these makes a new base.
INGREDIENTS = (Path(__file__), HERE / "packages.py", RECIPE / "base.sh", RECIPE / "initramfs.conf")


def build_base(directory: Path, log: Path) -> None:
    """Leave `root.tar` in the directory."""
    if os.geteuid() != 0:
        raise LabError("Building the image needs root, because it sets up a Debian system. Run it with sudo.")
    packages = GUEST_PACKAGES + GUEST_BUILD_PACKAGES
    initramfs_directory = "$1/etc/initramfs-tools/conf.d"
    argv = [
        "mmdebstrap",
        "--mode=root",
        "--variant=apt",
        "--components=main,contrib",
        f"--include={','.join(packages)}",
        # Nobody reads manuals in the guest, and unpacking them takes time.
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        *(f"--aptopt={option}" for option in apt_options()),
        f'--essential-hook=mkdir -p "{initramfs_directory}"',
        f'--essential-hook=cp "{RECIPE}/initramfs.conf" "{initramfs_directory}/lab"',
        f'--customize-hook=cp "{RECIPE}/base.sh" "$1/tmp/base.sh"',
        f'--customize-hook=chroot "$1" sh /tmp/base.sh {" ".join(GUEST_BUILD_PACKAGES)}',
        '--customize-hook=rm "$1/tmp/base.sh"',
        GUEST_SUITE,
        str(directory / "root.tar"),
        debian_mirror(),
    ]
    with stage(f"Installing Debian {GUEST_SUITE} and compiling OpenZFS (six minutes on two cores)"):
        run_logged(argv, log)
