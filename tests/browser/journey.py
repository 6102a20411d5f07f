"""The way through the wizard and back, page by page; it knows pages only, so it works against any console."""

from playwright.sync_api import Page


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    """By the login page."""
    page.goto(f"{url}/login/")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{url}/")


def begin(page: Page, url: str, pool: str) -> None:
    """From the list of pools to a log and caches on the SSDs that fit best, though nothing shows that they help."""
    page.goto(f"{url}/wizard/")
    page.get_by_role("button", name=f"Add to {pool}").click()
    page.get_by_role("button", name="Add anyway").click()


def preview(page: Page) -> None:
    """From the choices to the review of the stored plan."""
    page.get_by_role("button", name="Continue to review").click()
    page.wait_for_url("**/plans/**")


def apply(page: Page, pool: str, password: str) -> None:
    """From the review to the page of the run."""
    page.get_by_label("Your password").fill(password)
    page.get_by_role("button", name=f"Apply to pool {pool}").click()
    page.wait_for_url("**/runs/**")


def undo(page: Page, pool: str, password: str) -> None:
    """From the page of a run or its proof back to the page of the run, which is now being taken back."""
    page.get_by_role("link", name="Undo").click()
    page.get_by_label("Your password").fill(password)
    page.get_by_role("button", name=f"Undo on pool {pool}").click()
    page.wait_for_url("**/runs/**")
