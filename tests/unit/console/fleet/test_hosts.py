"""What is asked of hosts, and what happens when nobody can be asked."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from kombu import Connection

from nasadvisor.console.change.models import StoredPlan, StoredRun
from nasadvisor.console.change.runs import orders
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.fleet.questions import FINISH, UNDO
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.console.people import person
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for


@pytest.fixture
def plan() -> StoredPlan:
    take_answer("nas", "inventory", to_document(home_server()))
    node = Node.objects.get(name="nas")
    made = plan_for(MIRROR_AND_CACHES, home_server())
    return StoredPlan.objects.create(id=made.id, node=node, document=to_document(made))


def test_it_sends_a_plan_to_the_queue_of_its_node_with_an_expiry(plan: StoredPlan, sent: list[Sent]) -> None:
    orders.apply_plan(plan, person("olga"))
    assert sent == [Sent("host.apply", [plan.document, 0, "olga"], "host.nas", 120)]


def test_it_sends_a_plan_once(plan: StoredPlan, sent: list[Sent]) -> None:
    orders.apply_plan(plan, person("olga"))
    with pytest.raises(orders.PlanAlreadyRan):
        orders.apply_plan(plan, person("olga"))
    assert len(sent) == 1


def test_it_sends_undo_and_finish_with_who_asked(plan: StoredPlan, sent: list[Sent]) -> None:
    run = orders.apply_plan(plan, person("olga"))
    orders.order(run, UNDO, person("omar"))
    orders.order(run, FINISH, person("omar"))
    assert [(each.task, each.args, each.expires) for each in sent[1:]] == [
        ("host.undo", [str(run.id), "omar"], 120),
        ("host.finish", [str(run.id), "omar"], 120),
    ]


@pytest.mark.usefixtures("no_redis")
def test_it_says_in_a_sentence_that_the_message_service_is_away(plan: StoredPlan) -> None:
    with pytest.raises(hosts.HostUnreachable, match="did not reach nas and nothing was changed"):
        orders.apply_plan(plan, person("olga"))


@pytest.mark.usefixtures("no_redis")
def test_it_remembers_no_run_that_could_not_be_asked_for(plan: StoredPlan) -> None:
    with pytest.raises(hosts.HostUnreachable):
        orders.apply_plan(plan, person("olga"))
    assert not StoredRun.objects.exists()


@pytest.mark.usefixtures("no_redis", "plan")
def test_it_shows_the_sentence_on_the_page_when_refreshing_fails(viewer: Client) -> None:
    page = viewer.post("/refresh/", follow=True).content.decode()
    assert "The message service (Redis) is not responding" in page


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


def test_it_asks_every_node_once_a_minute(sent: list[Sent]) -> None:
    Node.objects.create(name="nas1")
    Node.objects.create(name="nas2")
    Node.objects.create(name="recorded", is_simulated=True)
    tasks.refresh_inventories()
    assert [each.queue for each in sent] == ["host.nas1", "host.nas2", "host.recorded"]


@pytest.fixture
def full_queue() -> Iterator[None]:
    """Nobody has fetched anything for nas1 for long."""
    with Connection("memory://") as connection:
        queue = connection.SimpleQueue("host.nas1")
        for number in range(hosts.WAITING_AT_MOST):
            queue.put(number)
        yield
        queue.clear()


@pytest.mark.usefixtures("full_queue")
class TestANodeThatStaysAway:
    def test_it_is_not_asked_to_look_any_more_and_the_others_are(self, sent: list[Sent]) -> None:
        Node.objects.create(name="nas1")
        Node.objects.create(name="nas2")
        tasks.refresh_inventories()
        assert [each.queue for each in sent] == ["host.nas2"]

    def test_it_is_asked_again_once_it_has_emptied_its_queue(self, sent: list[Sent]) -> None:
        node = Node.objects.create(name="nas1")
        hosts.drop_requests(node)
        tasks.refresh_inventories()
        assert [each.queue for each in sent] == ["host.nas1"]

    def test_its_unfinished_runs_are_not_asked_for_either(self, sent: list[Sent], plan: StoredPlan) -> None:
        run = orders.apply_plan(plan, person("olga"))
        Node.objects.update(name="nas1")
        StoredRun.objects.filter(pk=run.pk).update(state="interrupted", seq=3, pending="")
        tasks.follow_runs()
        assert [each.task for each in sent] == ["host.apply"]

    def test_the_page_says_that_it_takes_up_nothing(self, viewer: Client) -> None:
        Node.objects.create(name="nas1")
        page = viewer.post("/refresh/", follow=True).content.decode()
        assert "nas1 has not responded to requests for a while" in page


class TestForgetting:
    @pytest.fixture
    def gone(self, plan: StoredPlan) -> Node:
        """A host with a plan and a run that was last heard of long ago."""
        orders.apply_plan(plan, person("olga"))
        Node.objects.update(last_contact=timezone.now() - timedelta(days=30))
        return Node.objects.get()

    def test_it_removes_a_host_that_is_gone_with_its_plans_and_runs(self, operator: Client, gone: Node) -> None:
        page = operator.get("/settings/hosts/nas/forget/").content.decode()
        assert "the history of its 1 run are deleted" in page
        operator.post("/settings/hosts/nas/forget/", {"password": PASSWORD})
        assert not Node.objects.exists()
        assert not StoredPlan.objects.exists()
        assert not StoredRun.objects.exists()

    def test_it_takes_back_what_waits_for_it(self, operator: Client, gone: Node) -> None:
        with Connection("memory://") as connection:
            connection.SimpleQueue("host.nas").put("an old request")
            operator.post("/settings/hosts/nas/forget/", {"password": PASSWORD})
            assert hosts.waiting_in(connection, "host.nas") == 0

    @pytest.mark.parametrize("posted", [{}, {"password": "wrong"}])
    def test_it_asks_for_the_password(self, operator: Client, gone: Node, posted: dict[str, str]) -> None:
        assert operator.post("/settings/hosts/nas/forget/", posted).status_code == 200
        assert Node.objects.exists()

    def test_it_takes_no_foreign_fields(self, operator: Client, gone: Node) -> None:
        posted = {"password": PASSWORD, "force": "1"}
        assert operator.post("/settings/hosts/nas/forget/", posted).status_code == 400
        assert Node.objects.exists()

    def test_a_viewer_cannot(self, viewer: Client, gone: Node) -> None:
        assert viewer.post("/settings/hosts/nas/forget/", {"password": PASSWORD}).status_code == 403
        assert Node.objects.exists()
        assert "/forget/" not in viewer.get("/settings/").content.decode()

    @pytest.mark.usefixtures("plan")
    def test_a_host_that_answers_is_not_forgotten(self, operator: Client) -> None:
        page = operator.post("/settings/hosts/nas/forget/", {"password": PASSWORD}, follow=True).content.decode()
        assert "nas is still reporting" in page
        assert Node.objects.exists()
        assert "/forget/" not in page

    def test_the_settings_lead_to_it(self, operator: Client, gone: Node) -> None:
        assert "/settings/hosts/nas/forget/" in operator.get("/settings/").content.decode()

    def test_a_host_that_starts_again_comes_back(self, operator: Client, gone: Node) -> None:
        operator.post("/settings/hosts/nas/forget/", {"password": PASSWORD})
        take_answer("nas", "inventory", to_document(home_server()))
        assert Node.objects.get().inventory == home_server()

    def test_without_the_message_service_nothing_is_removed(self, operator: Client, gone: Node, no_redis: None) -> None:
        page = operator.post("/settings/hosts/nas/forget/", {"password": PASSWORD}).content.decode()
        assert "The message service (Redis) is not responding" in page
        assert Node.objects.exists()
