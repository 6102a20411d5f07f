"""Every address that a template or a page names is one: a page that is rarely drawn fails no later than this."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"""(?:\{% url |reverse\(|redirect\()\s*['"]([\w-]+)['"]""")


def names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from names(each.url_patterns)
        elif each.name:
            yield each.name


def test_every_address_that_is_named_exists() -> None:
    known = set(names(get_resolver().url_patterns))
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "nasadvisor" / "console").rglob("*.py")]
    missing = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in NAMED.findall(file.read_text(encoding="utf-8"))
        if name not in known
    }
    assert missing == set()
