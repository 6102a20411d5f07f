"""A Debian system as a directory or an archive, the same way for all that the lab makes."""

from collections.abc import Sequence
from pathlib import Path

from .host_settings import apt_options, debian_mirror
from .stages import run_logged

# A system that is thrown away when its making is cut short needs no wait for the disk after each file.
QUICK = ("--dpkgopt=force-unsafe-io",)
# Nobody reads manuals in there, and unpacking them takes time.
WITHOUT_MANUALS = tuple(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "locale", "doc"))


def mmdebstrap(suite: str, packages: Sequence[str], target: Path, log: Path, options: Sequence[str] = ()) -> None:
    """Install these packages with what they need; the target's name tells whether it is an archive or a directory."""
    argv = [
        # What it mounts goes with it, even if it is killed: the next build removes what it has left.
        *("unshare", "--mount"),
        "mmdebstrap",
        "--mode=root",
        "--variant=apt",
        f"--include={','.join(packages)}",
        *(f"--aptopt={option}" for option in apt_options()),
        *QUICK,
        *options,
        suite,
        str(target),
        debian_mirror(),
    ]
    run_logged(argv, log)
