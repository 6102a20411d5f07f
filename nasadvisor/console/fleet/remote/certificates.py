"""A small certificate authority of the console's own: hosts trust it and nothing else.

The authority lives as long as the console; the certificate of the message service is renewed before it expires, and
hosts need not be told.
"""

import ipaddress
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_VALID: Final = timedelta(days=20 * 365)
SERVER_VALID: Final = timedelta(days=397)
RENEW_BEFORE: Final = timedelta(days=60)
CLOCKS_DIFFER: Final = timedelta(days=1)
"""A certificate counts from that long ago, for hosts whose clock is late."""


def make_authority(folder: Path, now: datetime) -> None:
    """Make the authority; one that is there stays."""
    if authority_path(folder).exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "NAS Advisor console")])
    usage = _usage(key_cert_sign=True, crl_sign=True)
    certificate = (
        _builder(name, name, key.public_key(), now, AUTHORITY_VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / "authority.key", _pem_of(key))
    write_private(authority_path(folder), certificate.public_bytes(serialization.Encoding.PEM))


def make_server_certificate(folder: Path, address: str, now: datetime) -> None:
    """A fresh key and certificate for the message service at this name or IP address."""
    authority = x509.load_pem_x509_certificate(authority_path(folder).read_bytes())
    authority_key = serialization.load_pem_private_key((folder / "authority.key").read_bytes(), None)
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise TypeError("The key of the authority is not one that was made here.")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "NAS Advisor messages")])
    certificate = (
        _builder(name, authority.subject, key.public_key(), now, SERVER_VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_general_name(address)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    write_private(key_path(folder), _pem_of(key))
    write_private(certificate_path(folder), certificate.public_bytes(serialization.Encoding.PEM))


def fingerprint(folder: Path) -> str:
    """The SHA-256 of the message service's certificate, in hexadecimal."""
    return _server_certificate(folder).fingerprint(hashes.SHA256()).hex()


def is_due(folder: Path, now: datetime) -> bool:
    """Whether the certificate of the message service should be renewed."""
    return _server_certificate(folder).not_valid_after_utc - now < RENEW_BEFORE


def authority_path(folder: Path) -> Path:
    """The certificate that hosts trust."""
    return folder / "authority.pem"


def certificate_path(folder: Path) -> Path:
    """The certificate of the message service."""
    return folder / "server.pem"


def key_path(folder: Path) -> Path:
    """Its key."""
    return folder / "server.key"


def _server_certificate(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(certificate_path(folder).read_bytes())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, valid: timedelta
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - CLOCKS_DIFFER,
        not_valid_after=now + valid,
    )


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def write_private(path: Path, data: bytes) -> None:
    """Put a file in place as a whole, readable for its owner only."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    fresh.rename(path)
