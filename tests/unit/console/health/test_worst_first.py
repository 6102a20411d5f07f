"""A disk that its pool has given up is said before what its counters say."""

from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.health.alerts.disk_badges import DiskBadge, badges_in_pool
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.reports.report_tables import look_of, said_by_pools
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.unit.console.home.test_overview import headline
from tests.unit.console.test_pages import load, page


def with_member(state: str, index: int = 0, pool_state: str = "DEGRADED") -> Inventory:
    """The typical machine, one disk of its first mirror in this state."""
    machine = typical()
    pool = machine.pools[0]
    mirror = pool.data[0]
    sides = tuple(replace(each, state=state) if at == index else each for at, each in enumerate(mirror.children))
    data = (replace(mirror, state=pool_state, children=sides), *pool.data[1:])
    return replace(machine, pools=(replace(pool, state=pool_state, data=data), *machine.pools[1:]))


def erring(machine: Inventory, index: int = 0) -> StoredDisk:
    """The same disk has counted media errors."""
    part = machine.partition_at(machine.pools[0].data[0].children[index].path)
    key = part[0].key if part else machine.disk_at(machine.pools[0].data[0].children[index].path).key  # type: ignore[union-attr]
    disk = StoredDisk.objects.get(key=key)
    said = Finding("media-errors", "{disk} lost 3.", {"disk": disk.label}, Level.WARNING, subject=str(disk.pk))
    StoredDisk.objects.filter(pk=disk.pk).update(finding_documents=[to_document(said)], worst_level="warning")
    return disk


def marks(machine: Inventory) -> list[DiskBadge]:
    return badges_in_pool(load(machine), machine, machine.pools[0])


@pytest.mark.parametrize("state", ["FAULTED", "UNAVAIL", "REMOVED"])
def test_the_card_names_a_disk_that_its_pool_has_given_up_and_the_headline_is_red(viewer: Client, state: str) -> None:
    machine = with_member(state)
    load(machine)
    erring(machine)
    (mark,) = marks(machine)
    assert (str(mark.look.word), mark.level) == (state, Level.CRITICAL)
    assert [each.code for each in mark.findings] == ["pool-member", "media-errors"]
    text = page(viewer, "/")
    assert f"1 disk: {state}" in " ".join(text.split())
    assert "1 disk: Media errors" not in " ".join(text.split())
    assert headline(viewer) == "1 pool is at risk: tank"
    assert "bi-x-octagon-fill tone-danger" in text.partition('<h1 class="verdict">')[2].partition("</h1>")[0]


def test_a_disk_taken_offline_by_hand_is_a_warning_with_its_way_back(viewer: Client) -> None:
    machine = with_member("OFFLINE")
    (mark,) = marks(machine)
    guid = machine.pools[0].data[0].children[0].guid
    assert (str(mark.look.word), mark.level) == ("OFFLINE", Level.WARNING)
    assert f"zpool online tank {guid}" in str(mark.worst)
    assert headline(viewer) == "1 pool needs attention: tank"


def test_two_disks_are_counted_and_the_worse_one_gives_the_colour() -> None:
    machine = with_member("FAULTED", index=1)
    load(machine)
    erring(machine, index=0)
    first, second = marks(machine)
    assert (first.worst.code, second.worst.code) == ("pool-member", "media-errors")


def test_a_pool_without_fault_has_no_mark() -> None:
    assert marks(typical()) == []


def test_a_member_that_the_host_does_not_show_leads_to_its_pool() -> None:
    machine = with_member("UNAVAIL")
    pool = machine.pools[0]
    mirror = pool.data[0]
    lost = replace(mirror.children[0], path="/dev/disk/by-id/wwn-0x77-part1", guid="77")
    data = (replace(mirror, children=(lost, *mirror.children[1:])), *pool.data[1:])
    (mark,) = marks(replace(machine, pools=(replace(pool, data=data), *machine.pools[1:])))
    assert (mark.key, mark.url) == ("", f"/pools/{pool.guid}/")
    assert "wwn-0x77-part1" in str(mark.worst)


def test_a_report_says_the_state_before_the_counts() -> None:
    machine = with_member("FAULTED")
    node = load(machine)
    disk = erring(machine)
    issue = said_by_pools([node])[node.pk, disk.key]
    assert look_of(StoredDisk.objects.get(pk=disk.pk), issue).word == "FAULTED"
    assert str(look_of(StoredDisk.objects.get(pk=disk.pk), None).word) == "Media errors"


def test_marks_are_made_of_what_is_there_now(viewer: Client) -> None:
    load(with_member("FAULTED"))
    assert headline(viewer) == "1 pool is at risk: tank"
    load(replace(typical(), read_at=timezone.now().isoformat()))
    assert headline(viewer) != "1 pool is at risk: tank"
