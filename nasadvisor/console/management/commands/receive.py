"""`manage receive`: store what hosts on other machines tell. The service nasadvisor-remote runs it."""

import signal
from threading import Event

import redis.exceptions
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from nasadvisor.console.fleet.remote.listening import NotListening
from nasadvisor.console.worker.receivers import OneEnded, receive


class Command(BaseCommand):
    """Runs until it is told to end; a message that is being stored is stored."""

    help = "Store what hosts on other machines tell, until this is ended."
    requires_system_checks = ()

    def handle(self, *_args: object, **_options: object) -> None:
        over = Event()
        signal.signal(signal.SIGTERM, lambda *_: over.set())
        try:
            receive(over.is_set, settings.RECEIVERS)
        except NotListening:
            raise CommandError("This console takes no hosts from other machines. See `manage listen --help`.") from None
        except OneEnded as error:
            raise CommandError(f"A process that takes what hosts tell has ended ({error}), so all have.") from error
        except redis.exceptions.RedisError as error:
            raise CommandError(f"The message service for other hosts does not answer: {error}") from error
