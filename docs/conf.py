"""How `make docs` makes pages for a browser of what is in this folder. They need no network."""

import os
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.highlighting import lexers

project = "NAS Advisor"
copyright = "The NAS Advisor developers"  # noqa: A001 - Sphinx's own name for it
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = "NAS Advisor"
html_favicon = "../static/img/icon.svg"
html_copy_source = html_show_sphinx = False
html_domain_indices = html_use_index = False
html_show_search_summary = False  # it would be fetched, which browsers allow no page that is a file

lexers["mermaid"] = TextLexer()  # a forge draws these pictures; here they are text

WITHIN = {"js": (re.compile(r"<script>(.*?)</script>", re.DOTALL), '<script src="{}"></script>')}
WITHIN["css"] = (re.compile(r"<style>(.*?)</style>", re.DOTALL), '<link rel="stylesheet" href="{}">')
"""What the theme writes into each page, and how the page names it as a file."""

OF_DRAWINGS = re.compile(r' style="(display|opacity): ([^;"]+);?"')
"""Styles of SVG elements that may as well be attributes of their own (SVG 2, "presentation attributes")."""


def setup(app: Sphinx) -> None:
    """Let Sphinx know of what is done last."""
    app.connect("build-finished", move_out)


def move_out(app: Sphinx, failed: Exception | None) -> None:
    """Move scripts and styles out of the pages: the console's policy, under which it shows them, allows none within."""
    if failed or app.builder.name != "html":
        return
    root = Path(app.outdir)
    for page in root.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for kind, (within, link) in WITHIN.items():
            text = within.sub(_as_file(root, page, kind, link), text)
        page.write_text(OF_DRAWINGS.sub(r' \1="\2"', text), encoding="utf-8")


def _as_file(root: Path, page: Path, kind: str, link: str) -> Callable[[re.Match[str]], str]:
    def moved(found: re.Match[str]) -> str:
        file = root / "_static" / f"{sha256(found[1].encode()).hexdigest()[:16]}.{kind}"
        file.write_text(found[1], encoding="utf-8")
        return link.format(os.path.relpath(file, page.parent))

    return moved
