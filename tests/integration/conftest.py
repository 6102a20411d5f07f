"""Lab tests: one guest for all, made clean before each test, and the host's services in it."""

from collections.abc import Iterator

import pytest

from tests.integration.agent import Agent, push_source
from tests.lab.fixtures import clean_guest, guest
from tests.lab.guest import Guest

__all__ = ["clean_guest", "guest"]


@pytest.fixture(scope="session")
def sourced_guest(guest: Guest) -> Guest:
    """The guest with this source tree in it."""
    push_source(guest)
    return guest


@pytest.fixture
def agent(sourced_guest: Guest, clean_guest: Guest) -> Iterator[Agent]:
    """The host's services in a clean guest."""
    del sourced_guest
    with Agent(clean_guest) as agent:
        yield agent
