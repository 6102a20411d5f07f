"""A small certificate authority of the console's own: hosts trust it and nothing else.

The authority lives as long as the console; the certificate of the message service is renewed before it expires, and
hosts need not be told.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from nasadvisor.console.fleet.remote.listening import authority_path, certificate_path, key_path
from nasadvisor.runtime.certificates import builder, common_name, general_name, pem_of, usage
from nasadvisor.runtime.private_files import write_private

AUTHORITY_VALID: Final = timedelta(days=20 * 365)
SERVER_VALID: Final = timedelta(days=397)
RENEW_BEFORE: Final = timedelta(days=60)


def make_authority(folder: Path, now: datetime) -> None:
    """Make the authority; one that is there stays."""
    if authority_path(folder).exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    name = common_name("NAS Advisor console")
    certificate = (
        builder(name, name, key.public_key(), now, AUTHORITY_VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / "authority.key", pem_of(key))
    write_private(authority_path(folder), certificate.public_bytes(serialization.Encoding.PEM))


def make_server_certificate(folder: Path, addresses: Iterable[str], now: datetime) -> None:
    """A fresh key and certificate for the message service at these names and IP addresses."""
    authority = x509.load_pem_x509_certificate(authority_path(folder).read_bytes())
    authority_key = serialization.load_pem_private_key((folder / "authority.key").read_bytes(), None)
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise TypeError("The key of the authority is not one that was made here.")
    key = ec.generate_private_key(ec.SECP256R1())
    name = common_name("NAS Advisor messages")
    certificate = (
        builder(name, authority.subject, key.public_key(), now, SERVER_VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(map(general_name, addresses)), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(usage(digital_signature=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    write_private(key_path(folder), pem_of(key))
    write_private(certificate_path(folder), certificate.public_bytes(serialization.Encoding.PEM))


def fingerprint(folder: Path) -> str:
    """The SHA-256 of the message service's certificate, in hexadecimal."""
    return _server_certificate(folder).fingerprint(hashes.SHA256()).hex()


def is_due(folder: Path, now: datetime) -> bool:
    """Whether the certificate of the message service should be renewed."""
    return _server_certificate(folder).not_valid_after_utc - now < RENEW_BEFORE


def _server_certificate(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(certificate_path(folder).read_bytes())
