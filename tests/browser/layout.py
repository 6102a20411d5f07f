"""What is asked of the look of every page: it fits at every width in both languages, and axe-core finds nothing."""

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TimedOut

from tests.browser.conftest import Desk

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
AXE_RUN = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']}).then(r => r.violations)"
SCREENSHOTS = ROOT / "build" / "screenshots"
TAKES_PICTURES = "PICTURES" in os.environ
"""They take much of the time of these tests: `PICTURES=1 pytest tests/browser` keeps them in build/screenshots."""
WIDTHS = {1440: 900, 768: 1024, 390: 844}
SETTLED_MS = 20_000


def check_layout(desk: Desk, name: str, show: Callable[[], object] | None = None) -> None:
    """The page that is open, in English and then in German, which `show` brings about anew where a reload does not."""
    page = desk.page
    check_fit(page, f"{name}-en")
    check_access(page, name)
    desk.speak("de")
    (show or page.reload)()
    assert page.locator("html").get_attribute("lang") == "de"
    check_fit(page, f"{name}-de")


def check_fit(page: Page, name: str) -> None:
    """Nobody has to scroll sideways, from a desk to a phone, once charts have followed the width."""
    for width in WIDTHS:
        resize(page, width)
        assert fits(page), f"{name} is wider than {width} px"
        picture(page, f"{name}-{width}")


def check_access(page: Page, name: str) -> None:
    """axe-core finds nothing, dark on a phone and light at a desk. The page is left light, at a desk."""
    for width, scheme in ((390, "dark"), (1440, "light")):
        resize(page, width)
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert not violations(page), f"{name}, {scheme}, {width} px"
        picture(page, f"{name}-{width}-{scheme}")


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})


def fits(page: Page) -> bool:
    """Whether nobody has to scroll sideways, with open what is folded."""
    page.evaluate(
        "document.querySelectorAll('details:is([data-fold], .more)').forEach((each) => { each.open = true; })"
    )
    try:
        page.wait_for_function("document.documentElement?.scrollWidth <= window.innerWidth", timeout=SETTLED_MS)
    except TimedOut:
        return False
    return True


def violations(page: Page) -> list[str]:
    """What axe-core finds: rule, and where."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(AXE_RUN)
    return [f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes']]}" for each in found]


def picture(page: Page, name: str) -> None:
    """Keep the whole page as a picture, where pictures are asked for."""
    if TAKES_PICTURES:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
