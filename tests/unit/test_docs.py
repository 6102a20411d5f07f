"""What the documentation names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "plugins/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
TEST = re.compile(r"\btest_\w+\b(?!\.py)")
FILE = re.compile(r"`((?:nasadvisor|plugins|packaging|tests|docs|scripts)/[\w./-]*)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_exists(page: Path) -> None:
    defined = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert set(TEST.findall(page.read_text())) - defined == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    assert [name for name in FILE.findall(page.read_text()) if not (ROOT / name).exists()] == []


def test_every_never_is_documented() -> None:
    headings = re.findall(r"^## (\d+)\. Never", (ROOT / "docs/safety.md").read_text(), re.MULTILINE)
    assert headings == [str(number) for number in range(1, 19)]


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f"({page})" not in index and page != "README.md"] == []
