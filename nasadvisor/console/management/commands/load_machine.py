"""`manage.py load_machine FILE`: show a recorded machine, for work on pages and for bug reports."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.inventory import store_inventory
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import DocumentError, from_json, to_document


class Command(BaseCommand):
    """Stores an inventory as that of a simulated node."""

    help = "Load the inventory of a recorded machine as a simulated host."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="an inventory document, e.g. tests/fixtures/machines/typical.json")

    def handle(self, *_args: object, file: Path, **_options: object) -> None:
        try:
            recorded = from_json(Inventory, file.read_text(encoding="utf-8"))
        except (OSError, DocumentError) as error:
            raise CommandError(f"{file} cannot be loaded: {error}") from error
        inventory = replace(recorded, read_at=timezone.now().isoformat(timespec="seconds"))
        node = store_inventory(inventory.host.node, inventory, to_document(inventory))
        Node.objects.filter(pk=node.pk).update(is_simulated=True)
        self.stdout.write(f"{node.name} is loaded as a simulated host.")
