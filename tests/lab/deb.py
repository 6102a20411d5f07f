"""The product's Debian packages, built in the release that they are for."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from .cache import built, hash_of
from .errors import LabError
from .packages import GUEST_SUITE
from .paths import LOCK_FILE, PROJECT
from .plain_root import run_in_root, unpack_plain_root
from .python_packages import python_packages
from .stages import run_logged, stage

PACKAGING = PROJECT / "packaging"
DOCS = PROJECT / "build" / "docs"
"""What `make docs` made. Only a package for others has it: else each change of a page would make every image anew."""
DRIVER = LOCK_FILE.with_name("postgresql.txt")
QUICK_XZ, RELEASED_XZ = 1, 6
"""How hard a package is packed: one that is only tried in four seconds, one that others download in half a minute."""
AS_IT_IS: Mapping[str, str] = MappingProxyType({})


def deb(suite: str = GUEST_SUITE, version: str = "", xz: int = QUICK_XZ, changed: Mapping[str, str] = AS_IT_IS) -> Path:
    """The directory of the packages made from this source tree; builds them if they are not there.

    Without a version they have the product's own; tests of upgrades ask for another. `xz` is how hard they are packed,
    `changed` has files that a package has otherwise than the source tree, by their paths in it.
    """
    if not (PROJECT / "static/vendor").is_dir():
        raise LabError("The parts for the browser are missing. Run `make assets translations` first.")

    def build(directory: Path, log: Path) -> None:
        root = directory / "root"
        unpack_plain_root(suite, root, log)
        with stage(f"Building the package for Debian {suite}"):
            for file in _sources(xz):
                place = root / "build" / file.relative_to(PROJECT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
            for path, text in changed.items():
                (root / "build" / path).write_text(text, encoding="utf-8")
            run_logged(["cp", "--archive", str(python_packages(suite)), str(root / "venv")], log)
            (root / "out").mkdir()
            environment = {"NASADVISOR_VENV": "/venv", "NASADVISOR_XZ": str(xz)}
            run_in_root(root, ["/build/packaging/deb/build.sh", "/out", version], log, environment)
        for package in (root / "out").iterdir():
            package.rename(directory / package.name)
        shutil.rmtree(root)

    return built(f"deb-{suite}", deb_key(version, xz, changed), build)


def deb_key(version: str = "", xz: int = QUICK_XZ, changed: Mapping[str, str] = AS_IT_IS) -> str:
    """What tells these packages from those made of another source tree."""
    sources = _sources(xz)
    names = "\n".join(str(file.relative_to(PROJECT)) for file in sources)
    return hash_of((Path(__file__), *sources), f"{version}\n{xz}\n{names}\n{sorted(changed.items())}")


def _sources(xz: int) -> list[Path]:
    """Every file that a package is made from."""
    parts = [PROJECT / name for name in (PACKAGING / "app-files").read_text(encoding="utf-8").split()]
    parts += [PACKAGING, DOCS] if xz == RELEASED_XZ else [PACKAGING]
    found = [file for part in parts for file in ([part] if part.is_file() else part.rglob("*"))]
    return sorted(file for file in (*found, LOCK_FILE, DRIVER) if file.is_file() and "__pycache__" not in file.parts)
