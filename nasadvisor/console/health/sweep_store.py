"""Taking over what disks answered: decoded for years, as it came for the newest few."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alert_models import AlertEvent, AlertStates
from nasadvisor.console.health.bytes_by_role import forget
from nasadvisor.console.health.forecasts import renew_forecast
from nasadvisor.console.health.models import RawAnswer, Reading, SelfTestResult, StoredDisk, identity_key
from nasadvisor.console.health.raw_answers import document_of
from nasadvisor.console.health.self_tests import self_tests_in
from nasadvisor.console.health.smart_days import note_counts, thin_out
from nasadvisor.domain.health.disk_findings import Subject, disk_findings
from nasadvisor.domain.health.smart.attributes import CRC_ERRORS, SmartValue, raw_of, smart_values
from nasadvisor.domain.health.smart.power_loss import weigh
from nasadvisor.domain.health.smart.reading import SmartReading, decode_answer
from nasadvisor.domain.health.sweep import Answers, DiskAnswer, SweepOutcome
from nasadvisor.domain.statements import RANK, Level
from nasadvisor.stored.documents import Json, from_document, to_document, unpack

RAW_KEPT = 8
"""Newest answers of each disk that are kept as they came: two days at the usual interval."""

ALL_KEPT = timedelta(days=90)
"""Older readings are thinned to one a day, which is as fine as any forecast looks."""

EVENTS_KEPT = timedelta(days=2 * 365)


def store_answers(node_name: str, document: Json) -> None:
    """Keep a part of a sweep's answers. Doing it twice changes nothing.

    Raises:
        DocumentError: it is not a part of a sweep.
        ValueError: it is that of another node.
    """
    part = from_document(Answers, document)
    if part.node != node_name:
        raise ValueError(f"Answers of {part.node} came from {node_name}. They were not stored.")
    node, _ = Node.objects.defer("inventory_document").get_or_create(name=node_name)
    for answer in part.answers:
        with transaction.atomic():
            _store(node, answer)


def _store(node: Node, answer: DiskAnswer) -> None:
    taken_at = datetime.fromisoformat(answer.taken_at)
    disk = _disk_of(node, answer, taken_at)
    if disk.node_id != node.pk:
        return  # it is in another host, or both see it, as in a shared shelf: it stays with that one (`note_disks`)
    is_newest = disk.asked_at is None or taken_at >= disk.asked_at
    smartctl = document_of(unpack(answer.smartctl)) if answer.outcome is SweepOutcome.READ else None
    reading = _decoded(answer, smartctl) if answer.outcome is SweepOutcome.READ else None
    values = smart_values(smartctl) if reading else ()
    if reading and is_newest:
        note_counts(disk, values, taken_at)
    if reading:
        _keep(disk, answer, reading, taken_at)
        _keep_self_tests(disk, smartctl, taken_at)
    if not is_newest:
        return
    disk.asked_at, disk.outcome = taken_at, answer.outcome.value
    disk.problem_document = to_document(answer.problem) if answer.problem else None
    disk.exit_status = answer.exit_status
    if reading:
        _show(disk, reading, values, taken_at)
        renew_forecast(disk, taken_at)
        disk.worst_level = _worst(disk)
    disk.save()


def _disk_of(node: Node, answer: DiskAnswer, taken_at: datetime) -> StoredDisk:
    identity = answer.identity
    disk, _ = StoredDisk.objects.get_or_create(
        identity_key=identity_key(identity),
        defaults={
            "node": node,
            "key": answer.disk_key,
            "model": identity.model,
            "serial": identity.serial,
            "size_bytes": identity.size_bytes,
            "first_seen_at": taken_at,
            "last_seen_at": taken_at,
        },
    )
    return disk


def _decoded(answer: DiskAnswer, smartctl: Any) -> SmartReading:
    """What smartctl said, with what nvme-cli adds about power-loss protection."""
    return decode_answer(smartctl, document_of(unpack(answer.id_ctrl)), document_of(unpack(answer.ocp)))


def _keep(disk: StoredDisk, answer: DiskAnswer, reading: SmartReading, taken_at: datetime) -> None:
    kept = Reading(
        disk=disk,
        taken_at=taken_at,
        power_on_hours=reading.hours,
        percent_used=reading.percent_used,
        bytes_written=reading.bytes_written,
        temperature_c=reading.temperature_celsius,
        spare_percent=reading.spare_percent,
        media_errors=reading.media_errors,
        role=disk.role,
        indicators=[to_document(one) for one in reading.indicators],
        counters=[to_document(one) for one in reading.counters],
    )
    raw = RawAnswer(disk=disk, taken_at=taken_at, smartctl=answer.smartctl, id_ctrl=answer.id_ctrl)
    Reading.objects.bulk_create([kept], ignore_conflicts=True)
    RawAnswer.objects.bulk_create([raw], ignore_conflicts=True)
    surplus = disk.raw_answers.order_by("-taken_at").values_list("pk", flat=True)[RAW_KEPT:]
    if found := list(surplus):
        RawAnswer.objects.filter(pk__in=found).delete()


def _keep_self_tests(disk: StoredDisk, smartctl: Any, taken_at: datetime) -> None:
    """Those of the disk's log that are new; its other entries were there before."""
    entries = [
        SelfTestResult(
            disk=disk, kind=test.kind, hours=test.hours, status=test.status, passed=test.passed, seen_at=taken_at
        )
        for test in self_tests_in(smartctl)
    ]
    SelfTestResult.objects.bulk_create(entries, ignore_conflicts=True)


def _show(disk: StoredDisk, reading: SmartReading, values: tuple[SmartValue, ...], taken_at: datetime) -> None:
    """The newest figures, where lists find them."""
    disk.read_at = taken_at
    disk.power_on_hours = reading.hours
    disk.percent_used = reading.percent_used
    disk.bytes_written = reading.bytes_written
    disk.temperature_c = reading.temperature_celsius
    disk.spare_percent = reading.spare_percent
    disk.media_errors = reading.media_errors
    disk.reallocated, disk.pending = reading.reallocated, reading.pending
    disk.crc_errors = raw_of(values, CRC_ERRORS)
    disk.is_solid_state = reading.identity.solid_state
    disk.power_loss = weigh(reading.power_loss).protection.value
    disk.reading_document = to_document(reading)
    subject = Subject(disk.label, disk.key, str(disk.pk), disk.role)
    disk.finding_documents = [to_document(finding) for finding in disk_findings(subject, reading)]


def _worst(disk: StoredDisk) -> str:
    levels = [Level(str(document["level"])) for document in disk.finding_documents]
    return max(levels, key=RANK.__getitem__).value if levels else ""


def prune(now: datetime) -> None:
    """Thin old readings to the first of each day, and drop what is over for long."""
    old = Reading.objects.filter(taken_at__lt=now - ALL_KEPT)
    for disk_id in old.order_by().values_list("disk", flat=True).distinct():
        seen: set[object] = set()
        surplus = []
        for pk, taken_at in old.filter(disk=disk_id).order_by("taken_at").values_list("pk", "taken_at"):
            day = timezone.localtime(taken_at).date()
            if day in seen:
                surplus.append(pk)
            seen.add(day)
        Reading.objects.filter(pk__in=surplus).delete()
    forget(now)
    thin_out(now)
    AlertEvent.objects.filter(at__lt=now - EVENTS_KEPT, alert__state=AlertStates.RECOVERED).delete()
