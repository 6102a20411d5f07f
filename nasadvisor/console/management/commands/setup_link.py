"""`manage.py setup_link`: the address at which the first administrator is made."""

import os
import socket
from argparse import ArgumentParser
from pathlib import Path

from cryptography import x509
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from nasadvisor.console.accounts.sign_in import admin_exists, new_setup_token
from nasadvisor.runtime.certificates import fingerprint, is_self_signed
from nasadvisor.runtime.serving import PORT


class Command(BaseCommand):
    """Prints a link that works once, for a day, and only while there is no administrator."""

    help = "Print a one-time link for making the first administrator. Links made before stop working."
    # They would load every page, as would all addresses below; on a slow machine that is a third of the time.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        port = os.environ.get("UVICORN_PORT") or PORT
        default = f"{'https' if settings.CERTIFICATE else 'http'}://{socket.gethostname()}:{port}"
        parser.add_argument("--base-url", default=default, help=f"how browsers reach the console (default {default})")

    def handle(self, *_args: object, base_url: str, **_options: object) -> None:
        if admin_exists():
            raise CommandError(
                "There is an administrator already, so no link is made. An administrator adds users under Settings; "
                "`changepassword USER` sets a forgotten password."
            )
        place = reverse("setup", urlconf="nasadvisor.console.accounts.urls", args=[new_setup_token()])
        self.stdout.write(base_url.rstrip("/") + place)
        if settings.CERTIFICATE:
            self.stdout.write(_about_certificate(Path(settings.CERTIFICATE)))


def _about_certificate(path: Path) -> str:
    """What to compare with what the browser shows."""
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        return f"The certificate of the pages cannot be read: {error}."
    warns = "The browser will warn of the certificate, which was made here: compare before you go on. "
    return f"{warns if is_self_signed(certificate) else ''}SHA-256 fingerprint: {fingerprint(certificate)}"
