"""Somebody with a passkey, and browsers to use it in."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from nasadvisor.console.accounts.roles import UserRole, set_role
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import Browser
from tests.unit.console.conftest import PASSWORD, Clock


@pytest.fixture(autouse=True)
def standing_clock(clock: Clock) -> None:
    """Challenges last as long as a test needs them."""


@pytest.fixture(autouse=True)
def known_names() -> Iterator[None]:
    """By which the console answers in these tests."""
    with override_settings(HOST_NAMES=["localhost", "nas.example", "nas.other"]):
        yield


@pytest.fixture
def olga() -> User:
    """An administrator."""
    user = User.objects.create_user("olga", password=PASSWORD)
    set_role(user, UserRole.ADMIN)
    return user


@pytest.fixture
def device() -> Device:
    """Her security key."""
    return Device()


@pytest.fixture
def codes(olga: User, device: Device) -> list[str]:
    """Her recovery codes: she has added the key as her only second factor, and closed that browser."""
    browser = Browser()
    browser.begin()
    page = browser.add_passkey(device).content.decode()
    return re.findall(r"(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}", page)


@pytest.fixture
def signed_in(codes: list[str], device: Device) -> Browser:
    """Her browser, with the passkey used."""
    browser = Browser()
    browser.sign_in(device)
    return browser
