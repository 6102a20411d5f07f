"""`manage.py prepare`: what an installation or update needs once; may be run again at any time."""

import os
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.management.utils import get_random_secret_key

from nasadvisor.console.schedules import create_schedules


class Command(BaseCommand):
    """Makes the secret key, the database and the schedules."""

    help = "Make the secret key, bring the database up to date and create the schedules."

    def handle(self, *_args: object, **_options: object) -> None:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        make_secret_key(settings.SECRET_KEY_FILE)
        call_command("migrate", interactive=False, verbosity=0)
        create_schedules()
        self.stdout.write("The console is ready.")


def make_secret_key(path: Path) -> None:
    """Write a fresh key that only its owner can read; one that exists stays."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(get_random_secret_key())
