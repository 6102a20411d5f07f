"""Which services of this machine run, which of them stand still, and how its pages answer."""

import platform
import re
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Final

import click
from cryptography import x509

from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.procfs import PROC
from nasadvisor.host.config import load_environment
from nasadvisor.host.errors import HostError
from nasadvisor.host.fleet.certificate import FOLDER, port_problem
from nasadvisor.runtime.certificates import fingerprint, is_self_signed
from nasadvisor.runtime.serving import PORT, asked_for_plain, left_to_others

ANSWER_S: Final = 10.0

STANDS_STILL_AFTER_S: Final = 60
"""A service says every 20 seconds that it is alive (`nasadvisor.runtime.alive.EVERY_S`)."""

RESTARTED_WITHIN_S: Final = 60

FIRST_WORD_US: Final = 10**6
"""Within this of a start, systemd has counted the start itself and no word (`service_reset_watchdog`, service.c)."""


def runs(root: Path, unit: str) -> bool:
    """Whether a service has processes, as its control group tells (cgroup-v2, `cgroup.events`), not systemd."""
    try:
        return "populated 1" in (root / "sys/fs/cgroup/system.slice" / unit / "cgroup.events").read_text()
    except OSError:
        return False


def silent_for(runner: Runner, unit: str) -> int:
    """For how many seconds a service has not told systemd that it is alive; 0 for one that does so in time.

    And for one that nobody waits for, that has said nothing yet since its start, and of which systemd tells nothing.
    """
    began_us, said_us = _shown(runner, unit, "ActiveEnterTimestampMonotonic", "WatchdogTimestampMonotonic")
    if said_us < began_us + FIRST_WORD_US:
        return 0
    seconds = int(monotonic() - said_us / 10**6)
    return seconds if seconds > STANDS_STILL_AFTER_S else 0


def restarts(runner: Runner, unit: str) -> tuple[int, int]:
    """How often systemd started a service again, and how many seconds ago; never, where that is a minute ago or more.

    A service that ends before it is up is started anew for ever, and has processes whenever one looks.
    """
    began_us, count = _shown(runner, unit, "InactiveExitTimestampMonotonic", "NRestarts")
    seconds = int(monotonic() - began_us / 10**6)
    return (count, seconds) if seconds < RESTARTED_WITHIN_S else (0, 0)


def _shown(runner: Runner, unit: str, *names: str) -> list[int]:
    """Numbers that systemd tells of a service (org.freedesktop.systemd1(5)); 0 for what it does not tell."""
    command = Command(Tool.SYSTEMCTL, ("show", f"--property={','.join(names)}", unit), timeout_s=ANSWER_S)
    try:
        told = runner.run(command).stdout
    except HostError:
        return [0] * len(names)
    found = [re.search(rf"^{name}=([0-9]+)$", told, re.MULTILINE) for name in names]
    return [int(each[1]) if each else 0 for each in found]


CONNECT_S: Final = 5
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
        shown = ssl.get_server_certificate((place, int(port)), timeout=CONNECT_S)
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
    sentence = f"port {port} answers without TLS, for {wish} is set: anyone in between can read passwords unless a "
    return PageCheck(True, f"{sentence}proxy in front provides TLS.")


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
