"""Trials on the pages: asked for with the password, shown while they run, kept or judged at the end."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.roles import UserRole
from nasadvisor.console.change.models import StoredPlan, StoredRun, StoredRunState
from nasadvisor.console.change.runs import orders
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.report import Report
from nasadvisor.console.evidence.trials import NOT_SEEN, keep_trial_verdicts, verdict_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import AlertEvent, StoredAlert
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.worker.tasks import roll_up_samples
from nasadvisor.domain.evidence.comparison import Comparison, Difference, Figures, Gain
from nasadvisor.domain.evidence.options import PoolWaiting, Waits
from nasadvisor.domain.evidence.verdict import Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import to_document
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_runs import LAYOUT, deliver, text
from tests.unit.console.conftest import PASSWORD, Sent, sign_in
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import NVME1, NVME2, TANK, home_server, with_pool

DAY = timedelta(days=1)


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


@pytest.fixture
def asked(host: SimulatedHost, client: Client) -> StoredRun:
    """A trial of a day that no host has taken up."""
    del host
    return ask(client)


def ask(client: Client) -> StoredRun:
    sign_in(client, UserRole.OPERATOR)
    client.post(f"/wizard/{TANK}/devices/", {"log": [NVME1, NVME2], "cache": [NVME1, NVME2], **LAYOUT})
    client.post(f"/plans/{StoredPlan.objects.get().pk}/", {"trial": str(DAY_S), "password": PASSWORD})
    return StoredRun.objects.get()


@pytest.fixture
def trial(asked: StoredRun, host: SimulatedHost, sent: list[Sent]) -> StoredRun:
    """One that runs."""
    deliver(host, sent)
    return StoredRun.objects.get(pk=asked.pk)


def end(host: SimulatedHost) -> StoredRun:
    """A day later the host's own clock rings."""
    host.ahead = DAY
    host.end_trials()
    host.ahead = timedelta()
    return StoredRun.objects.get()


def _report(comparison: Comparison) -> Report:
    now = timezone.now()
    return Report(StoredRun(), comparison, (), now, now, ())


def codes() -> set[str]:
    return set(StoredAlert.objects.exclude(state="recovered").values_list("code", flat=True))


def test_it_is_asked_for_with_the_password(asked: StoredRun, sent: list[Sent], client: Client) -> None:
    assert [(each.task, each.args[1:]) for each in sent] == [("host.apply", [DAY_S, "operator"])]
    assert "The trial lasts 24 h, from the moment" in text(client.get(f"/runs/{asked.pk}/"))


@pytest.mark.usefixtures("host")
def test_only_lengths_that_are_offered_are_taken(client: Client, sent: list[Sent]) -> None:
    sign_in(client, UserRole.OPERATOR)
    client.post(f"/wizard/{TANK}/devices/", {"log": [NVME1, NVME2], "cache": [NVME1, NVME2], **LAYOUT})
    path = f"/plans/{StoredPlan.objects.get().pk}/"
    assert "Try it for a week" in text(client.get(path))
    assert client.post(path, {"trial": "17", "password": PASSWORD}).status_code == 200
    assert client.post(path, {"trial": str(DAY_S), "password": "wrong"}).status_code == 200
    assert not sent


def test_while_it_runs_the_page_tells_the_time_left_and_offers_both_ways(trial: StoredRun, client: Client) -> None:
    page = text(client.get(f"/runs/{trial.pk}/"))
    assert "Done on pool tank, on trial:" in page
    assert "Reverted automatically" in page
    assert "in 23" in page
    assert "5 minutes after its next start" in page
    assert f'href="/runs/{trial.pk}/keep/"' in page
    assert "Undo now" in page
    assert 'hx-trigger="every 60s"' in page
    assert "is on trial until" in text(client.get("/"))
    assert "on trial, ends" in text(client.get("/runs/"))
    assert f'href="/runs/{trial.pk}/keep/"' in text(client.get(f"/runs/{trial.pk}/proof/"))


def test_keeping_it_asks_for_the_password_and_then_the_host(
    trial: StoredRun, client: Client, host: SimulatedHost, sent: list[Sent]
) -> None:
    path = f"/runs/{trial.pk}/keep/"
    assert "Keep it in pool tank</button>" in text(client.get(path))
    assert "Wrong password" in text(client.post(path, {"password": "wrong"}))
    assert client.post(path, {"password": PASSWORD, "until": "never"}).status_code == 400
    assert not sent
    client.post(path, {"password": PASSWORD})
    assert [(each.task, each.args) for each in sent] == [("host.keep", [str(trial.pk), "operator"])]
    assert "Keeping the run was requested" in text(client.get(f"/runs/{trial.pk}/"))
    deliver(host, sent)
    page = text(client.get(f"/runs/{trial.pk}/"))
    assert "This run was on trial and was kept by operator" in page
    assert "hx-trigger" not in page
    assert end(host).state == StoredRunState.APPLIED
    assert client.get(path).status_code == 302


def test_a_viewer_sees_it_and_changes_nothing(trial: StoredRun, client: Client, sent: list[Sent]) -> None:
    sign_in(client, UserRole.VIEWER)
    assert f"/runs/{trial.pk}/keep/" not in text(client.get(f"/runs/{trial.pk}/"))
    assert client.post(f"/runs/{trial.pk}/keep/", {"password": PASSWORD}).status_code == 403
    assert not sent


@pytest.mark.usefixtures("trial")
def test_at_its_end_everything_is_taken_back_and_the_verdict_is_told_once(client: Client, host: SimulatedHost) -> None:
    stored = end(host)
    assert stored.state == StoredRunState.UNDONE
    assert host.executor.state.disks == home_server().disks
    now = timezone.now() + DAY
    watch(now)
    assert "trial-ended" not in codes()  # its verdict is not there yet
    keep_trial_verdicts(now)
    watch(now)
    assert "trial-ended" in codes()
    page = text(client.get(f"/runs/{stored.pk}/"))
    assert "The trial has ended, and everything was reverted." in page
    assert "Not enough data to say whether it helped" in page
    assert "The trial on pool tank has ended, and everything was reverted." in text(client.get("/"))
    for minute in range(10):
        watch(now + 4 * DAY + timedelta(minutes=minute))
    assert "trial-ended" not in codes()
    assert AlertEvent.objects.filter(alert__code="trial-ended").count() == 1


@pytest.mark.usefixtures("trial")
def test_once_the_pool_has_another_run_the_end_of_the_trial_is_no_news(host: SimulatedHost, client: Client) -> None:
    stored = end(host)
    keep_trial_verdicts(timezone.now())
    assert "The trial on pool tank has ended" in text(client.get("/"))
    later = timezone.now() + 2 * DAY
    again = {"document": stored.document, "pool_name": "tank", "pool_guid": TANK, "requested_by": "me"}
    StoredRun.objects.create(
        pk="7f0c2a4e-0000-4000-8000-000000000001", node=stored.node, requested_at=later, state="requested", **again
    )
    assert "The trial on pool tank has ended" not in text(client.get("/"))


@pytest.mark.usefixtures("trial")
def test_an_undo_that_is_refused_at_its_end_is_told_with_the_reason(
    client: Client, host: SimulatedHost, sent: list[Sent]
) -> None:
    host.executor.state = with_pool(host.executor.state, checkpoint="1G")
    stored = end(host)
    page = text(client.get(f"/runs/{stored.pk}/"))
    assert "The trial has ended, but the run could not be reverted." in page
    assert "checkpoint" in page
    watch(timezone.now())
    assert "trial-stays" in codes()
    client.post(f"/runs/{stored.pk}/keep/", {"password": PASSWORD})
    deliver(host, sent)
    assert "could not be reverted" not in text(client.get("/"))


def test_a_host_that_is_off_at_the_end_is_asked_and_said_to_be_late(trial: StoredRun, client: Client) -> None:
    assert not orders.runs_to_follow()
    StoredRun.objects.update(trial_until=timezone.now() - timedelta(hours=1))
    assert [run.pk for run in orders.runs_to_follow()] == [trial.pk]
    assert "has not reported reverting it" in text(client.get("/"))
    watch(timezone.now())
    assert "trial-late" in codes()


def test_the_verdict_tells_the_figures() -> None:
    before = Figures(600, 61, 1e6, 16e6, 1, 1, 1, 1, 1, 1, waited_s_per_day=3000)
    after = Figures(600, 185, 3e6, 5e6, 1, 1, 1, 1, 1, 1, waited_s_per_day=60)

    def said(outcome: Difference) -> str:
        return str(verdict_of(_report(Comparison(outcome, before, after, (1,), (9, 9), 0.001))))

    assert "It helped" in said(Difference.FASTER)
    assert "programs waited 50 min a day for synchronous writes before, and 60 s with it" in said(Difference.FASTER)
    assert "61 → 185 commits/s, 16 ms → 5.0 ms each" in said(Difference.FASTER)
    assert "It made things worse" in said(Difference.SLOWER)
    assert "no statistically significant difference" in said(Difference.NO_DIFFERENCE)
    assert said(Difference.TOO_EARLY) == said(Difference.OTHER_HOURS) == str(verdict_of(None)) == str(NOT_SEEN)


@pytest.mark.parametrize(
    ("least", "after_ns", "words"),
    [
        (0.5, 4e6, "Expected: 30 min to 54 min less waiting a day. Measured at the same load: 45 min less."),
        (0.75, 4e6, "The promise was kept."),
        (0.76, 4e6, "45 min less, not as much as expected."),
        (0.5, 32e6, "0 s less, not as much as expected."),
    ],
)
def test_what_was_expected_of_a_log_stands_beside_what_it_took(
    trial: StoredRun, least: float, after_ns: float, words: str
) -> None:
    waits = Waits(Wait(1800, 3600, 7200), NO_WAIT)
    trial.promised_document = to_document(PoolWaiting(waits, Relief(Waiting.COMMITS, least, 0.9), None))
    before, after = (Figures(600, 60, 1e6, each, 1, 1, 1, 1, 1, 1) for each in (16e6, after_ns))
    gain = Gain(1, 16e6 / after_ns, 10)
    found = Comparison(Difference.FASTER, before, after, (1,), (9, 9), 0.001, gain)
    now = timezone.now()
    assert words in Report(trial, found, (), now, now, ()).promise_words.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(("least", "outcome"), [(0.0, Difference.FASTER), (0.5, Difference.NO_DIFFERENCE)])
def test_no_promise_is_called_kept_that_was_for_nothing_certain_or_may_be_chance(
    trial: StoredRun, least: float, outcome: Difference
) -> None:
    promised = PoolWaiting(Waits(Wait(1800, 3600, 7200), NO_WAIT), Relief(Waiting.COMMITS, least, 0.9), None)
    trial.promised_document = to_document(promised)
    before, after = (Figures(600, 60, 1e6, each, 1, 1, 1, 1, 1, 1) for each in (16e6, 4e6))
    found = Comparison(outcome, before, after, (1,), (9, 9), 0.001, Gain(1, 4, 10))
    now = timezone.now()
    words = Report(trial, found, (), now, now, ()).promise_words.replace("\N{NO-BREAK SPACE}", " ")
    assert words.endswith("Measured at the same load: 45 min less.")


def test_nothing_is_said_of_a_promise_that_nobody_made(trial: StoredRun) -> None:
    assert trial.promised is None
    now = timezone.now()
    found = Comparison(Difference.TOO_EARLY, None, None, (), (0, 0), 1.0)
    assert Report(trial, found, (), now, now, ()).promise_words == ""


def test_what_is_expected_is_kept_with_the_run(client: Client, host: SimulatedHost) -> None:
    del host
    fill(25)
    roll_up_samples()
    promised = ask(client).promised
    assert promised
    assert promised.log
    assert promised == SampledPool.objects.get().waiting


def test_a_verdict_stays_as_it_was_first(host: SimulatedHost, trial: StoredRun) -> None:
    end(host)
    earlier = to_document(Statement("trial-faster", "It helped."))
    StoredRun.objects.update(trial_verdict_document=earlier)
    keep_trial_verdicts(timezone.now())
    assert StoredRun.objects.get(pk=trial.pk).trial_verdict_document == earlier


def test_a_trial_is_compared_while_it_runs(client: Client, host: SimulatedHost, trial: StoredRun) -> None:
    host.publish_inventory()
    assert Node.objects.count() == 1
    fill(2)
    page = text(client.get(f"/runs/{trial.pk}/"))
    assert "Does it help?" in page
    assert "Too early to say" in page
