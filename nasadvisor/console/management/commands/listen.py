"""`manage listen --address NAME [--address NAME …]`: take hosts on other machines."""

import ipaddress
import re
from argparse import ArgumentParser
from typing import Final

import redis.exceptions
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from nasadvisor.console.fleet.remote.listening import Listening, listen, use_certificate
from nasadvisor.domain.fleet.joining import PORT, is_node_name

LARGEST_PORT: Final = 65535


class Command(BaseCommand):
    """Makes keys, certificates and settings of the message service for hosts on other machines."""

    help = (
        "Let hosts on other machines join this console. Run it again to change the addresses or to renew the "
        "certificate; hosts that have joined stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--address",
            required=True,
            action="append",
            help="a name or IP address under which hosts reach this machine; again for each further one",
        )
        parser.add_argument("--port", type=int, default=PORT, help=f"the TCP port (default {PORT})")

    def handle(self, *_args: object, address: list[str], port: int, **_options: object) -> None:
        for each in address:
            if not _is_address(each):
                raise CommandError(f"{each!r} is neither a name nor an IP address. Nothing was changed.")
        if not 0 < port <= LARGEST_PORT:
            raise CommandError(f"{port} is no TCP port. Nothing was changed.")
        listen(Listening(tuple(dict.fromkeys(address)), port), timezone.now())
        try:
            use_certificate()
        except redis.exceptions.RedisError:
            where = f"{', '.join(address)}, port {port}"
            self.stdout.write(f"The console listens at {where}, as soon as its services have started.")
        else:
            self.stdout.write("The new certificate is in use. For another port restart nasadvisor-remote-redis.")
        self.stdout.write("Hosts are added on the page Settings, Hosts.")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return is_node_name(text) and not re.fullmatch("[0-9.]+", text)
    return True
