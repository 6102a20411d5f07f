"""One host fills neither the database nor the pages nor the mailboxes of all: what is beyond its quota is left out."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone, translation

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import SampledPool, StoredSample
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota, QuotaReached
from nasadvisor.console.health.alerts.host_findings import about_quotas
from nasadvisor.console.health.alerts.models import StoredAlert
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.wording.statements import said
from nasadvisor.console.worker import inbox
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.runs import Run, RunState, steps_of
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.stored.documents import to_document
from tests.unit.console.evidence.test_series import sample
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

NODE = "nas"


def run(times: int = 1) -> dict[str, Any]:
    """A run as its host tells it; one that has its steps many times is as large as one likes."""
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    plan = replace(plan, ids=replace(plan.ids, plan_id=str(uuid4())))
    steps = steps_of(plan.actions) * times
    return to_document(Run(plan.id, NODE, plan, RunState.APPLIED, "olga", "2026-08-25T20:15:00+00:00", "", 3, steps))


def sized(size: int) -> dict[str, Any]:
    """A run of about so many bytes."""
    few, more = quotas.size_of(run(1)), quotas.size_of(run(2))
    return run(1 + (size - few) // (more - few))


def with_new_id(document: dict[str, Any]) -> dict[str, Any]:
    plan = document["plan"]
    return {**document, "id": (new := str(uuid4())), "plan": {**plan, "ids": {**plan["ids"], "plan_id": new}}}


def told() -> set[Quota]:
    return set(quotas.reached_by(Node.objects.get(name=NODE), timezone.now()))


def test_runs_of_five_megabytes_are_left_out_with_a_finding_and_the_page_of_runs_holds_the_others(
    operator: Client,
) -> None:
    five_megabytes, largest = sized(5_000_000), sized(quotas.LARGEST_RUN - 8192)
    for _ in range(40):
        with pytest.raises(QuotaReached):
            take_answer(NODE, "run", five_megabytes)
        take_answer(NODE, "run", with_new_id(largest))
    assert StoredRun.objects.count() == 40
    assert told() == {Quota.RUN_SIZE}
    assert operator.get("/runs/").status_code == 200


def test_a_run_too_many_is_left_out_and_those_that_are_known_move_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "MOST_RUNS", 2)
    first = run()
    take_answer(NODE, "run", first)
    take_answer(NODE, "run", run())
    with pytest.raises(QuotaReached):
        take_answer(NODE, "run", run())
    take_answer(NODE, "run", {**first, "seq": 9})
    assert sorted(StoredRun.objects.values_list("seq", flat=True)) == [3, 9]
    assert told() == {Quota.RUNS}


def test_an_inventory_of_more_disks_than_a_host_has_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    monkeypatch.setattr(quotas, "MOST_DISKS", 2)
    with pytest.raises(QuotaReached):
        take_answer(NODE, "inventory", to_document(replace(home_server(), pools=())))
    assert Node.objects.get().inventory == home_server()
    assert told() == {Quota.DISKS}


def test_disks_that_come_and_go_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proves that disks which were there before keep being watched."""
    take_answer(NODE, "inventory", to_document(home_server()))
    count = StoredDisk.objects.count()
    monkeypatch.setattr(quotas, "MOST_DISKS", count)
    other = [
        replace(each, identity=replace(each.identity, serial=f"Z{number}"))
        for number, each in enumerate(home_server().disks)
    ]
    take_answer(NODE, "inventory", to_document(replace(home_server(), disks=tuple(other))))
    assert StoredDisk.objects.count() == count
    take_answer(NODE, "inventory", to_document(home_server()))
    assert StoredDisk.objects.filter(is_present=True).count() == count
    assert told() == {Quota.DISKS}


def test_samples_of_the_future_and_of_ever_new_pools_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tomorrow = int((timezone.now() + timedelta(days=1)).timestamp())
    with pytest.raises(QuotaReached):
        take_answer(NODE, "reading", to_document(Reading((replace(sample(1), at=tomorrow),), ())))
    take_answer(NODE, "reading", to_document(Reading((sample(1),), ())))
    monkeypatch.setattr(quotas, "MOST_POOLS", 1)
    with pytest.raises(QuotaReached):
        take_answer(NODE, "reading", to_document(Reading((replace(sample(2), pool_guid="77"),), ())))
    take_answer(NODE, "reading", to_document(Reading((sample(3),), ())))
    assert (SampledPool.objects.count(), StoredSample.objects.count()) == (1, 2)
    assert told() == {Quota.CLOCK, Quota.POOLS}


def test_a_host_fills_no_mailbox_and_the_worst_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = [
        replace(home_server().pools[0], guid=str(number), name=f"p{number}", state="DEGRADED") for number in range(9)
    ]
    pools[-3:] = [replace(each, state="FAULTED") for each in pools[-3:]]
    now = timezone.now()
    machine = replace(home_server(), pools=tuple(pools), read_at=now.isoformat(timespec="seconds"))
    take_answer(NODE, "inventory", to_document(replace(machine, host=replace(machine.host, node=NODE))))
    monkeypatch.setattr(quotas, "MOST_MESSAGES", 3)
    watch(now)
    watch(now + timedelta(minutes=1))
    found = StoredAlert.objects.exclude(code="host-quota")
    assert found.count() == 3
    assert {each.level for each in found} == {"critical"}
    assert StoredAlert.objects.get(code="host-quota").subject == Quota.ALERTS
    tomorrow = now + timedelta(days=1, minutes=2)
    later = {"inventory_read_at": tomorrow, "last_contact": tomorrow}
    Node.objects.update(**later)
    watch(tomorrow)
    assert found.all().count() == 6


@pytest.mark.parametrize("quota", Quota)
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_quota_is_told_as_a_finding_for_a_day(quota: Quota, language: str, operator: Client) -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    quotas.note(NODE, quota)
    node, now = Node.objects.get(), timezone.now()
    [notice] = about_quotas(node, now)
    with translation.override(language):
        words = said(notice.finding)
        page = operator.get("/", headers={"accept-language": language}).content.decode()
    assert re.split("[:(]", words)[0] in page
    assert list(about_quotas(node, now + timedelta(days=2))) == []


def test_a_reading_every_two_seconds_is_all_that_a_host_may_send() -> None:
    allowance = inbox.Allowance(at=0.0)
    taken = sum(allowance.take(now=second / 100) for second in range(100 * 120))
    assert taken == inbox.READINGS_AT_ONCE + 120 / inbox.READINGS_EVERY_S - 1
