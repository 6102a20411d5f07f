"""docs/reference/settings.md names every setting, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "settings.md"
PLACES = ("nasadvisor", "plugins", "packaging", "docker", "scripts")
SETTING = re.compile(r"\b(?:NASADVISOR_[A-Z]+(?:_[A-Z]+)*|UVICORN_(?:HOST|PORT))\b(?!_)")


def files() -> Iterator[Path]:
    for place in PLACES:
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield path


def test_every_setting_that_something_reads_is_on_the_page_and_no_other() -> None:
    read = {name for path in files() for name in SETTING.findall(path.read_text(encoding="utf-8", errors="replace"))}
    described = {row.split("`")[1] for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith("| `")}
    assert described == read


def test_what_the_settings_file_suggests_is_described() -> None:
    suggested = set(SETTING.findall((ROOT / "packaging" / "environment").read_text(encoding="utf-8")))
    assert suggested <= set(SETTING.findall(PAGE.read_text(encoding="utf-8")))


def test_no_setting_is_mentioned_elsewhere_that_does_not_exist() -> None:
    described = set(SETTING.findall(PAGE.read_text(encoding="utf-8")))
    pages = [ROOT / "README.md", ROOT / "docker" / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in SETTING.findall(page.read_text(encoding="utf-8"))}
    assert named - described - {"NASADVISOR_DATA", "NASADVISOR_LAB_INSTANCE"} == set()
