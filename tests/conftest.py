"""What every test has in common."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.utils import translation


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each kind of test a process of its own under `pytest -n 3 --dist loadgroup` (`make test`).

    Playwright's event loop and Django's live server stay for the whole of a process, and there is one guest.
    """
    for item in items:
        kinds = [kind for kind in ("lab", "browser") if item.get_closest_marker(kind)]
        item.add_marker(pytest.mark.xdist_group((*kinds, "unit")[0]))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A database in a file: a browser, a server and a host share it, as they do in an installation.

    One in memory would share a single connection between threads, and with it their transactions.
    """
    connections["default"].settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "console.sqlite3")


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """A request in German leaves its language behind in the thread of the test."""
    with translation.override("en"):
        yield
