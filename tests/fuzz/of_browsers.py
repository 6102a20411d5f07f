"""What a browser says that a passkey has made or signed: parts as devices encode them, and the text around them."""

import json
from collections.abc import Iterator

from fido2.utils import websafe_decode, websafe_encode

from nasadvisor.console.accounts.second_factor import webauthn
from tests.fuzz.reader import Reader, as_shown
from tests.unit.console.accounts.authenticators import Device

SITE = webauthn.Site("localhost", frozenset({"http://localhost"}))
STATE = {"challenge": websafe_encode(bytes(32)), "user_verification": "required"}


def readers() -> Iterator[Reader]:
    """All of them."""
    device = Device()
    made, signed = device.make(STATE), device.sign(STATE)
    key = webauthn.made(SITE, STATE, made)
    told = (webauthn.NotProven,)
    yield Reader("passkey-made", lambda data: webauthn.made(SITE, STATE, as_shown(data)), (made.encode(),), told)
    yield Reader(
        "passkey-signed", lambda data: webauthn.signed(SITE, STATE, key, as_shown(data)), (signed.encode(),), told
    )
    for part in ("clientDataJSON", "attestationObject"):
        yield _part(f"passkey-{part}", made, part)
    for part in ("clientDataJSON", "authenticatorData", "signature"):
        yield _part(f"passkey-signed-{part}", signed, part, key)


def _part(name: str, answer: str, part: str, key: webauthn.Key | None = None) -> Reader:
    """One part of an answer, the others as they were."""
    parts = json.loads(answer)

    def read(data: bytes) -> None:
        changed = json.dumps({**parts, part: websafe_encode(data)})
        if key:
            webauthn.signed(SITE, STATE, key, changed)
        else:
            _use(webauthn.made(SITE, STATE, changed))

    return Reader(name, read, (websafe_decode(parts[part]),), (webauthn.NotProven,))


def _use(key: webauthn.Key) -> None:
    """A key that was stored is asked for a signature, whatever it is."""
    webauthn.signed(SITE, STATE, key, Device(credential_id=websafe_decode(key.credential_id)).sign(STATE))
