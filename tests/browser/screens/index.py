"""One page to look through all pictures, with what was seen of each beside it."""

import json
from collections import defaultdict
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tests.browser.screens.matrix import PICTURES

FLAWS: Final = ("too_wide", "too_long", "scrolls", "cut", "covered", "axe", "errors", "english")
STYLE: Final = """body { font: 14px system-ui; margin: 1rem; } img { height: 20rem; border: 1px solid #999; }
figure { display: inline-block; margin: .3rem; vertical-align: top; max-width: 30rem; } .flaw { color: #b00020; }
figcaption { overflow-wrap: anywhere; }"""


def write_index() -> Path:
    """Put the pictures of all states that were taken side by side, page by page."""
    seen = [each for path in sorted(PICTURES.glob("*.json")) for each in json.loads(path.read_text(encoding="utf-8"))]
    by_page = defaultdict(list)
    for each in seen:
        by_page[each["page"]].append(each)
    flawed = [each for each in seen if any(each.get(flaw) for flaw in FLAWS)]
    lines = [f"<!doctype html><meta charset=utf-8><title>Screens</title><style>{STYLE}</style>"]
    lines.append(f"<h1>{len(seen)} pictures of {len(by_page)} pages, {len(flawed)} with flaws</h1><h2>Flaws</h2>")
    lines += [_figure(each) for each in flawed]
    for name, found in sorted(by_page.items()):
        lines.append(f"<h2>{escape(name)}</h2>")
        for state, variants in groupby(found, key=lambda each: str(each["state"])):
            lines.append(f"<h3>{escape(state)}</h3>")
            lines += [_figure(each) for each in variants]
    index = PICTURES / "index.html"
    index.write_text("\n".join(lines), encoding="utf-8")
    return index


def _figure(each: dict[str, Any]) -> str:
    picture = f"{each['state']}/{each['page']}-{each['variant']}.jpg"
    flaws = "".join(
        f"<br><span class=flaw>{flaw}: {escape('; '.join(each[flaw])[:400])}</span>" for flaw in FLAWS if each.get(flaw)
    )
    title = f"{escape(each['page'])} {each['variant']} · {each['screens']:.1f} screens"
    image = f"<a href='{picture}'><img loading=lazy src='{picture}' alt=''></a>"
    return f"<figure>{image}<figcaption>{title}{flaws}</figcaption></figure>"
