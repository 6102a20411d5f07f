"""`python -m tests.demo.pictures`: the pictures of README.md, of stops of the demo that `make demo` has written."""

from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

ROOT: Final = Path(__file__).parents[2]
DEMO: Final = ROOT / "build" / "demo" / "en" / "index.html"
TAKEN: Final = {"home": 1, "review": 3}
"""Names of pictures, and the stop that each shows."""


def main() -> None:
    """Take them, without the bar, which is not the product's."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        for name, stop in TAKEN.items():
            page.goto(DEMO.as_uri())
            page.get_by_title(str(page.locator(".demo-number").nth(stop - 1).get_attribute("title"))).click()
            page.locator(f".demo-number[aria-current]:text-is('{stop}')").wait_for()
            page.locator("#demo").evaluate("bar => bar.remove()")
            page.evaluate("document.activeElement.blur()")
            page.screenshot(path=ROOT / "docs" / "images" / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
