"""The console's tasks: thin, over `records`, `series`, `hosts`, `health`. Hosts send `store` ones, the clock others."""

from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from nasadvisor.console import records
from nasadvisor.console.celery_app import app
from nasadvisor.console.evidence import commits, curves, metadata, series, switch_store, tracing
from nasadvisor.console.evidence.trials import keep_trial_verdicts
from nasadvisor.console.evidence.watch import keep_answers
from nasadvisor.console.fleet import audit, hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import (
    account_mail,
    by_host,
    deliver,
    first_hour,
    hours,
    monthly,
    reports,
    sweep_store,
    sweeps,
    watch,
)
from nasadvisor.console.health.access_models import StoredReport
from nasadvisor.console.pulse import pulse
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.stored.documents import Json


@app.task(name="console.store_spoken")
def store_spoken(node: str, document: Json) -> None:
    """A host has told which forms of documents it speaks; it is told ours."""
    told = records.store_spoken(node, document)
    with hosts.unreachable_logged():
        hosts.tell_forms(told)


@app.task(name="console.store_inventory")
def store_inventory(node: str, document: Json) -> None:
    """A host has read itself."""
    records.store_inventory(node, document)


@app.task(name="console.store_inventory_error")
def store_inventory_error(node: str, document: Json) -> None:
    """A host could not read itself."""
    records.store_inventory_error(node, document)


@app.task(name="console.store_platform")
def store_platform(node: str, document: Json) -> None:
    """The platforms of a host have said what they forbid and know."""
    records.store_platform(node, document)


@app.task(name="console.store_notice_answer")
def store_notice_answer(node: str, document: Json) -> None:
    """A host has said what became of a message that its platform was to send."""
    by_host.answered(node, document, timezone.now())


@app.task(name="console.store_run")
def store_run(node: str, document: Json) -> None:
    """A run has moved on."""
    records.store_run(node, document)


@app.task(name="console.store_unreadable_run")
def store_unreadable_run(node: str, document: Json) -> None:
    """The journal of a run cannot be read."""
    records.store_unreadable_run(node, document)


@app.task(name="console.store_run_error")
def store_run_error(node: str, run_id: str, document: Json) -> None:
    """A host did not begin what it was asked for."""
    records.store_run_error(node, run_id, document)


@app.task(name="console.store_reading")
def store_reading(node: str, document: Json) -> None:
    """A host has read its counters."""
    series.store_reading(node, document)


@app.task(name="console.store_measurement")
def store_measurement(node: str, document: Json) -> None:
    """A host has measured by writing."""
    records.store_measurement(node, document)


@app.task(name="console.store_measure_progress")
def store_measure_progress(node: str, document: Json) -> None:
    """A host has begun another part of a measurement."""
    records.store_measure_progress(node, document)


@app.task(name="console.store_measurement_error")
def store_measurement_error(node: str, order_id: str, document: Json) -> None:
    """A host has not measured what it was asked for."""
    records.store_measurement_error(node, order_id, document)


@app.task(name="console.store_waiting")
def store_waiting(node: str, document: Json) -> None:
    """A host has traced which programs wait."""
    tracing.store_waiting(node, document)


@app.task(name="console.store_waiting_error")
def store_waiting_error(node: str, document: Json) -> None:
    """A host could not trace which programs wait."""
    tracing.store_waiting_error(node, document)


@app.task(name="console.store_curve")
def store_curve(node: str, document: Json) -> None:
    """A host has followed reads for another while."""
    curves.store_curve(node, document)


@app.task(name="console.store_curve_error")
def store_curve_error(node: str, guid: str, document: Json) -> None:
    """A host could not follow a pool's reads."""
    curves.store_curve_error(node, guid, document)


@app.task(name="console.store_commits")
def store_commits(node: str, document: Json) -> None:
    """A host has followed commits for another while."""
    commits.store_commits(node, document)


@app.task(name="console.store_commits_error")
def store_commits_error(node: str, guid: str, document: Json) -> None:
    """A host could not follow a pool's commits."""
    commits.store_commits_error(node, guid, document)


@app.task(name="console.store_count")
def store_count(node: str, document: Json) -> None:
    """A host has counted the blocks of a pool."""
    metadata.store_count(node, document)


@app.task(name="console.store_count_error")
def store_count_error(node: str, guid: str, document: Json) -> None:
    """A host could not count a pool's blocks."""
    metadata.store_count_error(node, guid, document)


@app.task(name="console.store_switching")
def store_switching(node: str, document: Json) -> None:
    """A host switches a cache, or has ended that."""
    switch_store.store_switching(node, document)


@app.task(name="console.store_switching_error")
def store_switching_error(node: str, guid: str, document: Json) -> None:
    """A host did not switch a pool's cache, or not end it."""
    switch_store.store_switching_error(node, guid, document)


@app.task(name="console.take_samples")
def take_samples() -> None:
    """Ask every host to read its counters."""
    for node in Node.objects.defer("inventory_document"):
        with hosts.unreachable_logged():
            hosts.request_sample(node)


@app.task(name="console.roll_up_samples")
def roll_up_samples() -> None:
    """Make minutes of samples and hours of minutes, forget what is old, and judge anew."""
    series.roll_up(timezone.now())
    hours.add_up()
    series.forget(timezone.now())
    keep_answers(timezone.now())
    keep_trial_verdicts(timezone.now())


@app.task(name="console.refresh_inventories")
def refresh_inventories() -> None:
    """Ask every host to read itself; simulated ones have a worker too (`make dev`)."""
    for node in Node.objects.defer("inventory_document"):
        with hosts.unreachable_logged():
            hosts.request_inventory(node)


@app.task(name="console.follow_runs")
def follow_runs() -> None:
    """Ask how the unfinished runs stand, so that a lost message heals; give up on requests that have expired."""
    records.expire_requests(timezone.now())
    for run in (*records.runs_to_follow(), *switch_store.runs_out()):
        with hosts.unreachable_logged():
            hosts.report_run(run)
    for switching in switch_store.silent():
        with hosts.unreachable_logged():
            hosts.report_switching(switching.node, switching.pool_guid)


@app.task(name="console.store_answers")
def store_answers(node: str, document: Json) -> None:
    """Some disks of a host have told how they are."""
    sweep_store.store_answers(node, document)


@app.task(name="console.store_sweep")
def store_sweep(node: str, document: Json) -> None:
    """A host has asked all its disks."""
    sweeps.store_sweep(node, document)


@app.task(name="console.store_sweep_error")
def store_sweep_error(node: str, document: Json) -> None:
    """A host could not ask its disks."""
    sweeps.store_sweep_error(node, document)


@app.task(name="console.store_self_test_start")
def store_self_test_start(node: str, disk_key: str, problem: Json | None) -> None:
    """A disk began to test itself, or why it did not."""
    sweeps.store_self_test_start(node, disk_key, problem)


@app.task(name="console.sweep")
def sweep() -> None:
    """Ask every host for the health of its disks."""
    sweeps.request_sweeps(timezone.now())


@app.task(name="console.watch")
def watch_over() -> None:
    """Move the alerts on; ask again for sweeps that did not come."""
    now = timezone.now()
    watch.watch(now)
    sweeps.request_missing_sweeps(now)
    first_hour.close_if_done(now)


@app.task(name="console.deliver")
def deliver_messages() -> None:
    """Send what is due."""
    deliver.deliver(timezone.now())
    account_mail.send_notices(timezone.now())


@app.task(name="console.short_self_tests")
def short_self_tests() -> None:
    """Make every disk test itself for some minutes."""
    sweeps.request_self_tests(SelfTest.SHORT)


@app.task(name="console.long_self_tests")
def long_self_tests() -> None:
    """Make every disk read all of itself, which takes hours."""
    sweeps.request_self_tests(SelfTest.LONG)


@app.task(name="console.make_report")
def make_report(pk: int) -> None:
    """Somebody wants a report to print."""
    report = StoredReport.objects.filter(pk=pk).first()
    if report:
        reports.make_report(report, timezone.now())


@app.task(name="console.monthly_report")
def monthly_report() -> None:
    """Send the report of the month to those who want it."""
    now = timezone.now()
    monthly.order(timezone.localtime(now).date(), now)
    monthly.send_waiting(now)


@app.task(name="console.send_reports")
def send_reports() -> None:
    """Send the reports that could not be sent before; give up those that nobody makes any more."""
    now = timezone.now()
    reports.give_up_lost(now)
    monthly.order_missed(now)
    monthly.send_waiting(now)


@app.task(name="console.clear_sessions")
def clear_sessions() -> None:
    """Drop the sessions that are over."""
    SessionStore.clear_expired()


@app.task(name="console.prune")
def prune() -> None:
    """Drop what is kept long enough."""
    sweep_store.prune(timezone.now())
    audit.forget(timezone.now())


@app.task(name="console.pulse")
def feel_pulse() -> None:
    """The worker has asked itself whether it still takes tasks."""
    pulse.feel()
