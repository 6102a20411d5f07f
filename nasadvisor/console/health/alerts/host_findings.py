"""What needs a look on the overview: findings about the host, its contact with us, and its runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.change.models import UNREADABLE, StoredRun, StoredRunState
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.current_host import Contact
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.web.disk_space import ENOUGH_BYTES, FULL_BYTES, free_bytes
from nasadvisor.domain.change.trial import AFTER_START_S
from nasadvisor.domain.fleet.permissions import CODES
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.fleet.schema_versions import difference
from nasadvisor.domain.statements import Finding, Level, Statement, gettext_noop
from nasadvisor.domain.units import MINUTE_S, size_text
from nasadvisor.stored.kinds import own_schema_versions

TRIAL_IS_NEWS_FOR: Final = timedelta(days=3)
"""How long the end of a trial is told, unless the pool has had another run since."""

TRIAL_MAY_BE_LATE: Final = timedelta(minutes=10)
"""A host that runs takes back within a minute; one that has just started waits for `trial.AFTER_START_S`."""

WAITING_FOR_SOMEBODY: Final = (StoredRunState.INTERRUPTED, StoredRunState.ATTENTION, *UNREADABLE)


@dataclass(frozen=True)
class HostFinding:
    """A finding and where to go about it, where that is not the finding's own next step."""

    finding: Finding
    url: str = ""
    link: str | Promise = ""


def about_contact(node: Node, contact: Contact) -> Iterator[HostFinding]:
    """How a host stands with us, where that is not well."""
    if contact is Contact.SILENT:
        template = gettext_noop(
            "{node} has not reported for a while, so the data here may be out of date. Check `systemctl status "
            "nasadvisor-host` there."
        )
        yield HostFinding(
            Finding(
                "host-silent",
                template,
                {"node": node.name},
                Level.CRITICAL,
                explanation=gettext_noop(
                    "Runs in progress continue without the console, and trials end automatically. Until the host is "
                    "back, this console does not monitor its disks."
                ),
            )
        )
    if contact is Contact.OUTDATED:
        template = gettext_noop(
            "{node} responds, but its last reading is old, so the data here may be out of date. Check that its clock "
            "is right (`timedatectl`), and check `journalctl -u nasadvisor-host` there."
        )
        yield HostFinding(
            Finding(
                "inventory-outdated",
                template,
                {"node": node.name},
                Level.WARNING,
                explanation=gettext_noop(
                    "Every plan is checked against a fresh reading on the host, so outdated data cannot cause a wrong "
                    "change. The pages may be wrong."
                ),
            )
        )
    if contact is Contact.FAILED and node.inventory_error:
        failed = Finding(
            "inventory-failed",
            gettext_noop("{node} could not read its own disks and pools: {reason}"),
            {"node": node.name, "reason": node.inventory_error},
            Level.WARNING,
            explanation=gettext_noop("A host that cannot be read is not changed. The pages show its last reading."),
        )
        yield HostFinding(failed)


def about_room(node: Node) -> Iterator[HostFinding]:
    """The disk of the console itself fills up, which is said of the host that it is on."""
    if node.is_remote:
        return
    free = free_bytes()
    if free >= ENOUGH_BYTES:
        return
    yield HostFinding(
        Finding(
            "console-disk-full",
            gettext_noop(
                "Only {free} free in {place}, where the console stores its database. Free up some space there; "
                "pending work then continues automatically."
            ),
            {"free": size_text(free), "place": str(settings.STATE_DIR)},
            Level.CRITICAL if free < FULL_BYTES else Level.WARNING,
            explanation=gettext_noop(
                "Without free space nothing new is stored: no samples, no alerts, no sign-ins. Runs in progress "
                "continue, and no new ones start."
            ),
        )
    )


def about_release(node: Node) -> Iterator[HostFinding]:
    """Where a host and this console are of releases that speak differently: which one is older, and what to do."""
    found = difference(node.name, node.schema_versions, own_schema_versions())
    if found and not node.is_simulated:  # that one has the same release
        yield HostFinding(found)


def about_platform(node: Node) -> Iterator[HostFinding]:
    """What the host's platform says: why nothing can be changed, and its findings."""
    for reason in vetoes_on(node.platform.vetoes, ""):
        level = Level.INFO if reason.code in CODES else Level.WARNING  # somebody has set it so
        yield HostFinding(Finding(reason.code, reason.template, reason.values, level))
    yield from map(HostFinding, node.platform.findings)


def nodes_with_news() -> frozenset[int]:
    """The nodes of which `about_runs` or `about_trials` may have something to say."""
    stuck, tried = Q(state__in=WAITING_FOR_SOMEBODY), Q(trial_until__isnull=False) | Q(trial_ended_at__isnull=False)
    return frozenset(StoredRun.objects.filter(stuck | tried).values_list("node_id", flat=True))


def about_runs(node: Node) -> Iterator[HostFinding]:
    """Runs that wait for somebody."""
    stuck = StoredRun.objects.filter(node=node, state__in=WAITING_FOR_SOMEBODY)
    for run in stuck.defer("document"):
        yield _to_run(run, _about_run(node, run))


def _to_run(run: StoredRun, finding: Finding) -> HostFinding:
    return HostFinding(finding, reverse("run-detail", args=[run.pk]), _("View run"))


def _about_run(node: Node, run: StoredRun) -> Finding:
    if run.state == StoredRunState.INTERRUPTED:
        return Finding(
            "run-interrupted",
            gettext_noop(
                "A run on pool {pool} was interrupted. Nothing continues automatically: finish it or undo it."
            ),
            {"pool": run.pool_name},
            Level.WARNING,
            gettext_noop(
                "The host or the service stopped partway through. The journal records every step that was started, "
                "and each step is checked on the host before it is finished or undone. Until then, the pool works in "
                "its current state."
            ),
            subject=str(run.pk),
        )
    if run.state in UNREADABLE:
        return Finding(
            "run-unreadable",
            gettext_noop("{node} cannot read the journal of run {run}. {problem}"),
            {"node": node.name, "run": str(run.pk), "problem": run.error or ""},
            Level.CRITICAL,
            gettext_noop(
                "A run can be finished or undone only if its journal is intact; otherwise its steps are not known for "
                "certain. It is left exactly as it is."
            ),
            subject=str(run.pk),
        )
    return Finding(
        "run-attention",
        gettext_noop("A run on pool {pool} needs attention: it could neither finish nor be reverted."),
        {"pool": run.pool_name},
        Level.CRITICAL,
        gettext_noop(
            "The run's page shows the step at which it stopped and the reason. Once that is fixed, you can try the "
            "undo again, as often as needed."
        ),
        subject=str(run.pk),
    )


def about_trials(node: Node, now: datetime) -> Iterator[HostFinding]:
    """Runs on trial, and how trials ended."""
    runs = StoredRun.objects.filter(node=node).select_related("node").defer("document", "node__inventory_document")
    for run in runs.filter(trial_until__isnull=False):
        yield _to_run(run, _on_trial(run, now))
    for run in runs.filter(trial_ended_at__isnull=False, state=StoredRunState.APPLIED):
        yield _to_run(run, _not_taken_back(run))
    ended = runs.filter(trial_ended_at__gt=now - TRIAL_IS_NEWS_FOR, state=StoredRunState.UNDONE)
    for run in ended.filter(trial_verdict_document__isnull=False):
        if not runs.filter(pool_guid=run.pool_guid, requested_at__gt=run.trial_ended_at).exists():
            yield _to_run(run, _taken_back(run))


def _on_trial(run: StoredRun, now: datetime) -> Finding:
    assert run.trial_until  # noqa: S101 - it was looked for
    values: dict[str, str | Statement] = {
        "node": run.node.name,
        "pool": run.pool_name,
        "until": f"{timezone.localtime(run.trial_until):%Y-%m-%d %H:%M}",
        "minutes": str(AFTER_START_S // MINUTE_S),
    }
    if now < run.trial_until + TRIAL_MAY_BE_LATE:
        template = gettext_noop(
            "The change to pool {pool} is on trial until {until}. {node} then reverts it automatically, unless "
            "someone keeps it."
        )
        return Finding(
            "trial-running",
            template,
            values,
            subject=str(run.pk),
            explanation=gettext_noop(
                "The host itself tracks the time, so the trial depends on neither this console nor an open browser."
            ),
        )
    template = gettext_noop(
        "The trial on pool {pool} ended at {until}, but {node} has not reported reverting it. If {node} was off, it "
        "reverts the change {minutes} minutes after it starts; to prevent that, keep the run."
    )
    return Finding(
        "trial-late",
        template,
        values,
        Level.WARNING,
        subject=str(run.pk),
        explanation=gettext_noop(
            "Only time that can be verified counts: after a restart with a clock that has not been set, the host "
            "waits longer rather than shorter. The change on trial keeps working during that time."
        ),
    )


def _not_taken_back(run: StoredRun) -> Finding:
    template = gettext_noop(
        "The trial on pool {pool} has ended, but it could not be reverted. Nothing was changed, and there is no "
        "automatic retry: undo it or keep it."
    )
    return Finding(
        "trial-stays",
        template,
        {"pool": run.pool_name},
        Level.WARNING,
        subject=str(run.pk),
        explanation=gettext_noop(
            "The run's page shows what prevented it. The log or cache keeps working until you decide."
        ),
    )


def _taken_back(run: StoredRun) -> Finding:
    verdict = run.trial_verdict
    assert verdict  # noqa: S101 - it was looked for
    template = gettext_noop("The trial on pool {pool} has ended, and everything was reverted. {verdict}")
    values: dict[str, str | Statement] = {"pool": run.pool_name, "verdict": verdict}
    return Finding(
        "trial-ended",
        template,
        values,
        Level.WARNING,
        subject=str(run.pk),
        explanation=gettext_noop(
            "The result compares the hours before the trial with those during it. To keep the change permanently, "
            "create the same plan again and apply it without a trial."
        ),
    )


CODE: Final = "host-quota"

_WHAT: Final = {
    Quota.RUNS: Statement("quota-runs", gettext_noop("more than {most} runs"), {"most": str(quotas.MOST_RUNS)}),
    Quota.RUN_SIZE: Statement(
        "quota-run-size",
        gettext_noop("a run larger than {most} KiB"),
        {"most": str(quotas.LARGEST_RUN // 1024)},
    ),
    Quota.DISKS: Statement("quota-disks", gettext_noop("more than {most} disks"), {"most": str(quotas.MOST_DISKS)}),
    Quota.POOLS: Statement("quota-pools", gettext_noop("more than {most} pools"), {"most": str(quotas.MOST_POOLS)}),
    Quota.ALERTS: Statement(
        "quota-alerts",
        gettext_noop("more than {most} alert messages in one day"),
        {"most": str(quotas.MOST_MESSAGES)},
    ),
    Quota.CLOCK: Statement(
        "quota-clock", gettext_noop("samples dated in the future; check its clock with `timedatectl`")
    ),
    Quota.QUEUE: Statement("quota-queue", gettext_noop("messages arriving faster than they can be stored")),
    Quota.MESSAGE_SIZE: Statement("quota-message-size", gettext_noop("a message larger than NAS Advisor ever sends")),
}


def about_quotas(node: Node, now: datetime) -> Iterator[HostFinding]:
    """Quotas that a host has reached within a day, one finding for each."""
    for quota in quotas.reached_by(node, now):
        yield HostFinding(
            Finding(
                CODE,
                gettext_noop("{node} sent data beyond the limits for one host ({what}); the excess was discarded."),
                {"node": node.name, "what": _WHAT[quota]},
                Level.WARNING,
                gettext_noop(
                    "A healthy host sends far less. Stored data is kept, and other hosts are unaffected. The command "
                    "nasadvisor on {node} still shows everything. If you cannot explain the amount, {node} may have "
                    "been taken over: check `journalctl -u nasadvisor-host` there, and forget the host under Settings "
                    "to end its access."
                ),
                subject=quota.value,
            )
        )
