"""The protocol of passkeys (WebAuthn, https://www.w3.org/TR/webauthn-3/), by the fido2 library: what a browser is to be
asked, and what its answer proves. It knows no users and no database.

Answers come as the script of our pages makes them: JSON with one text in base64url for each part.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from cryptography.exceptions import UnsupportedAlgorithm
from fido2 import cbor
from fido2.cose import ES256, RS256, CoseKey, EdDSA
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialDescriptor,
    PublicKeyCredentialParameters,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialType,
    PublicKeyCredentialUserEntity,
    RegistrationResponse,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

SHOWN_FOR_MS: Final = 300_000
"""How long a browser is to ask for an answer, as the standard recommends (section 15.1)."""

ALGORITHMS: Final = (ES256.ALGORITHM, EdDSA.ALGORITHM, RS256.ALGORITHM)
"""Those that the standard names for reaching most devices (section 5.4, "pubKeyCredParams")."""

LONGEST_ID: Final = 1023
"""Bytes (section 4, "credential ID")."""

State = dict[str, Any]
"""What must be kept from asking to answering, as JSON."""

_UNREADABLE: Final = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(RecursionError, NotImplementedError, struct.error, UnsupportedAlgorithm),
)
"""What the library, and the cryptography under it, raise on bytes that are no answer."""


class NotProven(Exception):  # noqa: N818 - named for what it is
    """An answer that is none to what was asked. Which part of it was wrong helps only who forges one."""


@dataclass(frozen=True)
class Site:
    """For whom a passkey signs: the name in the address, and whole addresses of pages that may ask."""

    name: str
    origins: frozenset[str]


@dataclass(frozen=True)
class Key:
    """What is to be kept of a passkey: which it is, its public key (COSE, RFC 9052), and how often it has signed."""

    credential_id: str
    public_key: str
    sign_count: int


def ask_to_make(site: Site, handle: bytes, user_name: str, known: Iterable[str]) -> tuple[dict[str, Any], State]:
    """Options for a new passkey on a device that has none of the known ones, and asks for a PIN or a finger."""
    options, state = _server(site).register_begin(
        PublicKeyCredentialUserEntity(id=handle, name=user_name, display_name=user_name),
        _descriptors(known),
        ResidentKeyRequirement.DISCOURAGED,
        UserVerificationRequirement.REQUIRED,
    )
    return _plain(options.public_key), state


def ask_to_sign(site: Site, known: Iterable[str], is_verified: bool) -> tuple[dict[str, Any], State]:
    """Options for a signature by one of the known passkeys; `is_verified` insists on a PIN or a finger."""
    required, preferred = UserVerificationRequirement.REQUIRED, UserVerificationRequirement.PREFERRED
    options, state = _server(site).authenticate_begin(_descriptors(known), required if is_verified else preferred)
    return _plain(options.public_key), state


def made(site: Site, state: State, answer: str) -> Key:
    """The passkey that a device has made.

    Raises:
        NotProven: it was not made for this question.
    """
    try:
        parts = _parts(answer, "id", "clientDataJSON", "attestationObject")
        attestation = AttestationObject(parts["attestationObject"])
        credential = attestation.auth_data.credential_data
        if credential is None or credential.credential_id != parts["id"] or len(parts["id"]) > LONGEST_ID:
            raise NotProven
        if credential.public_key.get(3) not in ALGORITHMS:
            raise NotProven
        response = AuthenticatorAttestationResponse(
            client_data=_client_data(parts["clientDataJSON"]), attestation_object=attestation
        )
        found = _server(site).register_complete(state, RegistrationResponse(raw_id=parts["id"], response=response))
        return Key(websafe_encode(parts["id"]), websafe_encode(cbor.encode(credential.public_key)), found.counter)
    except _UNREADABLE as error:
        raise NotProven from error


def said_by(answer: str) -> str:
    """Which passkey an answer says it is of.

    Raises:
        NotProven: it says nothing.
    """
    try:
        return websafe_encode(_parts(answer, "id")["id"])
    except _UNREADABLE as error:
        raise NotProven from error


def signed(site: Site, state: State, key: Key, answer: str) -> int:
    """How often the passkey has signed by its own count, 0 where it does not count.

    Raises:
        NotProven: it has not signed what was asked.
    """
    try:
        parts = _parts(answer, "id", "clientDataJSON", "authenticatorData", "signature")
        response = AuthenticatorAssertionResponse(
            client_data=_client_data(parts["clientDataJSON"]),
            authenticator_data=AuthenticatorData(parts["authenticatorData"]),
            signature=parts["signature"],
        )
        public_key = CoseKey.parse(cast("Mapping[int, Any]", cbor.decode(websafe_decode(key.public_key))))
        credential = AttestedCredentialData.create(Aaguid.NONE, websafe_decode(key.credential_id), public_key)
        whole = AuthenticationResponse(raw_id=parts["id"], response=response)
        _server(site).authenticate_complete(state, [credential], whole)
    except _UNREADABLE as error:
        raise NotProven from error
    return response.authenticator_data.counter


def _server(site: Site) -> Fido2Server:
    server = Fido2Server(
        PublicKeyCredentialRpEntity(id=site.name, name="NAS Advisor"), verify_origin=site.origins.__contains__
    )
    server.allowed_algorithms = [
        PublicKeyCredentialParameters(type=PublicKeyCredentialType.PUBLIC_KEY, alg=each) for each in ALGORITHMS
    ]
    return server


def _descriptors(known: Iterable[str]) -> list[PublicKeyCredentialDescriptor]:
    kind = PublicKeyCredentialType.PUBLIC_KEY
    return [PublicKeyCredentialDescriptor(type=kind, id=websafe_decode(each)) for each in known]


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(dict(options)))
    return {**found, "timeout": SHOWN_FOR_MS}


def _parts(answer: str, *names: str) -> dict[str, bytes]:
    """The named parts. Only texts: of a number the library would make as many bytes."""
    whole = json.loads(answer)
    return {name: websafe_decode(_text(whole[name])) for name in names}


def _client_data(data: bytes) -> CollectedClientData:
    """What the browser says of the page that asked, if that was ours and not inside of another one."""
    said = json.loads(data)
    for name in ("type", "challenge", "origin"):
        _text(said[name])
    if said.get("crossOrigin", False) is not False:
        raise NotProven
    return CollectedClientData(data)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise NotProven
    return value
