"""The slow layer of the image: Debian as a directory, and beside it OpenZFS compiled for its kernel as a package."""

import os
from pathlib import Path

from .errors import LabError
from .mmdebstrap import WITHOUT_MANUALS, mmdebstrap
from .packages import GUEST_BUILD_PACKAGES, GUEST_PACKAGES, GUEST_SUITE
from .paths import HERE
from .stages import side_by_side, stage

RECIPE = HERE / "recipe"
MODULES = "lab-zfs-modules.deb"
# A change in any of these makes a new base: the modules must be for the kernel that is in it.
INGREDIENTS = (
    Path(__file__),
    HERE / "mmdebstrap.py",
    HERE / "packages.py",
    RECIPE / "initramfs.conf",
    RECIPE / "modules.control",
    RECIPE / "modules.sh",
    *sorted((RECIPE / "zfs-config").iterdir()),
)
WITH_ZFS = ("--components=main,contrib", *WITHOUT_MANUALS)


def build_base(directory: Path, log: Path) -> None:
    """Leave the system in `root`, and the package of the modules beside it."""
    if os.geteuid() != 0:
        raise LabError("Building the image needs root, because it sets up a Debian system. Run it with sudo.")
    side_by_side(
        f"Debian {GUEST_SUITE} with OpenZFS",
        lambda: _install_debian(directory / "root", log),
        lambda: _compile_modules(directory, log.with_name(f"{log.stem}-modules.log")),
    )


def _install_debian(root: Path, log: Path) -> None:
    """All that the guest needs. `zfs-zed` wants modules: an empty package stands for them until they are compiled."""
    settings = "$1/etc/initramfs-tools/conf.d"
    empty = "$1/tmp/empty"
    hooks = (
        f'mkdir -p "{settings}" "{empty}/DEBIAN"',
        f'cp "{RECIPE}/initramfs.conf" "{settings}/lab"',
        f'sed s/@VERSION@/0/ "{RECIPE}/modules.control" > "{empty}/DEBIAN/control"',
        'chroot "$1" sh -c "dpkg-deb --build /tmp/empty && dpkg --install /tmp/empty.deb"',
        'rm -r "$1/tmp/empty" "$1/tmp/empty.deb"',
    )
    with stage(f"Installing Debian {GUEST_SUITE}"):
        options = (*WITH_ZFS, *(f"--essential-hook={hook}" for hook in hooks))
        mmdebstrap(GUEST_SUITE, GUEST_PACKAGES, root, log, options)


def _compile_modules(directory: Path, log: Path) -> None:
    """In a system of its own, so that the guest's never has a compiler."""
    script = 'chroot "$1" sh /tmp/modules.sh'
    hooks = (
        f'cp -r "{RECIPE}/modules.sh" "{RECIPE}/modules.control" "{RECIPE}/zfs-config" "$1/tmp"',
        script,
        f'cp "$1/tmp/{MODULES}" "{directory}"',
    )
    with stage("Compiling OpenZFS"):
        options = (*WITH_ZFS, *(f"--customize-hook={hook}" for hook in hooks))
        mmdebstrap(GUEST_SUITE, GUEST_BUILD_PACKAGES, Path("/dev/null"), log, (*options, "--format=null"))
