"""What somebody did, beside what is about accounts, stands in the audit log: who, from where, what, and about what."""

from pathlib import Path

import pytest
from django.test import Client
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.health.alerts.models import Channel, StoredAlert
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.worker.answers import take_error
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.simulated_host import simulated_host
from tests.unit.console.accounts.test_access import token
from tests.unit.console.accounts.test_re_entry import CHANNEL, DELIVERY
from tests.unit.console.change.test_runs import deliver
from tests.unit.console.change.test_wizard import LAYOUT, plan_of
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import disk_of, watched
from tests.unit.machines import NVME1, TANK, home_server, with_pool

FROM = "192.0.2.7"
WORN = "S6Z1NJ0W401234"


@pytest.fixture(autouse=True)
def address(client: Client) -> None:
    """Where the browser of each test is."""
    client.defaults["REMOTE_ADDR"] = FROM


def written(by: str) -> list[tuple[str, str]]:
    """Acts and what they were about, oldest first, all by this one; but the first sign-in, and what hosts told."""
    found = AuditEntry.objects.exclude(act__in=("sign-in", "run-ended")).order_by("pk")
    assert set(found.values_list("user_name", "address")) == {(by, FROM)}
    return list(found.values_list("act", "about"))


def test_a_plan_its_run_and_the_undo(operator: Client, tmp_path: Path, sent: list[Sent]) -> None:
    host = simulated_host(tmp_path, home_server())
    plan = plan_of(operator, log_size=LAYOUT["log_size"])
    operator.post(f"/plans/{plan.pk}/", {"password": PASSWORD})
    deliver(host, sent)
    operator.post(f"/runs/{plan.pk}/undo/", {"password": PASSWORD})
    StoredRun.objects.update(state=StoredRunState.INTERRUPTED)
    about = f"nas: tank {plan.pk}"
    assert written("operator") == [("plan-made", about), ("apply", about), ("undo", about)]


def results() -> list[str]:
    return list(AuditEntry.objects.filter(act="run-ended").order_by("pk").values_list("about", flat=True))


def test_what_came_of_a_run_and_of_its_undo(operator: Client, tmp_path: Path, sent: list[Sent]) -> None:
    host = simulated_host(tmp_path, home_server())
    plan = plan_of(operator, log_size=LAYOUT["log_size"])
    operator.post(f"/plans/{plan.pk}/", {"password": PASSWORD})
    deliver(host, sent)
    assert results() == [f"nas: tank {plan.pk}: applied"]
    operator.post(f"/runs/{plan.pk}/undo/", {"password": PASSWORD})
    deliver(host, sent)
    assert results() == [f"nas: tank {plan.pk}: applied", f"nas: tank {plan.pk}: undone"]


def test_a_run_that_its_host_did_not_begin(operator: Client, tmp_path: Path, sent: list[Sent]) -> None:
    simulated_host(tmp_path, home_server())
    plan = plan_of(operator, log_size=LAYOUT["log_size"])
    operator.post(f"/plans/{plan.pk}/", {"password": PASSWORD})
    take_error("nas", "apply", str(plan.pk), to_document(Statement("busy", "Another run is under way.")))
    take_error("nas", "apply", str(plan.pk), to_document(Statement("busy", "Another run is under way.")))
    assert results() == [f"nas: tank {plan.pk}: refused"]


def test_a_host_that_tells_of_ends_without_end_fills_no_log() -> None:
    for number in range(audit.MOST_RESULTS + 20):
        audit.record_result("nas", str(number))
    audit.record_result("other", "tank: applied")
    assert len(results()) == audit.MOST_RESULTS + 1


def test_what_a_host_is_asked_to_measure_and_to_look_at(operator: Client) -> None:
    fill(hours=0.1)
    operator.post(f"/evidence/{TANK}/trace/")
    operator.post(f"/evidence/{TANK}/curve/start/")
    operator.post(f"/evidence/{TANK}/metadata/count/")
    watched(with_pool(home_server(), allocated_bytes=0), days=0)
    operator.post(f"/evidence/{TANK}/measure/", {"password": PASSWORD, "disk": NVME1})
    [*looked, (act, about)] = written("operator")
    assert looked == [
        ("look-closer", f"/evidence/{TANK}/{each}/") for each in ("trace", "curve/start", "metadata/count")
    ]
    assert (act, about.startswith(f"nas: tank {NVME1} ")) == ("measure", True)


def test_what_is_done_about_disks_and_their_alerts(operator: Client) -> None:
    watched(typical())
    disk, alert = disk_of(WORN), StoredAlert.objects.order_by("pk")[0]
    operator.post(f"/wear/{disk.pk}/self-test/", {"test": "long"})
    operator.post(f"/wear/{disk.pk}/rating/", {"terabytes": "200", "erases": "", "write_amplification": "2"})
    StoredDisk.objects.filter(pk=disk.pk).update(is_present=False)
    operator.post(f"/wear/{disk.pk}/forget/")
    operator.post(f"/alerts/{alert.pk}/acknowledge/")
    named = f"{disk.node}: {disk}"
    assert written("operator") == [
        ("self-test", f"{named} long"),
        ("disk-rated", named),
        ("disk-forgotten", named),
        ("alert-taken-up", f"{disk.node}: {alert}"),
    ]


def test_an_alert_that_a_program_takes_up(client: Client) -> None:
    watched(typical())
    alert = StoredAlert.objects.order_by("pk")[0]
    client.post(f"/api/v1/alerts/{alert.pk}/acknowledge", headers=token(may_acknowledge=True))
    assert written("grafana (token)") == [("alert-taken-up", f"{alert.node}: {alert}")]


def test_where_alerts_go_and_what_is_done_when(admin: Client) -> None:
    create_schedules()
    sweep = PeriodicTask.objects.get(name="console.sweep")
    admin.post("/settings/alerts/add/", CHANNEL)
    channel = Channel.objects.get()
    admin.post(f"/settings/alerts/{channel.pk}/", {**CHANNEL, "name": "yours"})
    admin.post(f"/settings/alerts/{channel.pk}/delete/")
    admin.post("/settings/alerts/delivery/", DELIVERY)
    admin.post(f"/settings/schedules/{sweep.pk}/", {"hours": "12"})
    assert written("admin")[:3] == [("channel-saved", "mine"), ("channel-saved", "yours"), ("channel-deleted", "yours")]
    assert {act for act, _about in written("admin")[3:]} == {"delivery-changed", "schedule-changed"}
