"""A device that makes passkeys and signs with them, in memory: ES256, as security keys and phones do."""

import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
"""Flags (WebAuthn, section 6.1)."""


@dataclass
class Device:
    """A security key with one passkey, in a browser that shows a page of `origin`.

    `adds` is by how much its count goes up with each signature, 0 for one that does not count; `flags` are what it says
    of the person in front of it; `algorithm` is what it says its key is of.
    """

    origin: str = "http://localhost"
    site: str = "localhost"
    adds: int = 1
    flags: int = PRESENT | VERIFIED
    count: int = 0
    algorithm: int = ES256.ALGORITHM
    client_data: dict[str, Any] = field(default_factory=dict)
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def make(self, options: Mapping[str, Any], kind: str = "webauthn.create") -> str:
        """The answer to being asked for a new passkey."""
        point = self.key.public_key().public_numbers()
        public_key = cbor.encode({1: 2, 3: self.algorithm, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)})
        credential = bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id + public_key
        attested = {"fmt": "none", "attStmt": {}, "authData": self._data(ATTESTED) + credential}
        client = self._client_data(options, kind)
        return self._answer({"clientDataJSON": client, "attestationObject": cbor.encode(attested)})

    def sign(self, options: Mapping[str, Any], kind: str = "webauthn.get") -> str:
        """The answer to being asked for a signature."""
        self.count += self.adds
        data, client = self._data(), self._client_data(options, kind)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer({"clientDataJSON": client, "authenticatorData": data, "signature": signature})

    def copy(self) -> "Device":
        """Another one with the same secret."""
        return Device(self.origin, self.site, key=self.key, credential_id=self.credential_id, count=self.count)

    def _answer(self, parts: Mapping[str, bytes]) -> str:
        return json.dumps({name: websafe_encode(part) for name, part in {"id": self.credential_id, **parts}.items()})

    def _data(self, more: int = 0) -> bytes:
        return hashlib.sha256(self.site.encode()).digest() + struct.pack(">BI", self.flags | more, self.count)

    def _client_data(self, options: Mapping[str, Any], kind: str) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps({**said, **self.client_data}).encode()
