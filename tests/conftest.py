"""What every test has in common."""

import gc
from collections.abc import Iterator

import pytest
from django.db import connections
from django.utils import translation


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the search for garbage, a tenth of the time of a test, need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A database in a file: a browser, a server and a host share it, as they do in an installation.

    One in memory would share a single connection between threads, and with it their transactions. On a database server
    each process of the tests has one of its own name; PostgreSQL takes 63 characters.
    """
    default = connections["default"]
    file = tmp_path_factory.mktemp("database") / "console.sqlite3"
    name = str(file) if default.vendor == "sqlite" else f"test-{tmp_path_factory.getbasetemp().name}"
    default.settings_dict["TEST"]["NAME"] = name


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """A request in German leaves its language behind in the thread of the test."""
    with translation.override("en"):
        yield
