"""A disk that something is said of is marked wherever it is shown, with an icon and words."""

import re
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import badges_on
from nasadvisor.console.health.alerts.models import StoredAlert
from nasadvisor.console.health.alerts.watch import take_up, watch
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.storage.inventory import Disk
from tests.fixtures.machines.build import large, typical
from tests.unit.console.health.health_data import watched
from tests.unit.console.home.test_overview import failing
from tests.unit.console.test_pages import load, page


def badges_in(text: str) -> list[str]:
    """The words of the marks, in the order of the page."""
    return [
        " ".join(found.split()) for found in re.findall(r'class="state disk-mark[^>]*>.*?</i>([^<]*)', text, re.DOTALL)
    ]


def test_home_says_in_the_line_of_its_pool_that_a_disk_is_failing(viewer: Client) -> None:
    failing()
    assert "1 disk: Failing" in " ".join(page(viewer, "/").split())


@pytest.mark.parametrize("path", ["/pools/{pool}/", "/disks/", "/disks/{disk}/"])
def test_a_failing_disk_is_marked_in_words_wherever_it_is_shown(viewer: Client, path: str) -> None:
    disk = failing()
    found = badges_in(page(viewer, path.format(pool=typical().pools[0].guid, disk=disk.key)))
    assert found == ["Failing"]


def test_the_drawing_of_a_large_pool_badges_its_leaves_too(viewer: Client) -> None:
    watched(large(), days=0)
    pool = max(large().pools, key=lambda each: sum(1 for tops in each.by_class().values() for _ in tops))
    disk = StoredDisk.objects.filter(pool_name=pool.name, role="data")[0]
    StoredDisk.objects.filter(pk=disk.pk).update(outcome="failed")
    text = page(viewer, f"/pools/{pool.guid}/")
    assert "pool-compact" in text
    assert "No response" in badges_in(text)


def test_a_disk_that_was_not_asked_is_not_called_all_right(viewer: Client) -> None:
    load(typical())
    drawing = f"/pools/{typical().pools[0].guid}/"
    assert "leaf-well" not in page(viewer, drawing)
    assert "no problem" not in page(viewer, "/")
    watched(typical(), days=0)
    assert 'aria-label="Healthy"' in page(viewer, drawing)
    assert "no problem" in page(viewer, "/")


def test_the_kept_list_of_disks_follows_the_marks(viewer: Client) -> None:
    load(typical())
    assert badges_in(page(viewer, "/disks/")) == []
    disk = failing()
    assert badges_in(page(viewer, "/disks/")) == ["Failing"]
    StoredDisk.objects.filter(pk=disk.pk).update(finding_documents=[], worst_level="")
    assert badges_in(page(viewer, "/disks/")) == []


def test_an_alert_that_says_what_stands_above_is_not_said_twice(viewer: Client) -> None:
    disk = failing()
    watch(timezone.now())
    said = "reports that it is failing"
    text = page(viewer, f"/disks/{disk.key}/").partition('<div class="notices">')[2]
    assert text.count(said) == 1
    assert "Only the findings above." in text
    take_up(StoredAlert.objects.get(subject=str(disk.pk)), "anna", timezone.now())
    text = page(viewer, f"/disks/{disk.key}/").partition('<div class="notices">')[2]
    assert text.count(said) == 2, "that somebody has taken it up stands nowhere else"


def test_a_failing_hard_disk_is_first_in_the_list_as_it_comes(viewer: Client) -> None:
    watched(typical())
    disk = failing()
    assert disk.is_rotational
    text = page(viewer, "/disks/")
    assert text.index(disk.serial) < text.index("S6Z1NJ0W401234")


def test_a_disk_that_is_gone_is_marked_and_one_that_was_taken_out_is_not() -> None:
    load(typical())
    key = typical().disks[0].key
    load(replace(typical(), disks=typical().disks[1:], read_at=timezone.now().isoformat()))
    assert badges_on(Node.objects.get()).unwell[key].worst.code == "disk-gone"
    StoredDisk.objects.filter(key=key).update(is_forgotten=True)
    assert key not in badges_on(Node.objects.get()).unwell


@pytest.fixture
def degraded() -> Disk:
    """A disk of the pool is gone; the pool knows only the path at which it was."""
    load(typical())
    pool = typical().pools[0]
    mirror = pool.data[0]
    leaf = replace(mirror.children[0], state="UNAVAIL")
    broken = replace(
        pool, state="DEGRADED", data=(replace(mirror, children=(leaf, mirror.children[1])), *pool.data[1:])
    )
    gone = next(disk for disk in typical().disks if any(part.path == leaf.path for part in disk.partitions))
    left = tuple(disk for disk in typical().disks if disk != gone)
    load(replace(typical(), disks=left, pools=(broken,), read_at=timezone.now().isoformat()))
    return gone


def test_a_disk_that_is_gone_is_named_by_what_is_printed_on_it(viewer: Client, degraded: Disk) -> None:
    said = f"is DEGRADED: {degraded.label} UNAVAIL."
    assert said in page(viewer, "/")
    text = page(viewer, f"/pools/{typical().pools[0].guid}/")
    assert said in text
    drawn = text[text.index('class="pool ') :]
    assert re.search(rf'<a href="/disks/{degraded.key}/">\s*{re.escape(degraded.label)}</a>', drawn)


def test_an_alert_names_the_disk_that_is_gone(degraded: Disk) -> None:
    watch(timezone.now())
    alert = StoredAlert.objects.get(code="pool-not-online")
    assert alert.finding
    assert degraded.label in str(alert.finding.values["devices"])


def test_the_page_of_a_disk_leads_to_its_leaf_in_the_pool(viewer: Client) -> None:
    load(typical())
    pool = typical().pools[0]
    leaf = pool.data[1].children[0]
    disk = next(disk for disk in typical().disks if any(part.path == leaf.path for part in disk.partitions))
    assert f'href="/pools/{pool.guid}/#leaf-{leaf.guid}"' in page(viewer, f"/disks/{disk.key}/")
    assert page(viewer, f"/pools/{pool.guid}/").count(f'id="leaf-{leaf.guid}"') == 1
    assert 'id="leaf-' not in page(viewer, "/")
