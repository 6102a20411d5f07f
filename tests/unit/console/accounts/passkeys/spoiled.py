"""What makes an answer one that was not made by the passkey for this page."""

from collections.abc import Callable

from tests.unit.console.accounts.authenticators import Device


def elsewhere(device: Device) -> None:
    device.origin = "http://1ocalhost"


def other_port(device: Device) -> None:
    device.origin = "http://localhost:8080"


def other_site(device: Device) -> None:
    device.site = "nas.example"


def other_secret(device: Device) -> None:
    device.key = Device().key


def other_passkey(device: Device) -> None:
    device.credential_id = Device().credential_id


def nobody_there(device: Device) -> None:
    device.flags = 0


def framed(device: Device) -> None:
    device.client_data = {"crossOrigin": True}


def number_for_challenge(device: Device) -> None:
    device.client_data = {"challenge": 10**12}


WRONG: list[Callable[[Device], None]] = [elsewhere, other_port, other_site, other_secret, other_passkey, nobody_there]
WRONG += [framed, number_for_challenge]
