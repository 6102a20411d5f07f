"""Certificates of our own making: for the pages where nobody else gives one, and for the console's small authority.

Keys are ECDSA on P-256, which every browser and every TLS library of the last ten years takes.
"""

import ipaddress
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCKS_DIFFER: Final = timedelta(days=1)
"""A certificate counts from that long ago, for those whose clock is late."""

SELF_SIGNED_VALID: Final = timedelta(days=825)
"""The longest that Apple's systems take, whoever signed it (support.apple.com/103769)."""

LONGEST_COMMON_NAME: Final = 64
"""ub-common-name in RFC 5280."""

_DNS_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")


def self_signed(names: Iterable[str], now: datetime) -> tuple[bytes, bytes]:
    """A fresh certificate for these names and addresses, and its key, both as PEM. What can be neither is left out."""
    asked = {name: general_name(name) for name in names if name.isascii()}
    known = list(
        dict.fromkeys(
            each for name, each in asked.items() if isinstance(each, x509.IPAddress) or _DNS_NAME.fullmatch(name)
        )
    )
    key = ec.generate_private_key(ec.SECP256R1())
    called = next((str(name.value) for name in known if name.value != "localhost"), "this machine")
    subject = common_name(f"NAS Advisor on {called}"[:LONGEST_COMMON_NAME])
    certificate = (
        builder(subject, subject, key.public_key(), now, SELF_SIGNED_VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(known), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(usage(digital_signature=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), pem_of(key)


def fingerprint(certificate: x509.Certificate) -> str:
    """Its SHA-256 as browsers and openssl show it."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def is_self_signed(certificate: x509.Certificate) -> bool:
    """Whether nobody else vouches for it."""
    return certificate.issuer == certificate.subject


def common_name(text: str) -> x509.Name:
    """A name that has only this."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, valid: timedelta
) -> x509.CertificateBuilder:
    """What all of them have."""
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - CLOCKS_DIFFER,
        not_valid_after=now + valid,
    )


def usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    """What its key may be used for."""
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


def general_name(address: str) -> x509.GeneralName:
    """A name or an IP address.

    Raises:
        ValueError: it is not ASCII.
    """
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A key without a password."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
