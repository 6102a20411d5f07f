"""What a browser loads on its first visit: style sheets, scripts and icons as they are served, and the page itself."""

import gzip
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.fixtures.machines.build import large, typical
from tests.unit.console.test_pages import load, page

SCRIPT = Path(__file__).parents[3] / "packaging" / "copy_assets.py"
MOST = 250_000


@pytest.fixture
def assets(tmp_path: Path) -> dict[str, Path]:
    """The files of others by their addresses, the icons reduced as `make assets` does."""
    script: dict[str, Any] = runpy.run_path(str(SCRIPT))
    if not script["MODULES"].exists():
        pytest.skip("the packages of npm are not installed")
    script["copy_icons"](script["MODULES"] / "bootstrap-icons" / "font", tmp_path)
    found = {f"vendor/{target}": script["MODULES"] / source for source, target in script["ASSETS"].items()}
    return found | {f"vendor/icons/{path.relative_to(tmp_path)}": path for path in tmp_path.rglob("*.*")}


def weight(path: Path) -> int:
    """As it is served: WhiteNoise compresses style sheets, scripts and drawings; a WOFF2 font is so by itself."""
    content = path.read_bytes()
    return len(content) if path.suffix == ".woff2" else len(gzip.compress(content))


@pytest.mark.parametrize("path", ["/", "/storage/", "/disks/", "/login/"])
def test_a_first_visit_weighs_less_than_250_kilobytes(viewer: Client, assets: dict[str, Path], path: str) -> None:
    load(large())
    load(typical())
    text = page(Client() if path == "/login/" else viewer, path)
    names = re.findall(r'(?:href|src)="/static/([^"]+)"', text)
    files = [assets.get(name) or Path(str(finders.find(name))) for name in names]
    assert len(files) >= 8
    total = len(text.encode()) + sum(map(weight, files)) + weight(assets["vendor/icons/fonts/bootstrap-icons.woff2"])
    print(f"{path}: {total} bytes")
    assert total < MOST
