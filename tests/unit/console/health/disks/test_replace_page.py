"""The page from which somebody replaces a disk: it prints, and there is nothing on it to press."""

import re

from django.test import Client
from django.urls import reverse

from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.fleet.platforms import Platform, PlatformReport
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document
from tests.unit.console.test_pages import load, page
from tests.unit.domain.health.replacement.rack import READ_AT, disk, group, leaf, pool, rack


def with_rack(state: str = "FAULTED") -> Inventory:
    return rack(pool(group("mirror", leaf(1, state), leaf(2))), disk(9))


def test_it_says_which_disk_whether_now_and_what_to_type(viewer: Client) -> None:
    load(with_rack())
    shown = page(viewer, reverse("replace", args=["1001"]))
    assert f"zpool replace -o ashift=12 tank 1001 {disk(9).path}" in shown
    assert "ZM0001" in shown
    assert f"ledctl locate={disk(1).path}" in shown
    assert "Do not type" in shown
    main = shown.partition("<main")[2].partition("</main")[0]
    assert not re.search(r"<form|type=.submit", main), "nothing of this is ever run from here"


def test_a_healthy_disk_is_said_to_be_healthy(viewer: Client) -> None:
    load(with_rack("ONLINE"))
    assert "Nothing speaks against this disk." in page(viewer, reverse("replace", args=["1001"]))


def test_the_page_of_a_disk_and_the_steps_for_a_finding_lead_to_it(viewer: Client) -> None:
    machine = with_rack()
    load(machine)
    address = reverse("replace", args=["1001"])
    assert f'href="{address}"' in page(viewer, reverse("disk", args=[disk(1).key]))
    steps = page(
        viewer, f"{reverse('procedure', args=['which-disk'])}?code=pool-not-online&about={machine.pools[0].guid}"
    )
    assert f'href="{address}"' in steps
    assert reverse("replace", args=["1002"]) not in steps


def test_what_no_pool_has_is_not_found(viewer: Client) -> None:
    load(with_rack())
    assert viewer.get(reverse("replace", args=["4711"])).status_code == 404


def test_on_truenas_the_commands_of_openzfs_are_not_shown(viewer: Client) -> None:
    node = load(with_rack())
    report = PlatformReport(node.name, READ_AT, (Platform("TrueNAS", "25.10"),))
    Node.objects.filter(pk=node.pk).update(platform_document=to_document(report))
    shown = page(viewer, reverse("replace", args=["1001"]))
    assert "midclt call --job pool.replace" in shown
    assert "zpool replace -o" not in shown


def test_it_is_in_the_readers_language(viewer: Client) -> None:
    load(with_rack())
    german = viewer.get(reverse("replace", args=["1001"]), headers={"accept-language": "de"}).content.decode()
    assert "Eine Platte ersetzen" in german
    assert "Was zu tippen ist" in german
