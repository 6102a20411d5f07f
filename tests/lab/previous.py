"""The package of an earlier commit of this project, built the way that commit builds it."""

import shutil
import subprocess
import sys
from pathlib import Path

from .cache import built, hash_of
from .errors import LabError
from .paths import PROJECT
from .stages import stage


def is_in_history(commit: str) -> bool:
    """Whether git has this commit here: it has not in a shallow clone, nor in an unpacked archive."""
    known = ("git", "-C", str(PROJECT), "cat-file", "-e", f"{commit}^{{commit}}")
    return subprocess.run(known, capture_output=True, check=False).returncode == 0


def previous_deb(commit: str, version: str) -> Path:
    """The package of a commit under a version; builds it if it is not there.

    Raises:
        LabError: it cannot be built.
    """

    def build(directory: Path, log: Path) -> None:
        source = directory / "source"
        _unpack(commit, source)
        argv = (sys.executable, "-m", "tests.lab", "deb", "--version", version)
        with stage(f"Building the package of {commit[:7]}"), log.open("w") as errors:
            done = subprocess.run(argv, cwd=source, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
        packages = [Path(line) for line in done.stdout.splitlines() if Path(line).name.startswith("nasadvisor_")]
        if done.returncode or not packages:
            raise LabError(f"The package of {commit[:7]} could not be built. See {log}.")
        shutil.copy(packages[0], directory)
        shutil.rmtree(source)

    directory = built("previous", hash_of((Path(__file__),), f"{commit}\n{version}"), build)
    return next(directory.glob("nasadvisor_*.deb"))


def _unpack(commit: str, directory: Path) -> None:
    """The files of a commit, and the parts for the browser: these come from a registry, are the same, and no stored
    form depends on them."""
    directory.mkdir()
    archive = directory / "source.tar"
    subprocess.run(["git", "-C", str(PROJECT), "archive", f"--output={archive}", commit], check=True)
    subprocess.run(["tar", "--extract", f"--file={archive}", f"--directory={directory}"], check=True)
    archive.unlink()
    shutil.copytree(PROJECT / "static/vendor", directory / "static/vendor")
