"""What the Debian package weighs, and which of its Python packages weigh most."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figure import Figure
from tests.lab.deb import RELEASED_XZ, deb

MB: Final = 10**6
PACKAGE_MB: Final = 30
INSTALLED_MB: Final = 120
LARGEST: Final = 10
SITE: Final = re.compile(r"\./usr/lib/nasadvisor/venv/lib/python3[^/]*/site-packages/([^/]+)")


def figures() -> Iterator[Figure]:
    """The file, what it takes on the disk, and the largest of what is in it."""
    package = next(deb(xz=RELEASED_XZ).glob("nasadvisor_*.deb"))
    size = package.stat().st_size / MB
    yield Figure("package", f"<= {PACKAGE_MB} MB", f"{size:.1f} MB", met=size <= PACKAGE_MB)
    sizes = _sizes(package)
    installed = sizes.total() / MB
    yield Figure("installed", f"<= {INSTALLED_MB} MB", f"{installed:.1f} MB", met=installed <= INSTALLED_MB)
    for name, part in sizes.most_common(LARGEST):
        yield Figure(f"of that {name}", "", f"{part / MB:.1f} MB")


def _sizes(package: Path) -> Counter[str]:
    """Bytes of its files, by Python package; all others by the directory that they lie in."""
    argv = ["/usr/bin/dpkg-deb", "--contents", str(package)]
    listed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    sizes: Counter[str] = Counter()
    for line in listed.splitlines():
        mode, _owner, size, _day, _time, name = line.split(maxsplit=5)
        if mode.startswith("-"):
            sizes[_part_of(name)] += int(size)
    return sizes


def _part_of(name: str) -> str:
    found = SITE.match(name)
    if found:
        return re.sub(r"(\.libs|-[^-]*\.dist-info)$", "", found[1]).lower()
    return "/".join(name.split("/")[1:5])
