"""The product's Python packages for Debian's own Python, as a directory that works at any place."""

import shutil
from pathlib import Path

from .cache import built, hash_of
from .packages import GUEST_SUITE
from .paths import LOCK_FILE, PROJECT
from .plain_root import run_in_root, unpack_plain_root
from .stages import run_logged, stage

# A change in any of these makes a new one.
INGREDIENTS = (*(PROJECT / "packaging" / name for name in ("build_venv.sh", "compile.sh", "leave_out.py")), LOCK_FILE)


def python_packages(suite: str = GUEST_SUITE) -> Path:
    """The directory of a virtual environment; builds it if it is not there."""

    def build(directory: Path, log: Path) -> None:
        root = directory / "root"
        unpack_plain_root(suite, root, log)
        for file in INGREDIENTS:
            place = root / "build" / file.relative_to(PROJECT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        with stage(f"Installing the product's Python packages for Debian {suite}"):
            run_in_root(root, ["/build/packaging/build_venv.sh", "/build/venv"], log)
        run_logged(["mv", str(root / "build/venv"), str(directory / "venv")], log)
        shutil.rmtree(root)

    return built(f"venv-{suite}", hash_of((Path(__file__), *INGREDIENTS)), build) / "venv"
