"""What a host does not let a console ask is shown before somebody asks, and not asked for."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import view
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.sweeps import request_self_tests
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.runs import Run, RunState, StepState, Trial, steps_of
from nasadvisor.domain.fleet.permissions import ALL, NONE, Verbs, as_vetoes, may_not
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.domain.statements import Level
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

NODE = "nas"


def host_that_allows(allowed: frozenset[Verbs]) -> None:
    now = timezone.now().isoformat(timespec="seconds")
    take_answer(NODE, "inventory", to_document(replace(home_server(), read_at=now)))
    report = PlatformReport(NODE, now, vetoes=tuple(as_vetoes(allowed)))
    take_answer(NODE, "platform-report", to_document(report))


def run_on_trial() -> StoredRun:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    at = timezone.now().isoformat(timespec="seconds")
    until = (timezone.now() + timedelta(days=7)).isoformat(timespec="seconds")
    steps = tuple(replace(step, state=StepState.DONE) for step in steps_of(plan.actions))
    trial = Trial(7 * 86400, until)
    run = Run(plan.id, NODE, plan, RunState.APPLIED, "olga", at, at, 30, steps, trial=trial)
    take_answer(NODE, "run", to_document(run))
    return StoredRun.objects.get()


def words(group: Verbs) -> str:
    return str(may_not(group)).split(" (")[0]


@pytest.mark.parametrize(("verb", "group"), [("undo", Verbs.UNDO), ("keep", Verbs.CHANGE)])
def test_a_button_that_the_host_would_refuse_is_off_with_its_reason(
    operator: Client, sent: list[Sent], verb: str, group: Verbs
) -> None:
    host_that_allows(ALL)
    run = run_on_trial()
    address = f"/runs/{run.pk}/{verb}/"
    assert f'href="{address}"' in operator.get(f"/runs/{run.pk}/").content.decode()
    host_that_allows(ALL - {group})
    page = operator.get(f"/runs/{run.pk}/").content.decode()
    assert f'href="{address}"' not in page
    assert words(group) in page
    sent.clear()
    answer = operator.post(address, {"password": PASSWORD}, follow=True)
    assert words(group) in answer.content.decode()
    assert sent == []


def test_nothing_is_measured_where_the_host_lets_no_console_measure(operator: Client, sent: list[Sent]) -> None:
    host_that_allows(ALL - {Verbs.MEASURE})
    address = f"/evidence/{home_server().pools[0].guid}/measure/"
    page = operator.get(address).content.decode()
    assert words(Verbs.MEASURE) in page
    operator.post(address, {"password": PASSWORD, "disk": ""})
    disk = StoredDisk.objects.all()[0]
    StoredDisk.objects.update(outcome="read")
    assert words(Verbs.MEASURE) in operator.get(f"/disks/{disk.key}/").content.decode()
    answer = operator.post(f"/wear/{disk.pk}/self-test/", {"test": "short"}, follow=True)
    assert words(Verbs.MEASURE) in answer.content.decode()
    request_self_tests(SelfTest.SHORT)
    assert sent == []


def test_no_plan_is_begun_where_the_host_lets_no_console_change_it(operator: Client) -> None:
    """Proves that it stands on the page where one chooses a pool, and that it is a note and no alarm."""
    host_that_allows(NONE)
    assert words(Verbs.CHANGE) in operator.get("/wizard/").content.decode()
    take_answer(NODE, "inventory", to_document(home_server()))
    node = Node.objects.get(name=NODE)
    node.refresh_from_db()
    told = {each.finding.code for each in view(node, timezone.now()).seen if each.finding.level is not Level.INFO}
    assert may_not(Verbs.CHANGE).code not in told
