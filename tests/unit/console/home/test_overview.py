"""Home: one answer about all hosts, read off everything that is known."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import FirstHour, StoredAlert
from nasadvisor.console.health.alerts.watch import take_up, watch
from nasadvisor.console.health.models import NodeHealth, PoolDay, StoredDisk
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.kinds import own_schema_versions
from tests.fixtures.machines.build import large, typical
from tests.unit.console.conftest import Sent
from tests.unit.console.health.health_data import watched
from tests.unit.console.test_pages import load, page
from tests.unit.machines import TANK, home_server, with_pool

FINE = "Everything is OK"


def headline(client: Client) -> str:
    """The heading of Home, without its markup."""
    text = page(client, "/").partition('<h1 class="verdict">')[2].partition("</h1>")[0]
    return " ".join(text.partition("</i>")[2].split())


def statements_of(client: Client) -> int:
    """How many statements of SQL the first page takes."""
    with CaptureQueriesContext(connection) as found:
        page(client, "/")
    return len(found)


def on_host(name: str, inventory: Inventory) -> Node:
    """A healthy host or another one, under this name."""
    return load(replace(inventory, host=replace(inventory.host, node=name)))


def failing(level: Level = Level.CRITICAL) -> StoredDisk:
    """A disk of the typical machine's mirror says of itself that it is failing; the alerts have not looked yet."""
    load(typical())
    disk = StoredDisk.objects.filter(vdev_name="mirror-1").order_by("serial")[0]
    said = Finding(
        "disk-failing" if level is Level.CRITICAL else "too-hot",
        "The disk {disk} reports that it is failing (SMART status FAILED). Replace it as soon as possible.",
        {"disk": disk.label},
        level,
        subject=str(disk.pk),
        step=NextStep.LOOK_AT_DISK,
        place=disk.key,
    )
    StoredDisk.objects.filter(pk=disk.pk).update(finding_documents=[to_document(said)], worst_level=level.value)
    return disk


def test_a_failing_disk_is_the_headline_with_its_place_and_the_way_to_it(viewer: Client) -> None:
    disk = failing()
    assert headline(viewer) == f"1 disk is failing: {disk.model} {disk.serial} in tank, mirror-1"
    text = page(viewer, "/")
    assert f'href="/disks/{disk.key}/">View disk' in text
    assert "reports that it is failing" in text
    assert FINE not in text


def test_a_disk_has_one_row_whatever_is_said_of_it(viewer: Client) -> None:
    disk = failing()
    watch(timezone.now())
    StoredDisk.objects.filter(pk=disk.pk).update(outcome="failed")
    text = page(viewer, "/")
    assert text.count('class="issue ') == 1
    assert "does not respond to health checks" in text


def test_disks_in_trouble_are_read_at_once_however_many(viewer: Client) -> None:
    load(large())
    first = StoredDisk.objects.all()[0]
    StoredDisk.objects.filter(pk=first.pk).update(outcome="failed")
    for_one = statements_of(viewer)
    gone = StoredDisk.objects.exclude(pk=first.pk).values_list("pk", flat=True)[:90]
    StoredDisk.objects.update(outcome="failed")
    StoredDisk.objects.filter(pk__in=list(gone)).update(is_present=False, is_removable=False)
    assert statements_of(viewer) <= for_one


def test_an_open_alert_is_enough_not_to_be_all_right(viewer: Client) -> None:
    disk = failing()
    watch(timezone.now())
    StoredDisk.objects.update(finding_documents=[], worst_level="")
    assert headline(viewer).startswith("1 disk is failing: ")
    assert f"/disks/{disk.key}/" in page(viewer, "/")


@pytest.mark.parametrize("level", [Level.WARNING, Level.CRITICAL])
def test_what_somebody_has_acknowledged_is_a_known_problem_and_not_all_right(viewer: Client, level: Level) -> None:
    failing(level)
    watch(timezone.now())
    for alert in StoredAlert.objects.all():
        take_up(alert, "anna", timezone.now())
    assert headline(viewer) == "Nothing new, 1 known problem"
    assert FINE not in page(viewer, "/")


def test_another_hosts_degraded_pool_shows_while_a_healthy_host_is_chosen(operator: Client) -> None:
    on_host("nas1", typical())
    on_host("nas2", home_server())
    operator.post("/node/", {"node": "nas1"})
    assert headline(operator) == "2 pools need attention: archive on nas2"
    text = page(operator, "/")
    assert "Pool archive is DEGRADED" in text
    assert FINE not in text
    moved = operator.post("/node/", {"node": "nas2", "next": "/storage/"})
    assert moved.headers["Location"] == "/storage/"
    assert operator.post("/node/", {"node": "nas2", "next": "https://elsewhere.example/"}).headers["Location"] == "/"


def test_what_is_of_one_host_names_it_where_there_are_others(operator: Client) -> None:
    on_host("nas1", typical())
    assert "on nas1" not in page(operator, "/")
    on_host("nas2", home_server())
    operator.post("/node/", {"node": "nas1"})
    text = page(operator, "/")
    for part in ("First steps", "Pools"):
        assert re.search(rf">\s*{part}\s*<span\s+class=\"sub\">on nas1</span>", text), part


def test_reading_again_is_of_the_host_that_the_page_is_about(operator: Client, sent: list[Sent]) -> None:
    """A link in a message leads to another host's pool; its button read the one of the session."""
    on_host("nas1", typical())
    on_host("nas2", home_server())
    operator.post("/node/", {"node": "nas1"})
    here = {each.key for each in typical().disks}
    there = next(each.key for each in home_server().disks if each.key not in here)
    for path in (f"/pools/{TANK}/", f"/disks/{there}/"):
        button = re.search(r'name="node" value="([^"]+)"\s+title="Read', page(operator, path))
        assert button, path
        operator.post("/refresh/", {"node": button[1]})
    assert [(each.task, each.queue) for each in sent] == [("host.read_inventory", "host.nas2")] * 2


def test_the_worst_comes_first_wherever_it_is(viewer: Client) -> None:
    on_host("anna", home_server())
    on_host("zoe", with_pool(home_server(), suspended=True))
    assert headline(viewer) == "1 pool is at risk: tank on zoe"


def test_a_silent_host_among_others_is_the_headline(viewer: Client) -> None:
    load(typical())
    load(replace(large(), pools=tuple(pool for pool in large().pools if pool.state == "ONLINE")))
    Node.objects.filter(name="storage-rack-7").update(last_contact=timezone.now() - timedelta(hours=1))
    assert headline(viewer) == "1 host is not reporting: storage-rack-7"
    load(large())
    Node.objects.filter(name="storage-rack-7").update(last_contact=timezone.now() - timedelta(hours=1))
    assert headline(viewer) == "1 pool is at risk: vault on storage-rack-7"


def test_a_host_that_was_never_read_is_not_all_right(viewer: Client) -> None:
    load(typical())
    hosts.store_schema_versions("nas9", own_schema_versions("nas9"), to_document(own_schema_versions("nas9")))
    assert headline(viewer) == "Waiting for the first reading of nas9"


def test_what_changed_since_yesterday_is_said_with_where_there_is_more(viewer: Client) -> None:
    load(typical())
    assert "no changes" in page(viewer, "/").partition('class="since"')[2].partition("</p>")[0]
    failing()
    watch(timezone.now())
    pool, day = typical().pools[0], timezone.localtime().date() - timedelta(days=1)
    used = pool.allocated_bytes - 3 * GIB
    PoolDay.objects.create(node=Node.objects.get(), guid=pool.guid, day=day, allocated_bytes=used, size_bytes=1)
    since = page(viewer, "/").partition('class="since"')[2].partition("</p>")[0]
    assert re.search(r'href="/alerts/">\d new alert', since)
    assert f'href="/pools/{pool.guid}/">{pool.name}: 3 GiB more used' in since


def test_a_pool_that_fills_says_when_it_is_full_and_the_ssd_that_wears_soonest_is_named(viewer: Client) -> None:
    node, pool = load(typical()), typical().pools[0]
    free_bytes = pool.size_bytes - pool.allocated_bytes
    before = timezone.localtime().date() - timedelta(days=20)
    used = pool.allocated_bytes - free_bytes // 10
    PoolDay.objects.create(node=node, guid=pool.guid, day=before, allocated_bytes=used, size_bytes=1)
    ssds = StoredDisk.objects.filter(is_rotational=False)
    ssds.update(percent_used=3, has_forecast=True, worn_out_at=timezone.now() + timedelta(days=900))
    first = ssds[0]
    StoredDisk.objects.filter(pk=first.pk).update(worn_out_at=timezone.now() + timedelta(days=200))
    text = page(viewer, "/")
    full_at = timezone.localtime() + timedelta(days=200)
    assert f"full about {date_format(full_at, 'M Y')}" in text
    assert f'href="/disks/{first.key}/"' in text.partition('class="soonest-worn"')[2].partition("</p>")[0]


def test_disks_that_have_not_said_how_they_are_are_not_said_to_be_well(viewer: Client) -> None:
    load(typical())
    assert re.search(r"\d disks, \d not checked yet", page(viewer, "/"))
    watched(typical(), days=0)
    assert re.search(r"\d disks, no problem", page(viewer, "/"))


def test_all_is_right_only_once_the_first_steps_are_done(viewer: Client) -> None:
    load(typical())
    NodeHealth.objects.update_or_create(node=Node.objects.get(), defaults={"sweep_ended_at": timezone.now()})
    assert headline(viewer) == "Nothing is wrong. 2 things to set up"
    node = on_host("nas2", replace(typical(), disks=()))
    NodeHealth.objects.update_or_create(node=node, defaults={"sweep_ended_at": timezone.now()})
    assert headline(viewer) == "Nothing is wrong. Hosts to set up: nas1, nas2"
    FirstHour.close(timezone.now(), "")
    assert headline(viewer) == FINE


def test_a_host_whose_disks_were_never_asked_is_not_all_right(viewer: Client) -> None:
    load(typical())
    assert headline(viewer) == "The pools are healthy, but the disks have not been checked yet"
    NodeHealth.objects.update_or_create(node=Node.objects.get(), defaults={"sweep_ended_at": timezone.now()})
    FirstHour.close(timezone.now(), "")
    assert headline(viewer) == FINE
    on_host("nas2", replace(typical(), disks=()))
    assert headline(viewer) == "The pools are healthy, but the disks of nas2 have not been checked yet"


def test_many_hosts_are_shown_without_reading_their_inventories(
    viewer: Client, django_assert_max_num_queries: object
) -> None:
    for number in range(12):
        on_host(f"nas{number:02}", home_server())
    with django_assert_max_num_queries(60):  # type: ignore[operator]
        page(viewer, "/")
