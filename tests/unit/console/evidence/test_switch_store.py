"""What hosts tell of caches that are switched: the newest is kept, and nothing that is none."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.evidence.told import silent
from nasadvisor.console.fleet import quotas
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Ended, Goal, RunState, Started, fold
from nasadvisor.domain.evidence.switched import CacheSwitching, PeriodSeen, SwitchedCache, run_id
from nasadvisor.domain.evidence.switching import Switching
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import DocumentError, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import CACHE_GUID, TANK, plan_for, with_cache

PLAN = Switching("6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11", 1_787_000_000)
RECORD = CacheSwitching(PLAN.seed, "nas", TANK, "tank", (SwitchedCache(CACHE_GUID, "/dev/x"),), "anna", PLAN)
WHY = Statement("why", "So.")


@pytest.fixture(autouse=True)
def _watched(db: None) -> None:
    fill(hours=0.01)


def kept() -> CacheSwitching | None:
    return StoredAnswer.objects.get().found(CacheSwitching)


def test_one_that_was_begun_on_the_command_line_is_kept_as_well() -> None:
    take_answer("nas", "cache-switching", to_document(RECORD))
    assert kept() == RECORD


def test_the_newest_stays_whatever_order_they_come_in() -> None:
    newer = replace(RECORD, seen=(PeriodSeen(0, 100, 1e9),), seq=2)
    next_one = replace(RECORD, plan=replace(PLAN, start=PLAN.end + 1))
    for each, stays in ((newer, newer), (RECORD, newer), (next_one, next_one), (newer, next_one)):
        take_answer("nas", "cache-switching", to_document(each))
        assert kept() == stays


def test_what_is_none_or_not_its_own_is_not_kept() -> None:
    document = to_document(RECORD)
    endless = {**document, "plan": {**document["plan"], "pairs": 10**9}}
    for wrong in ({**document, "id": "../x"}, {**document, "caches": []}, endless, {**document, "seen": 3}):
        with pytest.raises(DocumentError):
            take_answer("nas", "cache-switching", wrong)
    with pytest.raises(ValueError, match="came from other"):
        take_answer("other", "cache-switching", document)
    with pytest.raises(quotas.QuotaReached):
        take_answer("nas", "cache-switching", {**document, "by": "x" * quotas.LARGEST_RUN})
    take_answer("nas", "cache-switching", to_document(replace(RECORD, pool_guid="5")))
    assert not StoredAnswer.objects.exists()


def test_why_it_was_not_done_is_kept_until_there_is_news() -> None:
    take_answer("nas", "cache-switching", to_document(RECORD))
    take_error("nas", "start_switching", TANK, to_document(WHY))
    assert StoredAnswer.objects.get().error == WHY
    assert kept() == RECORD
    take_answer("nas", "cache-switching", to_document(replace(RECORD, seq=2)))
    assert StoredAnswer.objects.get().error is None
    with pytest.raises(DocumentError):
        take_error("nas", "start_switching", TANK, {"x": 1})


def test_of_a_switch_whose_end_nobody_heard_its_host_is_asked_again(sent: list[Sent]) -> None:
    """While the console was away: else the run would stand there as applied for good."""
    take_answer("nas", "cache-switching", to_document(RECORD))
    switch = plan_for(PlanRequest(TANK, offline_cache=CACHE_GUID), with_cache())
    switch = replace(switch, ids=replace(switch.ids, plan_id=run_id(RECORD.id, 4, 0)))
    other = replace(switch, ids=replace(switch.ids, plan_id=str(UUID(int=7))))
    for plan in (switch, other):
        at = "2026-08-25T20:00:00+00:00"
        begun = fold([Started(at, Goal.APPLY, plan, "anna"), Ended(at, RunState.APPLIED)], "nas")
        take_answer("nas", "run", to_document(begun))
    tasks.follow_runs()
    assert [(each.task, each.args) for each in sent] == [("host.report_run", [switch.id])]


def test_a_host_that_has_not_told_for_long_is_asked_again(sent: list[Sent]) -> None:
    take_answer("nas", "cache-switching", to_document(RECORD))
    assert silent() == []
    StoredAnswer.objects.update(told_at=timezone.now() - timedelta(hours=3))
    tasks.follow_runs()
    assert [(each.task, each.args) for each in sent] == [("host.report_switching", [TANK])]
    take_answer("nas", "cache-switching", to_document(replace(RECORD, ended_at="2026-08-25T20:00:00+00:00", seq=2)))
    StoredAnswer.objects.update(told_at=timezone.now() - timedelta(days=3))
    assert silent() == []
