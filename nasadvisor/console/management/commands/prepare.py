"""`manage.py prepare`: what an installation or update needs once; may be run again at any time."""

import os
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.management.utils import get_random_secret_key

from nasadvisor.console.secrets import new_key
from nasadvisor.console.worker.schedules import create_schedules


class Command(BaseCommand):
    """Makes the keys, the database and the schedules."""

    help = "Make the keys, bring the database up to date and create the schedules."
    # They would load every page, which costs a slow machine a fifth of the time that the database takes.
    requires_system_checks = ()

    def handle(self, *_args: object, **_options: object) -> None:
        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        make_key(settings.SECRET_KEY_FILE, get_random_secret_key)
        make_key(settings.CHANNEL_KEY_FILE, new_key)
        call_command("migrate", interactive=False, verbosity=0)
        create_schedules()
        self.stdout.write("The console is ready.")


def make_key(path: Path, new: Callable[[], str]) -> None:
    """Write a fresh key that only its owner can read; one that exists stays."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(new())
