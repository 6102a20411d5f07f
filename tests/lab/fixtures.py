"""Guests for pytest. A conftest imports what it needs: `from tests.lab.fixtures import clean_guest, guest`."""

import os
from collections.abc import Iterator

import pytest

from .guest import Guest
from .lab import Lab

# Names a guest of the default scenario that runs already, so that a developer need not wait for a boot.
INSTANCE_VARIABLE = "NASADVISOR_LAB_INSTANCE"


@pytest.fixture(scope="session")
def guest(worker_id: str) -> Iterator[Guest]:
    """One guest of the default scenario for the whole test run, or for each process of it (`pytest -n`)."""
    name = os.environ.get(INSTANCE_VARIABLE)
    with Lab.borrow(name) if name else Lab.start("default", name=f"test-{worker_id}") as started:
        yield started


@pytest.fixture
def clean_guest(guest: Guest) -> Guest:
    """The guest with every disk working and blank, and the pool `tank` of two mirrors made anew."""
    guest.reset()
    return guest
