"""The icons that pages show are those that a browser is given."""

import re
from pathlib import Path

from nasadvisor.console.evidence import verdict_badges
from nasadvisor.console.wording import badges

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"\bbi-([a-z0-9]+(?:-[a-z0-9]+)*)|\bicon=\"([a-z0-9-]+)\"")


def shown() -> set[str]:
    """Every icon that a template or a script names, or that a state has."""
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static" / "js").glob("*.js")]
    found = {name for path in files for pair in NAMED.findall(path.read_text(encoding="utf-8")) for name in pair}
    known = [*badges._BADGES.values(), badges.badge_of_state("something new")]
    given = {badge.icon for badge in known} | {
        icon for _, icon in (*verdict_badges.BADGES.values(), badges.WARN, badges.WAITING)
    }
    return (found | given) - {""}


def test_every_icon_that_is_shown_is_in_the_font_and_no_other() -> None:
    listed = (ROOT / "packaging" / "icons.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(shown()), "packaging/icons.txt lists the icons that `make assets` keeps"


def test_no_template_puts_an_icon_together_from_pieces() -> None:
    pieces = re.compile(r"bi-\{%|bi-[a-z0-9-]+-\{")
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "templates").rglob("*.html")}
    assert [name for name, text in texts.items() if pieces.search(text)] == []
