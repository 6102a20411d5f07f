"""How the pages are served: over TLS, unless a setting says that they come in the clear or that a proxy has TLS.

Where nobody gives a certificate, one is made here. It is not signed by anybody, so browsers warn of it once, and its
fingerprint is printed for comparing. See docs/explanation/decisions/0015-tls-by-default.md.
"""

import platform
import ssl
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509

from nasadvisor.runtime import certificates, environment
from nasadvisor.runtime.own_names import own_addresses, own_names
from nasadvisor.runtime.private_files import write_private
from plugins.contract.host import Certificate

CHAIN: Final = "certificate.pem"
KEY: Final = "key.pem"

RENEW_BEFORE: Final = timedelta(days=30)

CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2: forward secrecy and authenticated encryption only (RFC 9325, 4.2). uvicorn's default, "TLSv1", leaves
what is older. Those of TLS 1.3 are all of this kind.
"""

PORT: Final = "8843"

APPLICATION: Final = "nasadvisor.asgi:application"
"""By which a process that serves the pages is known, in its command line."""


def certificate_in(pair: Certificate) -> x509.Certificate:
    """The one that browsers see.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    return x509.load_pem_x509_certificate(pair.chain.read_bytes())


def problem_of(pair: Certificate) -> str:
    """Why nothing can be served with it; "" if nothing speaks against it."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pair.chain, pair.key, password="")
        certificate_in(pair)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        return f"{pair.chain} with {pair.key}: {error}"
    return ""


def asked_for_plain(settings: Mapping[str, str]) -> bool:
    """Whether the administrator wants plain HTTP, whatever certificate there is."""
    return settings.get("NASADVISOR_TLS", "").lower() in environment.NO


def left_to_others(settings: Mapping[str, str]) -> str:
    """The setting because of which no certificate is made here, as NAME=VALUE; "" where there is none.

    All of these were set by an administrator who has arranged for TLS, or has decided against it.
    """
    if settings.get("NASADVISOR_TLS", "").lower() in environment.YES:
        return ""
    host, origins = settings.get("UVICORN_HOST", ""), settings.get("NASADVISOR_ORIGINS", "")
    speaking = {
        "UVICORN_SSL_CERTFILE": settings.get("UVICORN_SSL_CERTFILE", ""),
        "UVICORN_HOST": host if _is_loopback(host) else "",
        "NASADVISOR_HTTPS": settings.get("NASADVISOR_HTTPS", ""),
        "NASADVISOR_ORIGINS": origins if "https://" in origins else "",
    }
    return next((f"{name}={value}" for name, value in speaking.items() if value), "")


def named_certificate(settings: Mapping[str, str]) -> Certificate | None:
    """The certificate that the administrator names."""
    chain, key = settings.get("NASADVISOR_TLS_CERTIFICATE", ""), settings.get("NASADVISOR_TLS_KEY", "")
    return Certificate(Path(chain), Path(key or chain)) if chain else None


def own_certificate(folder: Path) -> Certificate:
    """Where the certificate that is made here lies."""
    return Certificate(folder / CHAIN, folder / KEY)


def is_due(own: Certificate, now: datetime) -> bool:
    """Whether the certificate that is made here is missing, cannot be used, or ends soon."""
    return bool(problem_of(own)) or certificate_in(own).not_valid_after_utc - now < RENEW_BEFORE


def make_own_if_due(own: Certificate, settings: Mapping[str, str], now: datetime) -> None:
    """Have a certificate that is made here, for this machine's names and addresses, and those that are asked for.

    Raises:
        OSError: it could not be written.
    """
    if is_due(own, now):
        asked_for = [name.strip() for name in settings.get("NASADVISOR_ALLOWED_HOSTS", "").split(",")]
        # First the name that this machine calls itself.
        make_own(own, [*own_names(platform.node()), *asked_for, *own_addresses()], now)


def make_own(own: Certificate, names: list[str], now: datetime) -> None:
    """Make it, for these names and addresses, in a folder that nobody else can read.

    Raises:
        OSError: it could not be written.
    """
    chain, key = certificates.self_signed(names, now)
    own.chain.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(own.key, key)
    write_private(own.chain, chain)


def settings_for(pair: Certificate) -> dict[str, str]:
    """What tells uvicorn and Django to serve with it."""
    return {
        "UVICORN_SSL_CERTFILE": str(pair.chain),
        "UVICORN_SSL_KEYFILE": str(pair.key),
        "UVICORN_SSL_CIPHERS": CIPHERS,
        "NASADVISOR_HTTPS": "yes",
        # A browser that was told to insist on TLS lets nobody past a warning any more (RFC 6797, 8.4).
        "NASADVISOR_HSTS": "no" if certificates.is_self_signed(certificate_in(pair)) else "yes",
    }


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
