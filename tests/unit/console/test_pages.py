"""The pages on machines of every size and in every trouble."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.roles import UserRole
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import FirstHour
from nasadvisor.console.health.models import NodeHealth
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from nasadvisor.stored.documents import from_json, to_document, to_json
from nasadvisor.stored.kinds import own_schema_versions
from tests.fixtures.machines.build import large, typical
from tests.unit.console.conftest import sign_in
from tests.unit.machines import ARCHIVE, NVME1, TANK, home_server, with_disk, with_pool, with_single_log

MACHINES = Path(__file__).parents[2] / "fixtures" / "machines"
PATHS = ["/", "/storage/", "/disks/", "/settings/"]


def load(inventory: Inventory) -> Node:
    now = timezone.now().isoformat(timespec="seconds")
    hosts.store_schema_versions(
        inventory.host.node,
        own_schema_versions(inventory.host.node),
        to_document(own_schema_versions(inventory.host.node)),
    )
    take_answer(inventory.host.node, "inventory", to_document(replace(inventory, read_at=now)))
    return Node.objects.get(name=inventory.host.node)


def page(client: Client, path: str) -> str:
    """The page's HTML, with white space as a browser shows it: where a line of a template ends says nothing."""
    response = client.get(path)
    assert response.status_code == 200, path
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("path", PATHS)
def test_it_shows_every_page_before_any_host_has_reported(viewer: Client, path: str) -> None:
    assert "reported yet" in page(viewer, path)


@pytest.mark.parametrize("path", ["/", "/storage/", "/disks/"])
def test_it_shows_every_page_of_a_host_that_was_not_read_yet(viewer: Client, path: str) -> None:
    Node.objects.create(name="nas")
    assert "Not read yet" in page(viewer, path)


@pytest.mark.parametrize("path", PATHS)
def test_it_shows_every_page_of_a_host_without_disks_and_pools(viewer: Client, path: str) -> None:
    load(replace(home_server(), disks=(), pools=()))
    page(viewer, path)


@pytest.mark.parametrize("path", PATHS)
def test_it_shows_every_page_of_a_host_with_one_disk(viewer: Client, path: str) -> None:
    load(replace(home_server(), disks=home_server().disks[:1], pools=()))
    page(viewer, path)


@pytest.mark.parametrize("path", [*PATHS, "/pools/4242424242424242424/"])
def test_it_shows_every_page_of_a_host_with_200_disks(viewer: Client, path: str) -> None:
    load(large())
    page(viewer, path)


def test_it_says_that_everything_is_all_right_when_it_is(viewer: Client) -> None:
    node = load(typical())
    NodeHealth.objects.update_or_create(node=node, defaults={"sweep_ended_at": timezone.now()})
    FirstHour.close(timezone.now(), "")
    assert "Everything is OK" in page(viewer, "/")


def test_it_says_what_is_wrong_with_a_pool(viewer: Client) -> None:
    load(home_server())
    text = page(viewer, "/")
    assert "Everything is OK" not in text
    assert "Pool archive is DEGRADED" in text


def test_it_says_that_a_host_has_fallen_silent(viewer: Client) -> None:
    load(typical())
    Node.objects.update(last_contact=timezone.now() - timedelta(minutes=10))
    text = page(viewer, "/")
    assert "has not reported for a while" in text
    assert "This data may be out of date" in text


def test_it_says_that_a_reading_is_old_although_the_host_answers(viewer: Client) -> None:
    load(typical())
    Node.objects.update(inventory_read_at=timezone.now() - timedelta(minutes=10))
    text = page(viewer, "/")
    assert "its last reading is old" in text
    assert "Everything is OK" not in text


def test_it_says_why_a_host_could_not_read_itself(viewer: Client) -> None:
    load(typical())
    reason = Statement("tool-missing", "The program {tool} is not installed.", {"tool": "zpool"})
    take_error("nas1", "read_inventory", "", to_document(reason))
    assert "nas1 could not read its own disks and pools: The program zpool is not installed." in page(viewer, "/")


def test_it_draws_a_pool_with_its_log(viewer: Client) -> None:
    load(with_single_log())
    text = page(viewer, f"/pools/{TANK}/")
    assert "mirror-0" in text
    assert "slice 1" in text


def test_it_draws_a_pool_whose_disk_it_cannot_find(viewer: Client) -> None:
    load(replace(home_server(), disks=()))
    assert "mirror-0" in page(viewer, f"/pools/{TANK}/")


def test_it_says_on_the_pool_page_why_nothing_can_be_added(operator: Client) -> None:
    load(with_pool(home_server(), checkpoint="1.2G"))
    assert "has a checkpoint" in page(operator, f"/pools/{TANK}/")


@pytest.mark.parametrize(
    "path", [f"/pools/{TANK}/", f"/pools/{TANK}/history/", f"/pools/{TANK}/evidence/", "/storage/"]
)
def test_it_offers_nothing_that_would_be_refused(operator: Client, path: str) -> None:
    load(home_server())
    assert f"/wizard/{TANK}/" in page(operator, path)
    load(with_pool(home_server(), checkpoint="1.2G"))
    assert f"/wizard/{TANK}/" not in page(operator, path)


def test_it_leads_nobody_with_a_free_disk_to_pools_that_take_nothing(operator: Client) -> None:
    node = load(home_server())
    assert "Add log or cache" in page(operator, "/")
    assert "Free SSDs" not in page(operator, "/"), "they matter where something would help"
    SampledPool.objects.create(node=node, guid=TANK, name="tank", log_answer="helps", cache_answer="no")
    assert "Free SSDs" in page(operator, "/")
    assert "Use it" in page(operator, "/disks/")
    load(replace(home_server(), pools=tuple(replace(each, checkpoint="1.2G") for each in home_server().pools)))
    assert "Add log or cache" not in page(operator, "/")
    assert "Use it" not in page(operator, "/disks/")


def test_it_offers_a_cache_where_only_a_log_would_be_refused(operator: Client) -> None:
    load(with_pool(home_server(), features=()))
    assert "Add log or cache" in page(operator, f"/pools/{TANK}/")


def test_it_offers_viewers_no_button_that_changes_something(viewer: Client) -> None:
    load(typical())
    for path in ("/", "/storage/", "/disks/", f"/pools/{typical().pools[0].guid}/"):
        assert "Add log or cache" not in page(viewer, path)


def test_it_offers_operators_a_log_or_cache(operator: Client) -> None:
    load(typical())
    assert "Add log or cache" in page(operator, f"/pools/{typical().pools[0].guid}/")


def test_it_gives_the_reason_against_each_disk_that_cannot_be_used(viewer: Client) -> None:
    load(typical())
    text = page(viewer, "/disks/")
    assert "it has the label of pool backup" in text
    assert "it is mounted at /srv/scratch" in text
    assert "this host boots from it" in text


@pytest.mark.parametrize("disk", home_server().disks, ids=lambda disk: disk.key)
def test_it_has_a_page_for_each_disk(viewer: Client, disk: object) -> None:
    load(home_server())
    page(viewer, f"/disks/{disk.key}/")  # type: ignore[attr-defined]


def test_it_has_a_page_for_a_disk_with_an_odd_identity(viewer: Client) -> None:
    odd = DiskIdentity('Böse "Disk" <b>', "a/b ?#%\u202e", "", 500 * 10**9, 512, 512)
    load(with_disk(home_server(), NVME1, identity=odd))
    text = page(viewer, "/disks/")
    assert "<b>" not in text
    assert "Persistent names" in page(viewer, f"/disks/{quote(odd.key, safe='')}/")


@pytest.mark.parametrize(
    ("size_bytes", "place", "hold"),
    [
        (0, "", Hold(HoldKind.NO_SIZE, "/dev/nvme0n1")),
        (500 * 10**9, "pci-0000:00:14.0-usb-0:3:1.0-scsi-0:0:0:1", Hold(HoldKind.DUPLICATE, "sdx")),
    ],
)
def test_a_disk_that_linux_gives_no_size_and_one_with_a_twin_have_their_pages(
    viewer: Client, size_bytes: int, place: str, hold: Hold
) -> None:
    disk = next(disk for disk in home_server().disks if disk.key == NVME1)
    odd = replace(disk, identity=replace(disk.identity, size_bytes=size_bytes), place=place, holds=(hold,))
    load(with_disk(home_server(), NVME1, identity=odd.identity, place=place, holds=odd.holds, usable_end_bytes=0))
    assert "cannot be used" in page(viewer, f"/disks/{quote(odd.key, safe='')}/")
    for path in ("/", "/storage/", "/disks/", f"/wizard/{TANK}/devices/"):
        assert viewer.get(path).status_code in (200, 302, 403)


@pytest.mark.parametrize("path", ["/pools/1/", "/disks/nothing/", f"/pools/{ARCHIVE}x/", "/no/such/page/"])
def test_it_says_in_a_sentence_that_there_is_no_such_page(viewer: Client, path: str) -> None:
    load(home_server())
    response = viewer.get(path)
    assert response.status_code == 404
    assert "This page does not exist" in response.content.decode()


def test_it_forbids_the_browser_everything_that_is_not_ours(viewer: Client) -> None:
    policy = viewer.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", [*PATHS, f"/pools/{TANK}/", f"/disks/{NVME1}/"])
def test_it_uses_nothing_that_the_policy_forbids(admin: Client, path: str) -> None:
    load(home_server())
    text = page(admin, path)
    assert " style=" not in text
    assert "<style" not in text
    assert "<script>" not in text
    assert " onclick=" not in text
    assert "https://" not in text


def test_it_speaks_to_one_node_at_a_time(viewer: Client) -> None:
    load(typical())
    load(large())
    assert "vault" not in page(viewer, "/storage/")
    viewer.post("/node/", {"node": "storage-rack-7"})
    assert "vault" in page(viewer, "/storage/")


def test_it_marks_a_simulated_host_on_every_page(viewer: Client) -> None:
    call_command("load_machine", str(MACHINES / "typical.json"))
    for path in PATHS:
        assert "Simulated host" in page(viewer, path)


def test_it_refuses_to_load_a_machine_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(CommandError, match="cannot be loaded"):
        call_command("load_machine", str(tmp_path / "no.json"))


@pytest.mark.parametrize(("name", "built"), [("typical", typical()), ("large", large())])
def test_it_has_the_recorded_machines_as_they_are_built(name: str, built: Inventory) -> None:
    text = (MACHINES / f"{name}.json").read_text()
    assert from_json(Inventory, text) == built
    assert text == to_json(built) + "\n"


def test_the_rows_of_the_disks_page_are_those_of_the_reader_and_of_the_last_reading(client: Client) -> None:
    load(home_server())
    sign_in(client, UserRole.OPERATOR)
    assert "Use it" in page(client, "/disks/")
    sign_in(client, UserRole.VIEWER)
    assert "Use it" not in page(client, "/disks/")
    client.cookies.load({"nasadvisor_language": "de"})
    assert "Frei" in page(client, "/disks/")
    load(replace(home_server(), disks=()))
    assert "Frei" not in page(client, "/disks/")
