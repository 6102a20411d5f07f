"""What the documentation names is there."""

import re
from io import StringIO
from pathlib import Path

import pytest
from sphinx.application import Sphinx

from nasadvisor.console.health.api.api import api

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "explanation" / "decisions"
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
    headings = re.findall(r"^## (\d+)\. Never", (ROOT / "docs/explanation/safety.md").read_text(), re.MULTILINE)
    assert headings == [str(number) for number in range(1, 19)]


def test_the_index_names_every_page() -> None:
    for folder, pages in ((DOCS, DOCS.rglob("*.md")), (DECISIONS, DECISIONS.glob("0*.md"))):
        index = (folder / "index.md").read_text()
        names = [path.relative_to(folder).as_posix() for path in pages if path.name != "index.md"]
        in_index_of_their_own = [name for name in names if name.startswith("explanation/decisions/")]
        assert [name for name in names if f"({name})" not in index] == in_index_of_their_own


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'myst_parser:sphinx.deprecation.RemovedInSphinx11Warning")  # theirs
def test_every_link_and_every_anchor_leads_somewhere(tmp_path: Path) -> None:
    """What `make docs` does, but writing no page."""
    warnings = StringIO()
    Sphinx(DOCS, DOCS, tmp_path, tmp_path, "dummy", status=None, warning=warnings).build()
    assert warnings.getvalue() == ""


def test_every_address_of_the_interface_is_on_its_page_and_no_other() -> None:
    page = (DOCS / "reference" / "api.md").read_text()
    said = set(re.findall(r"^\| `(?:GET|POST) /api/v1(\S+)`", page, re.MULTILINE))
    assert said == {path.removeprefix("/api/v1") for path in api.get_openapi_schema(path_prefix="/api/v1")["paths"]}
