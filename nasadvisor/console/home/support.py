"""The support bundle of one host, as far as the console knows it: `stored.support_bundle` writes it without names."""

import io
import os
import platform
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, TypeVar

import django
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model, Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_celery_beat.models import PeriodicTask

from nasadvisor import __version__
from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import ApiToken, Passkey
from nasadvisor.console.accounts.roles import admin_required
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import SampledPool, StoredAnswer, StoredMeasurement
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.health.alerts.models import Channel, HomeAssistantSettings, StoredAlert, WatchSettings
from nasadvisor.console.health.models import NodeHealth, PoolDay, RawAnswer, StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.spells import PoolSpells
from nasadvisor.domain.fleet.known_names import KnownName, NameKind, names_in
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.traffic_findings import PoolTraffic
from nasadvisor.domain.health.wear.bill import Payee
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.kinds import form_of, own_schema_versions
from nasadvisor.stored.support_bundle import (
    SupportFile,
    readable,
    said_by_tools,
    shown_settings,
    smartctl_version,
    without_output,
    write_bundle,
)

SAMPLES_FROM: Final = timedelta(days=7)
"""[policy] As much as a verdict looks back."""

FROM: Final = timedelta(days=30)
"""[policy] For alerts, measurements, and what was written and read in a day."""

RUNS_FROM: Final = timedelta(days=365)
"""[policy] Runs are few, and what they left may be found late."""

T = TypeVar("T")


def all_of(node_name: str, now: datetime) -> tuple[tuple[SupportFile, ...], tuple[KnownName, ...]]:
    """What is stored of one host, and the names that are known beside it; of no host, what is known of the console."""
    node = Node.objects.filter(name=node_name).first()
    return tuple(parts_of(node, now) if node else _console(now)), tuple(known_names())


def parts_of(node: Node, now: datetime) -> Iterator[SupportFile]:
    """What is stored about a host, column by column: what is not named here is not in a bundle."""
    yield from _console(now)
    yield SupportFile("host.json", _about(node))
    yield SupportFile("inventory.json", _read(Inventory, node.inventory_document))
    yield SupportFile("platform.json", _read(PlatformReport, node.platform_document))
    for pool in SampledPool.objects.filter(node=node):
        yield from _pool(pool, now)
    for disk in StoredDisk.objects.filter(node=node):
        yield SupportFile(f"disks/{disk.key}.json", _disk(disk, now))
    for answer in StoredAnswer.objects.filter(node=node):
        yield SupportFile(f"answers/{answer.form}-{answer.pool_guid or 'host'}.json", _answer(answer))
    measured = StoredMeasurement.objects.filter(node=node, requested_at__gt=now - FROM)
    yield SupportFile("measurements.json", [_measurement(each) for each in measured])
    alerts = StoredAlert.objects.filter(node=node).filter(Q(ended_at=None) | Q(ended_at__gt=now - FROM))
    yield SupportFile("alerts.json", [_alert(each) for each in alerts])
    for run in StoredRun.objects.filter(node=node, requested_at__gt=now - RUNS_FROM):
        yield SupportFile(f"runs/{run.pk}.json", _run(run))


def known_names() -> Iterator[KnownName]:
    """Names that only the console knows, and that may stand anywhere: of people, of hosts, and what people named."""
    for user in User.objects.all():
        names = (user.username, user.first_name, user.last_name, user.get_full_name())
        yield from (KnownName(NameKind.USER, name) for name in names)
        yield KnownName(NameKind.MAIL, user.email)
    hosts = (*Node.objects.values_list("name", flat=True), *JoinToken.objects.values_list("node_name", flat=True))
    delivery, broker = WatchSettings.load(), HomeAssistantSettings.load()
    for name in (*hosts, *settings.HOST_NAMES, platform.node(), delivery.mail_host, broker.host):
        yield KnownName(NameKind.HOST, name)
    yield from (KnownName(NameKind.USER, name) for name in (delivery.mail_user, broker.user))
    yield KnownName(NameKind.MAIL, delivery.mail_sender)
    for named in (Channel, ApiToken, Passkey):
        yield from (KnownName(NameKind.LABEL, name) for name in named.objects.values_list("name", flat=True))


def _console(now: datetime) -> Iterator[SupportFile]:
    newest = RawAnswer.objects.order_by("-taken_at").values_list("smartctl", flat=True).first()
    yield SupportFile(
        "versions.json",
        {
            "nasadvisor": __version__,
            "python": platform.python_version(),
            "django": django.get_version(),
            "database": f"{connection.vendor} {_database_version()}",
            "smartctl": smartctl_version(newest or ""),
            "console": own_schema_versions(),
            "written_at": now,
        },
    )
    delivery, channels = WatchSettings.load(), Channel.objects.all()
    yield SupportFile(
        "settings.json",
        {
            "environment": shown_settings(os.environ),
            "delivery": _columns(delivery, "mail_port", "mail_security", "escalate_after_hours", "digest_at")
            | {"has_mail_server": bool(delivery.mail_host), "has_quiet_hours": delivery.quiet_begin is not None},
            "channels": [
                _columns(each, "kind", "level", "timing", "is_on_call", "gets_reports", "language", "is_enabled")
                | _columns(each, "may_be_private", "is_untested", "last_sent_at", "last_error")
                for each in channels
            ],
            "schedules": [_columns(each, "task", "enabled", "last_run_at") for each in PeriodicTask.objects.all()],
            "users": User.objects.count(),
            "hosts": Node.objects.count(),
        },
    )


def _about(node: Node) -> dict[str, object]:
    health = NodeHealth.objects.filter(node=node).first()
    return {
        **_columns(node, "name", "last_contact", "inventory_read_at", "is_simulated", "is_remote", "quotas_reached"),
        "schema_versions": _read(SchemaVersions, node.schema_versions_document),
        "inventory_error": _read(Statement, node.inventory_error_document),
        "findings": [_read(Finding, each) for each in node.finding_documents],
        "sweep": health
        and _columns(health, "sweep_asked_at", "sweep_ended_at", "read", "asleep", "unsupported", "failed"),
        "sweep_error": health and _read(Statement, health.error_document),
    }


def _pool(pool: SampledPool, now: datetime) -> Iterator[SupportFile]:
    folder, begin = f"pools/{pool.name}", int((now - SAMPLES_FROM).timestamp())
    days = PoolDay.objects.filter(node=pool.node, guid=pool.guid, day__gt=(now - FROM).date())
    former = [{"guid": guid, **told} for guid, told in pool.former.items()]
    answers = _columns(pool, "log_answer", "cache_answer", "log_due_at", "cache_due_at", "added_until", "waited_hours")
    yield SupportFile(
        f"{folder}/pool.json",
        answers
        | {
            "guid": pool.guid,
            "pool_name": pool.name,
            "facts": _read(PoolFacts, pool.facts_document),
            "former": former,
            "log_rule": _read(Statement, pool.log_rule_document),
            "cache_rule": _read(Statement, pool.cache_rule_document),
            "waiting": _read(PoolWaiting, pool.waiting_document),
            "traffic": _read(PoolTraffic, pool.traffic_document),
            "days": [_columns(each, "day", "allocated_bytes", "size_bytes") for each in days],
        },
    )
    rows = pool.samples.filter(at__gt=begin).order_by("resolution", "at")
    samples = [_columns(each, "resolution", "at", "seconds", "activity", "latency") for each in rows.iterator()]
    yield SupportFile(f"{folder}/samples.json", {"guid": pool.guid, "names": pool.names, "samples": samples}, _of(pool))
    spells = pool.spells.filter(until__gt=begin).order_by("began")
    yield SupportFile(f"{folder}/spells.json", [_read(PoolSpells, each.document) for each in spells])


def _of(pool: SampledPool) -> tuple[KnownName, ...]:
    """The datasets, vdevs and disks that its samples name."""
    datasets = tuple(KnownName(NameKind.DATASET, name) for name in pool.names if f"{name}/".startswith(f"{pool.name}/"))
    guids = tuple(KnownName(NameKind.GUID, name) for name in pool.names if name.isdigit())
    return (*datasets, *guids, *(known for name in pool.names for known in names_in(name, "key")))


DISK_COLUMNS: Final = (
    *("key", "own_serial", "model", "serial", "size_bytes", "is_rotational", "is_removable", "role", "pool_name"),
    *("vdev_name", "leaf_guids", "role_since", "is_present", "first_seen_at", "last_seen_at", "asked_at", "outcome"),
    *("exit_status", "read_at", "power_on_hours", "percent_used", "bytes_written", "bytes_per_day", "temperature_c"),
    *("spare_percent", "media_errors", "reallocated", "pending", "crc_errors", "worn_out_at", "worn_out_earliest_at"),
    *("worn_out_latest_at", "has_forecast", "worst_level", "is_solid_state", "power_loss", "forecast_document"),
    *("self_test_asked_at", "is_forgotten"),
)


def _disk(disk: StoredDisk, now: datetime) -> dict[str, object]:
    days = disk.written_days.filter(day__gt=(now - FROM).date())
    columns = ("day", "segment_at", "log_bytes", "cache_bytes", "pool_bytes", "drive_bytes", "seconds")
    return _columns(disk, *DISK_COLUMNS) | {
        "reading": _read(SmartReading, disk.reading_document),
        "problem": _read(Statement, disk.problem_document),
        "self_test_problem": _read(Statement, disk.self_test_problem_document),
        "findings": [_read(Finding, each) for each in disk.finding_documents],
        "readings": [each._asdict() for each in readings_of(disk, now - FROM)],
        "smart_days": [_columns(each, "day", "counts") for each in disk.smart_days.all()],
        "self_tests": [_columns(each, "kind", "status", "passed", "hours") for each in disk.self_tests.all()],
        "answers": [
            {"taken_at": each.taken_at} | said_by_tools({"smartctl": each.smartctl, "id_ctrl": each.id_ctrl})
            for each in disk.raw_answers.all()
        ],
        "written": [_columns(each, *columns) | {"lines": [_bill_line(*line) for line in each.lines]} for each in days],
    }


def _bill_line(kind: str, name: str, *counts: object) -> dict[str, object]:
    """What a writer is called stands below what it is."""
    return {"kind": kind, "guest" if kind == Payee.GUEST else "dataset": name, "counts": counts}


def _answer(answer: StoredAnswer) -> dict[str, object]:
    return {
        **_columns(answer, "form", "pool_guid", "asked_at", "seconds", "told_at"),
        "answer": _read(form_of(answer.form), answer.document),
        "error": _read(Statement, answer.error_document),
    }


def _measurement(measured: StoredMeasurement) -> dict[str, object]:
    return {
        **_columns(measured, "id", "pool_guid", "disk_key", "requested_by", "requested_at"),
        "measurement": _read(Measurement, measured.document),
        "error": _read(Statement, measured.error_document),
    }


def _alert(alert: StoredAlert) -> dict[str, object]:
    columns = (
        "code",
        "subject",
        "source",
        "state",
        "level",
        "measure",
        "began_at",
        "told_at",
        "away_since",
        "ended_at",
    )
    return {
        **_columns(alert, *columns, "is_escalated", "acknowledged_by", "acknowledged_at", "snoozed_until"),
        "finding": _read(Finding, alert.finding_document),
        "events": [_columns(each, "kind", "level", "at") for each in alert.events.all()],
    }


def _run(stored: StoredRun) -> dict[str, object]:
    run = _read(Run, stored.document)
    columns = (
        "id",
        "pool_guid",
        "pool_name",
        "seq",
        "state",
        "pending",
        "pending_since",
        "requested_by",
        "requested_at",
    )
    return {
        **_columns(stored, *columns, "trial_until", "trial_ended_at"),
        "run": without_output(run) if isinstance(run, Run) else run,
        "error": _read(Statement, stored.error_document),
        "trial_verdict": _read(Statement, stored.trial_verdict_document),
        "promised": _read(PoolWaiting, stored.promised_document),
    }


def _columns(row: Model, *names: str) -> dict[str, object]:
    return {name: getattr(row, name) for name in names}


def _read(form: type[T], document: object) -> T | dict[str, str] | None:
    return readable(form, document) if document else None


def _database_version() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select sqlite_version()" if connection.vendor == "sqlite" else "show server_version")
        return str(cursor.fetchone()[0])


@require_POST
@admin_required
def support_bundle(request: HttpRequest) -> HttpResponse:
    """The bundle of the host that is shown, as a download."""
    now, node = timezone.now(), current_node(request)
    file = io.BytesIO()
    write_bundle(file, *all_of(node.name if node else "", now), now)
    audit.record(request, Act.SUPPORT_BUNDLE, node or "")
    name = f"nasadvisor-support-{now:%Y-%m-%d-%H%M}.tar.gz"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(file.getvalue(), content_type="application/gzip", headers=headers)
