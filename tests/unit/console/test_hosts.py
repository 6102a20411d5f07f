"""What is asked of hosts, and what happens when nobody can be asked."""

import pytest
from django.test import Client

from nasadvisor.console import hosts, records, tasks
from nasadvisor.console.models import Node, StoredPlan, StoredRun
from nasadvisor.documents import to_document
from tests.unit.console.conftest import Sent
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for


@pytest.fixture
def plan() -> StoredPlan:
    node = records.store_inventory("nas", to_document(home_server()))
    made = plan_for(MIRROR_AND_CACHES, home_server())
    return StoredPlan.objects.create(id=made.id, node=node, document=to_document(made))


def test_it_sends_a_plan_to_the_queue_of_its_node_with_an_expiry(plan: StoredPlan, sent: list[Sent]) -> None:
    hosts.apply_plan(plan, "olga")
    assert sent == [Sent("host.apply", [plan.document, "olga"], "host.nas", 120)]


def test_it_sends_a_plan_once(plan: StoredPlan, sent: list[Sent]) -> None:
    hosts.apply_plan(plan, "olga")
    with pytest.raises(hosts.PlanAlreadyRan):
        hosts.apply_plan(plan, "olga")
    assert len(sent) == 1


def test_it_sends_undo_and_finish_with_who_asked(plan: StoredPlan, sent: list[Sent]) -> None:
    run = hosts.apply_plan(plan, "olga")
    hosts.undo_run(run, "omar")
    hosts.finish_run(run, "omar")
    assert [(each.task, each.args, each.expires) for each in sent[1:]] == [
        ("host.undo", [str(run.id), "omar"], 120),
        ("host.finish", [str(run.id), "omar"], 120),
    ]


@pytest.mark.usefixtures("no_redis")
def test_it_says_in_a_sentence_that_the_message_service_is_away(plan: StoredPlan) -> None:
    with pytest.raises(hosts.HostUnreachable, match="did not reach nas and nothing was changed"):
        hosts.apply_plan(plan, "olga")


@pytest.mark.usefixtures("no_redis")
def test_it_remembers_no_run_that_could_not_be_asked_for(plan: StoredPlan) -> None:
    with pytest.raises(hosts.HostUnreachable):
        hosts.apply_plan(plan, "olga")
    assert not StoredRun.objects.exists()


@pytest.mark.usefixtures("no_redis", "plan")
def test_it_shows_the_sentence_on_the_page_when_refreshing_fails(viewer: Client) -> None:
    page = viewer.post("/refresh/", follow=True).content.decode()
    assert "The message service (Redis) does not answer" in page


@pytest.mark.usefixtures("plan")
def test_it_asks_the_node_to_read_itself_again(viewer: Client, sent: list[Sent]) -> None:
    viewer.post("/refresh/")
    assert [(each.task, each.queue) for each in sent] == [("host.read_inventory", "host.nas")]


@pytest.mark.usefixtures("plan")
def test_it_goes_back_after_a_refresh_only_to_pages_of_ours(viewer: Client) -> None:
    ours = viewer.post("/refresh/", headers={"referer": "http://testserver/disks/"})
    other = viewer.post("/refresh/", headers={"referer": "http://evil.example/"})
    assert ours.headers["Location"] == "http://testserver/disks/"
    assert other.headers["Location"] == "/"


def test_it_asks_every_real_node_once_a_minute(sent: list[Sent]) -> None:
    Node.objects.create(name="nas1")
    Node.objects.create(name="nas2")
    Node.objects.create(name="recorded", is_simulated=True)
    tasks.refresh_inventories()
    assert [each.queue for each in sent] == ["host.nas1", "host.nas2"]
