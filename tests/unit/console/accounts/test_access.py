"""What other programs get: metrics, the JSON interface, reports; and the tokens that let them in."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import weasyprint  # noqa: F401 - when it is loaded it runs ldconfig, and in a test that would fail
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from prometheus_client.parser import text_string_to_metric_families
from weasyprint.urls import URLFetcher

from nasadvisor.console.accounts.models import ApiToken, new_token
from nasadvisor.console.celery_app import app
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts import senders
from nasadvisor.console.health.alerts.models import Channel, ReportDelivery, StoredAlert, StoredReport
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.reports import monthly, reports
from nasadvisor.console.secrets import encrypt
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.console.worker.tasks import monthly_report, send_reports
from nasadvisor.domain.evidence.options import PoolWaiting, Waits
from nasadvisor.domain.evidence.waited import Wait
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import large, typical
from tests.unit.console.conftest import Sent
from tests.unit.console.health.health_data import disk_of, watched
from tests.unit.console.test_pages import page

WORN = "S6Z1NJ0W401234"
DOCS = Path(__file__).parents[4] / "docs" / "monitoring"
PROMTOOL = Path("/usr/bin/promtool")


def token(may_acknowledge: bool = False) -> dict[str, str]:
    """The header of a program that has a token."""
    text = new_token()
    maker, _made = User.objects.get_or_create(username="maker", is_superuser=True)
    ApiToken.objects.create(
        name="grafana", digest=ApiToken.digest_of(text), may_acknowledge=may_acknowledge, created_by=maker
    )
    return {"Authorization": f"Bearer {text}"}


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/disks", "/api/v1/openapi.json", "/api/v1/alerts"])
@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eDp5"}])
def test_without_a_token_there_is_nothing(client: Client, path: str, header: dict[str, str]) -> None:
    watched(typical(), days=0)
    response = client.get(path, headers=header)
    assert response.status_code == 401
    assert b"Samsung" not in response.content


def test_being_signed_in_is_no_token(viewer: Client) -> None:
    assert viewer.get("/api/v1/disks").status_code == 401


def metrics(client: Client) -> dict[str, list[tuple[dict[str, str], float]]]:
    response = client.get("/metrics", headers=token())
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in families:
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_metrics_say_what_the_pages_say(client: Client) -> None:
    watched(typical())
    found = metrics(client)
    used = {labels["serial"]: value for labels, value in found["nasadvisor_disk_percent_used"]}
    assert used[WORN] == disk_of(WORN).percent_used == 92
    bounds = {
        labels["bound"]: value
        for labels, value in found["nasadvisor_disk_rated_endurance_exhausted_timestamp_seconds"]
        if labels["serial"] == WORN
    }
    assert bounds["earliest"] < bounds["expected"] < bounds["latest"]
    assert found["nasadvisor_pool_online"] == [({"node": "nas1", "pool": "tank", "guid": typical().pools[0].guid}, 1.0)]
    assert sum(value for _, value in found["nasadvisor_alerts"]) == StoredAlert.objects.count()


def keep_waiting() -> None:
    kept = to_document(PoolWaiting(Waits(Wait(10, 20, 40), Wait(1, 2, 4)), None, None))
    SampledPool.objects.create(node=Node.objects.get(), guid="9", name="tank", waiting_document=kept)


def test_metrics_say_how_long_programs_wait_in_a_day(client: Client) -> None:
    watched(typical())
    keep_waiting()
    found = metrics(client)["nasadvisor_pool_waiting_seconds_per_day"]
    assert [(labels["pool"], labels["cause"], seconds) for labels, seconds in found] == [
        ("tank", "commits", 20),
        ("tank", "reads", 2),
    ]


def test_metrics_of_an_empty_console(client: Client) -> None:
    assert "nasadvisor_build_info" in metrics(client)


@pytest.mark.parametrize("name", ["prometheus-rules.yml", "grafana-dashboard.json"])
def test_the_examples_ask_for_metrics_that_there_are(client: Client, name: str) -> None:
    watched(typical())
    keep_waiting()
    known = set(metrics(client))
    asked = set(re.findall(r"nasadvisor_\w+", (DOCS / name).read_text()))
    assert asked
    assert asked <= known


def test_the_example_dashboard_is_json() -> None:
    assert len(json.loads((DOCS / "grafana-dashboard.json").read_text())["panels"]) == 9


@pytest.mark.skipif(not PROMTOOL.exists(), reason="promtool is not installed (Debian package prometheus)")
def test_promtool_accepts_the_example_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # promtool may run, unlike everything else
    checked = subprocess.run(
        [PROMTOOL, "check", "rules", DOCS / "prometheus-rules.yml"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "9 rules found" in checked.stdout


def test_the_interface_describes_itself(client: Client) -> None:
    described = client.get("/api/v1/openapi.json", headers=token()).json()
    assert set(described["paths"]) == {
        "/api/v1/nodes",
        "/api/v1/pools",
        "/api/v1/disks",
        "/api/v1/disks/{disk_id}/readings",
        "/api/v1/disks/{disk_id}/wear",
        "/api/v1/written",
        "/api/v1/alerts",
        "/api/v1/alerts/{alert_id}/acknowledge",
    }
    writing = [path for path, verbs in described["paths"].items() if set(verbs) - {"get"}]
    assert writing == ["/api/v1/alerts/{alert_id}/acknowledge"]


@pytest.mark.parametrize(
    ("method", "path", "place", "status"),
    [
        ("get", "/api/v1/disks", "/api/v1/disks", 200),
        ("get", "/api/v1/disks/4242/readings", "/api/v1/disks/{disk_id}/readings", 404),
        ("get", "/api/v1/disks/1/readings?since=yesterday", "/api/v1/disks/{disk_id}/readings", 422),
        ("get", "/api/v1/disks/4242/wear", "/api/v1/disks/{disk_id}/wear", 404),
        ("get", "/api/v1/disks/x/readings", "/api/v1/disks/{disk_id}/readings", 422),
        ("post", "/api/v1/alerts/1/acknowledge", "/api/v1/alerts/{alert_id}/acknowledge", 403),
    ],
)
def test_each_answer_is_one_that_the_description_has(
    client: Client, method: str, path: str, place: str, status: int
) -> None:
    described = client.get("/api/v1/openapi.json", headers=token()).json()["paths"]
    answer = getattr(client, method)(path, headers=token())
    assert answer.status_code == status
    assert str(status) in described[place][method]["responses"]
    assert getattr(client, method)(path).status_code == 401
    assert all("401" in verb["responses"] for verbs in described.values() for verb in verbs.values())


def test_the_interface_gives_disks_with_their_forecast(client: Client) -> None:
    watched(typical())
    found = client.get("/api/v1/disks?node=nas1", headers=token()).json()
    worn = next(disk for disk in found if disk["serial"] == WORN)
    assert (worn["percent_used"], worn["node"], worn["has_forecast"]) == (92, "nas1", True)
    assert client.get("/api/v1/disks?node=nas2", headers=token()).json() == []


def test_the_interface_gives_readings_since_a_day(client: Client) -> None:
    watched(typical())
    path = f"/api/v1/disks/{disk_of(WORN).pk}/readings"
    assert len(client.get(path, headers=token()).json()) == 13
    since = (timezone.now() - timedelta(days=35)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert len(client.get(path, {"since": since}, headers=token()).json()) == 4
    assert client.get("/api/v1/disks/4242/readings", headers=token()).status_code == 404


def test_the_interface_gives_hosts_and_pools(client: Client) -> None:
    watched(typical())
    assert [node["name"] for node in client.get("/api/v1/nodes", headers=token()).json()] == ["nas1"]
    assert [pool["name"] for pool in client.get("/api/v1/pools", headers=token()).json()] == ["tank"]


def test_an_alert_has_the_address_of_what_its_code_means(client: Client) -> None:
    watched(typical())
    found = client.get("/api/v1/alerts", headers=token()).json()
    assert found
    assert [alert["explain"] for alert in found] == [f"/explain/{alert['code']}/" for alert in found]


def test_a_token_takes_alerts_up_only_if_it_may(client: Client) -> None:
    watched(typical())
    [first, *_] = client.get("/api/v1/alerts", headers=token()).json()
    path = f"/api/v1/alerts/{first['id']}/acknowledge"
    assert client.post(path, headers=token()).status_code == 403
    answer = client.post(path, headers=token(may_acknowledge=True)).json()
    assert (answer["state"], answer["acknowledged_by"]) == ("acknowledged", "grafana (token)")


def test_a_token_is_shown_once_and_kept_as_a_hash(admin: Client) -> None:
    text = admin.post("/settings/tokens/add/", {"name": "grafana"}).content.decode()
    [shown] = re.findall(r"nasadvisor_[\w-]{43}", text)
    assert "nasadvisor_" not in page(admin, "/settings/tokens/")
    row = ApiToken.objects.get()
    assert shown not in row.digest
    assert ApiToken.of(shown) == row
    admin.post(f"/settings/tokens/{row.pk}/delete/")
    assert ApiToken.of(shown) is None


def test_a_token_of_somebody_who_was_locked_out_or_is_no_administrator_answers_no_more(client: Client) -> None:
    header, maker = token(), User.objects.get(username="maker")
    for gone in ({"is_active": False}, {"is_superuser": False}):
        User.objects.filter(pk=maker.pk).update(**gone)
        assert client.get("/metrics", headers=header).status_code == 401
        assert client.get("/api/v1/disks", headers=header).status_code == 401
        User.objects.filter(pk=maker.pk).update(is_active=True, is_superuser=True)
    assert client.get("/metrics", headers=header).status_code == 200


def test_a_token_is_good_for_a_year(client: Client) -> None:
    header, row = token(), ApiToken.objects.get()
    assert abs(row.expires_at - timezone.now() - timedelta(days=365)) < timedelta(minutes=1)
    ApiToken.objects.update(expires_at=timezone.now())
    assert client.get("/metrics", headers=header).status_code == 401


def test_tokens_are_for_administrators(operator: Client) -> None:
    assert operator.get("/settings/tokens/").status_code == 403


def test_anybody_has_a_report_made_and_takes_it_away(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(typical())
    sent: list[tuple[str, list[object]]] = []
    monkeypatch.setattr(app, "send_task", lambda task, args, **_: sent.append((task, args)))
    viewer.post("/reports/make/")
    report = StoredReport.objects.get()
    assert sent == [("console.make_report", [report.pk])]
    assert "every 2s" in page(viewer, "/reports/")
    assert viewer.get(f"/reports/{report.pk}.pdf").status_code == 404
    reports.make_report(report, timezone.now())
    response = viewer.get(f"/reports/{report.pk}.pdf")
    assert response.content.startswith(b"%PDF-")
    assert "every 2s" not in page(viewer, "/reports/")


@pytest.mark.usefixtures("no_redis")
def test_without_the_message_service_no_report_is_asked_for(viewer: Client) -> None:
    assert "not responding" in viewer.post("/reports/make/", follow=True).content.decode()
    assert not StoredReport.objects.exists()


def test_a_report_lists_those_that_wear_out_first_and_counts_the_rest() -> None:
    watched(large(), days=0)
    context = reports.report_context(timezone.now())
    ssds = [disk for disk in large().disks if not disk.rotational]
    assert len(context["ssds"]) == context["ssd_count"] == len(ssds)  # type: ignore[arg-type]
    assert len(context["hard_disks"]) == 100  # type: ignore[arg-type]
    assert context["hard_disk_count"] == 184


def test_a_report_fetches_nothing_and_escapes_the_names_of_disks() -> None:
    watched(typical())
    StoredDisk.objects.filter(serial=WORN).update(model='<img src="http://evil.example/x.png">')
    assert reports.report_pdf("de", timezone.now()).startswith(b"%PDF-")


def test_only_the_newest_reports_are_kept() -> None:
    for _ in range(reports.KEPT + 2):
        StoredReport.objects.create(state="done")
    reports.make_report(StoredReport.objects.create(), timezone.now())
    assert StoredReport.objects.count() == reports.KEPT


def test_however_many_reports_a_viewer_orders_that_of_somebody_else_stays() -> None:
    of_admin = StoredReport.objects.create(requested_by="admin", state="done")
    for _ in range(30):
        StoredReport.objects.create(requested_by="viewer", state="done")
    reports.make_report(StoredReport.objects.create(requested_by="viewer"), timezone.now())
    assert StoredReport.objects.filter(pk=of_admin.pk).exists()
    assert StoredReport.objects.filter(requested_by="viewer").count() == reports.KEPT


def test_nobody_orders_a_second_report_before_the_first_is_made(viewer: Client, sent: list[Sent]) -> None:
    for _ in range(30):
        viewer.post("/reports/make/")
    assert [each.task for each in sent] == ["console.make_report"]
    assert StoredReport.objects.count() == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1/x.png", "file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"])
def test_the_fetcher_of_reports_refuses_every_address(address: str) -> None:
    fetcher = reports._no_fetching()
    assert isinstance(fetcher, URLFetcher)
    with pytest.raises(ValueError, match="disallowed protocol"):
        fetcher.fetch(address)


def test_the_monthly_report_goes_to_those_who_want_it(monkeypatch: pytest.MonkeyPatch, sent: list[Sent]) -> None:
    del sent
    watched(typical())
    mails: list[tuple[list[str], str, str]] = []

    def send_mail(
        recipients: list[str], message: AlertMessage, message_id: str, attachment: tuple[str, bytes, str]
    ) -> None:
        assert attachment[1].startswith(b"%PDF-")
        mails.append((recipients, message.subject, message_id))

    monkeypatch.setattr(monthly, "send_mail", send_mail)
    for name, wants in (("yes", True), ("no", False)):
        Channel.objects.create(
            name=name, kind="mail", secret=encrypt(f"{name}@example.org"), gets_reports=wants, language="de"
        )
    monthly_report()
    [(recipients, subject, _)] = mails
    assert recipients == ["yes@example.org"]
    assert "Bericht" in subject


def test_a_mail_server_that_is_down_is_noted_with_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    Channel.objects.create(name="mail", kind="mail", secret=encrypt("a@example.org"), gets_reports=True)
    monthly_report()
    assert "No mail server is set" in Channel.objects.get().last_error
    Channel.objects.update(language="de")
    monthly_report()
    assert "kein Mailserver" in Channel.objects.get().last_error
    assert senders.TIMEOUT_S <= 30


@dataclass
class Post:
    """A mail server that may be down; `ids` are the Message-IDs of what it took."""

    is_down: bool = False
    ids: list[str] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None

    def send_mail(self, _to: list[str], _message: AlertMessage, message_id: str, _file: tuple[str, bytes, str]) -> None:
        """In the place of `senders.send_mail`."""
        if self.is_down:
            raise NotSent("The mail server did not accept the message.")
        self.meanwhile()
        self.ids.append(message_id)


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Post:
    """A mail server, and somebody who wants reports."""
    post = Post()
    monkeypatch.setattr(monthly, "send_mail", post.send_mail)
    Channel.objects.create(name="mail", kind="mail", secret=encrypt("a@example.org"), gets_reports=True)
    return post


def test_a_report_that_the_mail_server_did_not_take_is_tried_again_and_sent_once(post: Post) -> None:
    now = timezone.now()
    monthly.order(now.date(), now)
    post.is_down = True
    for minute in range(0, 60, 5):
        monthly.send_waiting(now + timedelta(minutes=minute))
    assert post.ids == []
    assert ReportDelivery.objects.get().attempts >= 4
    post.is_down = False
    for minute in range(60, 120, 5):
        monthly.send_waiting(now + timedelta(minutes=minute))
    assert len(post.ids) == 1
    assert Channel.objects.get().last_error == ""


def test_a_channel_that_cannot_be_worked_with_keeps_no_other_waiting_for_its_report(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = post.send_mail

    def stumbling(to: list[str], *given: Any) -> None:
        if to == ["b@example.org"]:
            raise UnicodeError(to)
        works(to, *given)

    monkeypatch.setattr(monthly, "send_mail", stumbling)
    Channel.objects.create(name="a first", kind="mail", secret=encrypt("b@example.org"), gets_reports=True)
    Channel.objects.create(name="z last", kind="mail", secret=encrypt("b@example.org"), gets_reports=True)
    monthly_report()
    assert len(post.ids) == 1
    broken = Channel.objects.exclude(name="mail").values_list("last_error", flat=True)
    assert set(broken) == {"Sending failed: UnicodeError."}


def test_a_report_that_cannot_be_made_is_told_of_and_tried_again(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    works = reports.report_context

    def stumbling(*_given: object) -> dict[str, Any]:
        raise AttributeError("words that are not what they should be")

    now = timezone.now()
    monthly.order(now.date(), now)
    monkeypatch.setattr(reports, "report_context", stumbling)
    monthly.send_waiting(now)
    assert "could not be created" in Channel.objects.get().last_error
    monkeypatch.setattr(reports, "report_context", works)
    monthly.send_waiting(now + timedelta(minutes=5))
    assert len(post.ids) == 1


def test_a_report_is_ordered_once_a_day_however_often_the_schedule_says_so(post: Post) -> None:
    monthly_report()
    monthly_report()
    send_reports()
    assert len(post.ids) == 1
    assert StoredReport.objects.count() == 1


def test_two_that_send_at_the_same_time_send_once(post: Post) -> None:
    now = timezone.now()
    monthly.order(now.date(), now)
    post.meanwhile = lambda: monthly.send_waiting(now)
    monthly.send_waiting(now)
    assert len(post.ids) == 1


def test_an_order_that_was_lost_with_redis_is_made_up_for(post: Post) -> None:
    create_schedules()
    now = timezone.now()
    PeriodicTask.objects.filter(name=monthly.TASK).update(last_run_at=now - timedelta(hours=1))
    send_reports()
    send_reports()
    assert len(post.ids) == 1


def test_a_channel_that_is_added_later_waits_for_the_next_report(post: Post) -> None:
    create_schedules()
    PeriodicTask.objects.filter(name=monthly.TASK).update(last_run_at=timezone.now() - timedelta(days=3))
    send_reports()
    assert post.ids == []


def test_a_report_that_waits_is_not_removed_with_the_old_ones(post: Post) -> None:
    post.is_down = True
    monthly_report()
    for _ in range(reports.KEPT + 2):
        StoredReport.objects.create(state="done")
    reports.make_report(StoredReport.objects.create(), timezone.now())
    assert ReportDelivery.objects.count() == 1
