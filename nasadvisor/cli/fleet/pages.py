"""How the pages of this host answer: for `nasadvisor doctor`, and for what the package says at its end."""

import platform
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import click
from cryptography import x509

from nasadvisor.host.adapters.procfs import PROC
from nasadvisor.host.config import load_environment
from nasadvisor.host.fleet.certificate import FOLDER, port_problem
from nasadvisor.runtime.certificates import fingerprint, is_self_signed
from nasadvisor.runtime.serving import PORT, asked_for_plain, left_to_others

ANSWER_S: Final = 5
ENDS_SOON: Final = timedelta(days=14)
LOG: Final = "journalctl -u nasadvisor-web"
EVERYWHERE: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 - named, not bound


@dataclass(frozen=True)
class PageCheck:
    """Whether it is as it should be, and what is said of it."""

    ok: bool
    sentence: str


def ask_pages(settings: Mapping[str, str], now: datetime, proc: Path = PROC) -> PageCheck:
    """Look whether it is our pages that listen, and at the certificate that they show."""
    problem = port_problem(settings, proc)
    if problem:
        return PageCheck(False, problem)
    host = settings.get("UVICORN_HOST", "")
    port = settings.get("UVICORN_PORT") or PORT
    place = EVERYWHERE.get(host, host)
    try:
        shown = ssl.get_server_certificate((place, int(port)), timeout=ANSWER_S)
    except ssl.SSLError:
        return _without_tls(settings, port)
    except (OSError, ValueError) as error:
        return PageCheck(False, f"they do not answer at {place}, port {port}: {error}. See why with: {LOG}")
    return _with_tls(x509.load_pem_x509_certificate(shown.encode()), port, now)


def _with_tls(certificate: x509.Certificate, port: str, now: datetime) -> PageCheck:
    until = certificate.not_valid_after_utc
    maker = "made here" if is_self_signed(certificate) else f"by {certificate.issuer.rfc4514_string()}"
    about = f"https://{platform.node()}:{port}, certificate {maker}, good until {until:%Y-%m-%d}"
    said = f"{about}, SHA-256 fingerprint {fingerprint(certificate)}."
    if until - now > ENDS_SOON:
        return PageCheck(True, said)
    return PageCheck(False, f"{said} It ends soon or has ended. See why it was not renewed with: {LOG}")


def _without_tls(settings: Mapping[str, str], port: str) -> PageCheck:
    """Plain HTTP is all right where an administrator has decided so."""
    wish = "NASADVISOR_TLS=no" if asked_for_plain(settings) else left_to_others(settings)
    if not wish:
        return PageCheck(False, f"port {port} answers without TLS, and no setting asks for that. See why with: {LOG}")
    sentence = f"port {port} answers without TLS, for {wish} is set: whoever is between can read passwords unless a "
    return PageCheck(True, f"{sentence}proxy in front has TLS.")


@click.command(hidden=True)
def pages_address() -> None:
    """Print the address of the pages of this host; ends with 1 where another program has their port."""
    settings = load_environment()
    problem = port_problem(settings)
    if problem:
        click.echo(f"NAS Advisor's pages are not served: {problem}", err=True)
        sys.exit(1)
    is_plain = not (FOLDER / "environment").exists() and (asked_for_plain(settings) or left_to_others(settings))
    click.echo(f"{'http' if is_plain else 'https'}://{platform.node()}:{settings.get('UVICORN_PORT') or PORT}")
