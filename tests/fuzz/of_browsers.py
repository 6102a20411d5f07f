"""What a browser says that a passkey has made or signed: parts as devices encode them, and the text around them."""

import json
from collections.abc import Iterator

from fido2.utils import websafe_decode, websafe_encode

from nasadvisor.console.fleet import ceremony
from tests.fuzz.reader import Reader, as_shown
from tests.unit.console.fleet.authenticators import Device

SITE = ceremony.Site("localhost", frozenset({"http://localhost"}))
STATE = {"challenge": websafe_encode(bytes(32)), "user_verification": "required"}


def readers() -> Iterator[Reader]:
    """All of them."""
    device = Device()
    made, signed = device.make(STATE), device.sign(STATE)
    key = ceremony.made(SITE, STATE, made)
    told = (ceremony.NotProven,)
    yield Reader("passkey-made", lambda data: ceremony.made(SITE, STATE, as_shown(data)), (made.encode(),), told)
    yield Reader(
        "passkey-signed", lambda data: ceremony.signed(SITE, STATE, key, as_shown(data)), (signed.encode(),), told
    )
    for part in ("clientDataJSON", "attestationObject"):
        yield _part(f"passkey-{part}", made, part)
    for part in ("clientDataJSON", "authenticatorData", "signature"):
        yield _part(f"passkey-signed-{part}", signed, part, key)


def _part(name: str, answer: str, part: str, key: ceremony.Key | None = None) -> Reader:
    """One part of an answer, the others as they were."""
    parts = json.loads(answer)

    def read(data: bytes) -> None:
        changed = json.dumps({**parts, part: websafe_encode(data)})
        if key:
            ceremony.signed(SITE, STATE, key, changed)
        else:
            _use(ceremony.made(SITE, STATE, changed))

    return Reader(name, read, (websafe_decode(parts[part]),), (ceremony.NotProven,))


def _use(key: ceremony.Key) -> None:
    """A key that was stored is asked for a signature, whatever it is."""
    ceremony.signed(SITE, STATE, key, Device(credential_id=websafe_decode(key.credential_id)).sign(STATE))
