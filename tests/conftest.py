"""What every test has in common."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.utils import translation


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
