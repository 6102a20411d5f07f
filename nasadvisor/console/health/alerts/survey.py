"""A host with what is said of its disks, for who replaces one."""

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import findings_about
from nasadvisor.console.health.models import SAID_OF, StoredDisk
from nasadvisor.domain.health.replacement.evidence import Survey, survey_of


def survey(node: Node) -> Survey | None:
    """What is known of a host and its disks; None before its first reading."""
    inventory = node.inventory
    if inventory is None:
        return None
    disks = StoredDisk.objects.filter(node=node, is_forgotten=False).only(*SAID_OF)
    return survey_of(inventory, {disk.key: tuple(findings_about(disk)) for disk in disks})
