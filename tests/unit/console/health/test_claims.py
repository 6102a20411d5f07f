"""A disk belongs to one host until it is gone there; who claims it meanwhile is told apart."""

from dataclasses import replace

from django.utils import timezone

from nasadvisor.console.health.alerts.models import StoredAlert
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document
from tests.unit.machines import home_server


def told_by(node: str, machine: Inventory) -> None:
    now = timezone.now().isoformat(timespec="seconds")
    told = replace(machine, host=replace(machine.host, node=node), read_at=now)
    take_answer(node, "inventory", to_document(told))


def test_a_claim_on_disks_that_another_host_still_shows_is_told_and_takes_nothing() -> None:
    told_by("nas1", home_server())
    told_by("nas2", home_server())
    watch(timezone.now())
    alert = StoredAlert.objects.get(code="disks-claimed")
    assert (alert.node.name, alert.subject) == ("nas2", "nas1")
    assert set(StoredDisk.objects.values_list("node__name", flat=True)) == {"nas1"}


def test_a_disk_that_is_gone_there_and_new_here_has_moved() -> None:
    told_by("nas1", home_server())
    told_by("nas1", replace(home_server(), disks=(), pools=()))
    told_by("nas2", home_server())
    watch(timezone.now())
    assert not StoredAlert.objects.filter(code="disks-claimed").exists()
    assert set(StoredDisk.objects.values_list("node__name", flat=True)) == {"nas2"}
