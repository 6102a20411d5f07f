"""Looking at one page: a picture at each width, in each theme and language, and what can be measured of it."""

import gettext
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from django.conf import settings
from playwright.sync_api import ConsoleMessage, Page

from tests.browser.layout import violations
from tests.browser.screens.matrix import LANGUAGES, PAGE, PICTURES, THEMES, VARIANT, WIDTHS

ASKED_OF_AXE: Final = ("1440-light-en", "390-dark-en")
"""It takes longer than all else; what it looks at is the same in each language."""

UNFOLDED: Final = ("1440-light-en", "390-light-de")
"""Of these there is a second picture where something is folded. All are measured unfolded."""

DRAWN: Final = """() => [...document.querySelectorAll("details[open] .heat-canvas")].every(
  (each) => each.dataset.drawn !== undefined)"""
DRAWN_WITHIN_MS: Final = 5_000
PHONE: Final = 390
SCREENS_AT_MOST: Final = 6.0
"""Of a phone: further down nobody looks, but in a list that goes on on further pages."""

ENGLISH: Final = re.compile(r"\b(the|and|with|from|this|not|are|for|your|which)\b", re.IGNORECASE)

WITHOUT_BAR: Final = (
    "(is) => { const bar = document.querySelector('.rail'); if (bar) bar.style.display = is ? 'none' : ''; }"
)
"""What is at the lower edge of a phone lies in the middle of a picture of the whole page."""

MEASURE: Final = """() => {
  const shown = (each) => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width > 2;
  const words = (each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const cut = [...document.querySelectorAll("main *, header *, nav *")].filter((each) => {
    const style = getComputedStyle(each);
    return shown(each) && words(each) && /hidden|clip/.test(style.overflowX) && each.scrollWidth > each.clientWidth + 1;
  }).map((each) => each.textContent.trim().slice(0, 60));
  const scrolls = [...document.querySelectorAll("main *")].filter((each) => shown(each) && !each.closest(".tabs")
    && /auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth + 1
  ).map((each) => each.outerHTML.slice(0, 80));
  const covered = [...document.querySelectorAll("svg")].filter(shown).flatMap((svg) => {
    const texts = [...svg.querySelectorAll("text")].filter(shown).map((each) => [each, each.getBoundingClientRect()]);
    return texts.flatMap(([one, a], place) => texts.slice(place + 1).filter(([, b]) =>
      a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
    ).map(([other]) => `${one.textContent.trim()} / ${other.textContent.trim()}`));
  });
  const root = document.documentElement;
  const over = [...document.querySelectorAll("main *")].filter((each) => shown(each)
    && each.getBoundingClientRect().right > window.innerWidth + 1).map((each) => each.outerHTML.slice(0, 80));
  const isTooWide = root.scrollWidth > window.innerWidth;
  return { too_wide: isTooWide ? over.slice(0, 3) : [], scrolls, cut, covered };
}"""

SCREENS: Final = "() => document.documentElement.scrollHeight / window.innerHeight"
HAS_PAGES: Final = "() => document.querySelector('.pagination') !== null"

UNFOLD: Final = """() => { for (const each of document.querySelectorAll("main details:not([open])")) {
  each.open = true; each.dataset.unfolded = "";
} }"""
FOLD: Final = """() => { for (const each of document.querySelectorAll("[data-unfolded]")) {
  each.open = false; delete each.dataset.unfolded;
} }"""

TEXTS: Final = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.data.replace(/\\s+/g, " ").trim();
    if (text && !walker.currentNode.parentElement.closest("script, style, pre, code, var, [lang=en]")) found.push(text);
  }
  return found;
}"""


@dataclass
class Seen:
    """What was seen of a page in one variant; empty lists are good."""

    state: str
    page: str
    path: str
    variant: str = ""
    screens: float = 0.0
    too_wide: list[str] = field(default_factory=list)
    scrolls: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)
    axe: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    english: list[str] = field(default_factory=list)

    @property
    def picture(self) -> str:
        """The file of its picture."""
        return f"{self.state}/{self.page}-{self.variant}.jpg"

    @property
    def picture_unfolded(self) -> str:
        """The file of its picture with all open that is folded."""
        return f"{self.state}/{self.page}-{self.variant}-unfolded.jpg"

    def as_document(self) -> dict[str, Any]:
        """For a file of JSON."""
        return asdict(self)


def look(page: Page, url: str, state: str, name: str, path: str) -> Iterator[Seen]:
    """Open a page in each language, take pictures of each variant that is asked for, and say what was seen."""
    if not is_asked_for(name):
        return
    errors: list[str] = []
    hears = _listener(errors)
    page.on("console", hears)
    for language in LANGUAGES:
        if not _variants(language):
            continue
        speak(page, url, language)
        errors.clear()
        page.goto(f"{url}{path}")
        yield from look_here(page, Seen(state, name, path, errors=errors), language)
    page.remove_listener("console", hears)


def look_here(page: Page, seen: Seen, language: str) -> Iterator[Seen]:
    """Take pictures of the page that is open, in this language already, in each variant that is asked for."""
    page.wait_for_function(DRAWN, timeout=DRAWN_WITHIN_MS)
    english = _english(page) if language == "de" else []
    for width, theme in _variants(language):
        variant = f"{width}-{theme}-{language}"
        yield _taken(page, replace(seen, variant=variant, errors=[*seen.errors], english=english), width, theme)


def is_asked_for(name: str) -> bool:
    """Whether pictures of this page are wanted."""
    return re.search(os.environ.get(PAGE, ""), name) is not None


def speak(page: Page, url: str, language: str) -> None:
    """Have the pages that are opened from now on in this language, on a phone at first."""
    page.context.add_cookies([{"name": "nasadvisor_language", "value": language, "url": url}])
    page.set_viewport_size({"width": PHONE, "height": WIDTHS[PHONE]})


def _variants(language: str) -> list[tuple[int, str]]:
    asked = re.compile(os.environ.get(VARIANT, ""))
    every = ((width, theme) for width in WIDTHS for theme in THEMES)
    return [(width, theme) for width, theme in every if asked.search(f"{width}-{theme}-{language}")]


def _taken(page: Page, seen: Seen, width: int, theme: str) -> Seen:
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.wait_for_timeout(80)
    seen.screens = page.evaluate(SCREENS)
    if width == PHONE and seen.screens > SCREENS_AT_MOST and not page.evaluate(HAS_PAGES):
        seen.too_long = [f"{seen.screens:.1f} screens"]
    page.evaluate(WITHOUT_BAR, width == PHONE)
    page.screenshot(path=PICTURES / seen.picture, full_page=True, type="jpeg", quality=80)
    page.evaluate(UNFOLD)
    page.wait_for_function(DRAWN, timeout=DRAWN_WITHIN_MS)
    if seen.variant in UNFOLDED and page.locator("[data-unfolded]").count():
        page.screenshot(path=PICTURES / seen.picture_unfolded, full_page=True, type="jpeg", quality=80)
    page.evaluate(WITHOUT_BAR, False)
    for what, value in page.evaluate(MEASURE).items():
        setattr(seen, what, value)
    if seen.variant in ASKED_OF_AXE:
        seen.axe = violations(page)
    page.evaluate(FOLD)
    return seen


def _listener(errors: list[str]) -> Any:
    def hears(message: ConsoleMessage) -> None:
        if message.type == "error" and "404 (Not Found)" not in message.text:
            errors.append(message.text)

    return hears


def _english(page: Page) -> list[str]:
    """Texts of a German page that the catalogue has in German, or that have English words in them.

    Single words are left out: many are what OpenZFS calls something.
    """
    catalogue = gettext.translation("django", settings.LOCALE_PATHS[0], ["de"])
    texts = [text for text in page.evaluate(TEXTS) if " " in text]
    return [text for text in texts if catalogue.gettext(text) != text or len(ENGLISH.findall(text)) > 1]
