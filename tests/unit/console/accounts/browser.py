"""A browser in which somebody signs in, with a passkey or without."""

import json
import re
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.conftest import PASSWORD

LOGIN = {"username": "olga", "password": PASSWORD}
ACCOUNT = "/settings/account/"
ADD = f"{ACCOUNT}passkeys/add/"
MAKE = f"{ACCOUNT}passkeys/make/"
CHALLENGE = f"{ACCOUNT}passkeys/challenge/"
TOKENS = "/settings/tokens/add/"


class Browser(Client):
    """A browser that shows the console as http://localhost, or by another name, over TLS or not."""

    def __init__(self, name: str = "localhost", is_encrypted: bool = False) -> None:
        super().__init__(headers={"host": name})
        self.is_encrypted = is_encrypted

    def generic(self, *args: Any, **options: Any) -> Any:
        return super().generic(*args, **{**options, "secure": self.is_encrypted})

    def begin(self, name: str = "olga", password: str = PASSWORD) -> None:
        """Type the password."""
        self.post("/login/", {"username": name, "password": password})

    def sign_in(self, device: Device, **fields: str) -> int:
        """Type the password, then use the passkey."""
        self.begin()
        return self.post("/login/code/", {"passkey": device.sign(self.asked("/login/passkey/")), **fields}).status_code

    def asked(self, path: str = CHALLENGE) -> dict[str, str]:
        """What the script gets from the console."""
        found: dict[str, str] = self.post(path).json()
        return found

    def asked_to_make(self, **proof: str) -> dict[str, Any]:
        """What the page asks on which a passkey called "blue" is made."""
        page = self.post(ADD, {"name": "blue", **proof}).content.decode()
        (options,) = re.findall(r'data-make="([^"]*)"', page) or ["{}"]
        return dict(json.loads(unescape(options)))

    def add_passkey(self, device: Device, password: str = PASSWORD) -> Any:
        """Make one with nothing but the password; the answer's page."""
        return self.post(MAKE, {"passkey": device.make(self.asked_to_make(password=password))})

    def is_signed_in(self) -> bool:
        """Whether there is more than the login."""
        return self.get(ACCOUNT).status_code == 200


def passkey_of(name: str) -> tuple[Browser, Device]:
    """Somebody else with a passkey, in their browser."""
    User.objects.create_superuser(name, password=PASSWORD)
    browser, device = Browser(), Device()
    browser.begin(name)
    browser.add_passkey(device)
    return browser, device
