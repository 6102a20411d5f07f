"""Lab tests: one guest for all, made clean before each test, and the host's services in it."""

from collections.abc import Iterator, Sequence

import pytest

from tests.integration.agent import Agent, Standby, push_source
from tests.lab.fixtures import clean_guest, guest
from tests.lab.guest import Guest

__all__ = ["clean_guest", "guest"]

MINUTES = {
    "test_metadata": 8,
    "test_offline_cache": 3,
    "test_endings": 3,
    "test_commands": 4,
    "test_dead_log": 4,
    "test_bad_input": 2,
    "test_tracing_tells_who_waits_how_long_and_who_is_not_obeyed": 2,
    "test_plain_root": 2,
    "test_wear_bill": 8,
}
"""What takes longer than the others, as measured under emulation and beside other tests: a test, or each of a file."""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several guests the longest begin first, so that all guests end at about the same time.

    A test that needs nothing but a clean guest may run in any of them, in any order. Those that need the product go
    where it is installed, for an installation takes minutes. The other tests of a file share what its first has made.
    """
    if not hasattr(config, "workerinput"):
        return
    for item in items:
        needs: Sequence[str] = getattr(item, "fixturenames", ())
        if "product" in needs:
            item.add_marker(pytest.mark.xdist_group("product"))
        elif item.get_closest_marker("lab") and "clean_guest" not in needs:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=_minutes, reverse=True)


def _minutes(item: pytest.Item) -> int:
    """Of a test beside which others run in no fixed order, its own; of the others, their file's: they stay together."""
    test = item.name.partition("[")[0]
    return MINUTES.get(test, MINUTES.get(item.path.stem, 1 if item.get_closest_marker("lab") else 0))


@pytest.fixture(scope="session")
def sourced_guest(guest: Guest) -> Guest:
    """The guest with this source tree in it."""
    push_source(guest)
    return guest


@pytest.fixture(scope="session")
def standby(sourced_guest: Guest) -> Iterator[Standby]:
    """A process in the guest that has read all Python already."""
    standby = Standby(sourced_guest)
    yield standby
    standby.close()


@pytest.fixture
def agent(standby: Standby, clean_guest: Guest) -> Iterator[Agent]:
    """The host's services in a clean guest."""
    del clean_guest
    yield standby.agent()
    standby.rest()
