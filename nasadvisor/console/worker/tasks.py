"""The console's tasks: thin, over what the rooms do. Hosts send the first two, the clock the others."""

from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.celery_app import app
from nasadvisor.console.change.runs import orders
from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.told import expire_measurements, runs_out, silent
from nasadvisor.console.evidence.trials import keep_trial_verdicts
from nasadvisor.console.evidence.watch import keep_answers
from nasadvisor.console.fleet import hosts
from nasadvisor.console.health import bytes_by_role, sweep_store, sweeps
from nasadvisor.console.health.alerts import deliver, home_assistant_publisher, watch
from nasadvisor.console.health.alerts.models import StoredReport
from nasadvisor.console.health.reports import monthly, reports
from nasadvisor.console.home import first_hour
from nasadvisor.console.worker import answers
from nasadvisor.console.worker.liveness import liveness
from nasadvisor.domain.fleet.questions import (
    ANSWER_TASK,
    ERROR_TASK,
    READ_INVENTORY,
    REPORT_RUN,
    REPORT_SWITCHING,
    SAMPLE,
)
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.stored.documents import Json


@app.task(name=ANSWER_TASK)
def answer(node: str, name: str, document: Json) -> None:
    """A host has answered."""
    answers.take_answer(node, name, document)


@app.task(name=ERROR_TASK)
def error(node: str, verb: str, about: str, document: Json) -> None:
    """A host has no answer, and says why."""
    answers.take_error(node, verb, about, document)


@app.task(name="console.take_samples")
def take_samples() -> None:
    """Ask every host to read its counters."""
    hosts.ask_all(SAMPLE)


@app.task(name="console.roll_up_samples")
def roll_up_samples() -> None:
    """Make minutes of samples and hours of minutes, forget what is old, and judge anew."""
    series.roll_up(timezone.now())
    bytes_by_role.add_up()
    series.forget(timezone.now())
    keep_answers(timezone.now())
    keep_trial_verdicts(timezone.now())


@app.task(name="console.refresh_inventories")
def refresh_inventories() -> None:
    """Ask every host to read itself."""
    hosts.ask_all(READ_INVENTORY)


@app.task(name="console.follow_runs")
def follow_runs() -> None:
    """Ask how the unfinished runs stand, so that a lost message heals; give up on requests that have expired."""
    orders.expire_requests(timezone.now())
    expire_measurements(timezone.now())
    for run in (*orders.runs_to_follow(), *runs_out()):
        with hosts.unreachable_logged():
            hosts.ask(run.node, REPORT_RUN, str(run.id), by=None)
    for switching in silent():
        with hosts.unreachable_logged():
            hosts.ask(switching.node, REPORT_SWITCHING, switching.pool_guid, by=None)


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
    deliver.send_notices(timezone.now())


@app.task(name="console.publish_for_home_assistant")
def publish_for_home_assistant() -> None:
    """Tell the MQTT broker what changed."""
    home_assistant_publisher.publish_changes(timezone.now())


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
    watch.forget_events(timezone.now())
    audit.forget(timezone.now())


@app.task(name="console.liveness")
def note_liveness() -> None:
    """The worker has asked itself whether it still takes tasks."""
    liveness.note()
