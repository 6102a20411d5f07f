"""Taking over what disks answered: decoded for years, as it came for the newest few."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.bytes_by_role import forget
from nasadvisor.console.health.forecasts import renew_forecast
from nasadvisor.console.health.models import UNWORKABLE, RawAnswer, SelfTestResult, StoredDisk
from nasadvisor.console.health.readings import (
    Days,
    days_of,
    document_of,
    growth_of,
    keep_readings,
    note_counts,
    thin_out,
    thin_readings,
)
from nasadvisor.domain.health.disk_findings import Subject, disk_findings, growth_findings
from nasadvisor.domain.health.smart.attributes import SmartValue, crc_errors, reallocated, smart_values
from nasadvisor.domain.health.smart.power_loss import weigh
from nasadvisor.domain.health.smart.reading import SmartReading, decode_answer
from nasadvisor.domain.health.smart.self_tests import self_tests_in
from nasadvisor.domain.health.sweep import Answers, DiskAnswer, SweepOutcome
from nasadvisor.domain.statements import RANK, Level
from nasadvisor.stored.documents import Json, from_document, to_document, unpack
from nasadvisor.stored.packing import DiskReading

RAW_KEPT = 8
"""Newest answers of each disk that are kept as they came: two days at the usual interval."""


def store_answers(node_name: str, document: Json) -> None:
    """Keep a part of a sweep's answers as a host sent it.

    Raises:
        DocumentError: it is no such part.
    """
    keep_answers(node_name, from_document(Answers, document), document)


def keep_answers(node_name: str, part: Answers, _document: Json) -> None:
    """Keep a part of a sweep's answers. Doing it twice changes nothing.

    Those of disks that are all different ones are kept together. Where one of them cannot be stored each is kept by
    itself, so that it keeps no other from it; the first problem is raised.
    """
    node, _ = Node.objects.defer("inventory_document").get_or_create(name=node_name)
    if len({answer.disk_key for answer in part.answers}) == len(part.answers):
        with suppress(*UNWORKABLE), transaction.atomic():
            _store(node, part.answers)
            return
    problems: list[Exception] = []
    for answer in part.answers:
        try:
            with transaction.atomic():
                _store(node, (answer,))
        except UNWORKABLE as problem:
            problems.append(problem)
    if problems:
        raise problems[0]


@dataclass(frozen=True)
class Decoded:
    """An answer, decoded if it could be read; `smartctl` is what that was decoded from."""

    answer: DiskAnswer
    taken_at: datetime
    smartctl: Any
    reading: SmartReading | None
    values: tuple[SmartValue, ...]

    @property
    def own_serial(self) -> str:
        """The serial that the disk told itself, "" unless it is another than that by which its host knows it."""
        return self.answer.identity.own_serial(self.reading.identity.serial) if self.reading else ""

    @property
    def names_itself(self) -> bool:
        """Whether the disk told a serial."""
        return bool(self.reading and self.reading.identity.serial)


@dataclass(frozen=True)
class Told(Decoded):
    """An answer with the disk that gave it."""

    disk: StoredDisk

    @property
    def is_newest(self) -> bool:
        """Whether nothing later is known of the disk."""
        return self.disk.asked_at is None or self.taken_at >= self.disk.asked_at


def _store(node: Node, answers: tuple[DiskAnswer, ...]) -> None:
    told = _with_disks(node, [_decoded(answer) for answer in answers])
    # One in another host, or that both see, as in a shared shelf, stays with that one (`note_disks`).
    told = [each for each in told if each.disk.node_id == node.pk]
    read = [each for each in told if each.reading]
    note_counts([(each.disk, each.values, each.taken_at) for each in read if each.is_newest])
    _keep(read)
    days = days_of(each.disk for each in read if each.is_newest)
    for each in told:
        if each.is_newest:
            _show(each, days.get(each.disk.pk, ()))


def _decoded(answer: DiskAnswer) -> Decoded:
    """What smartctl said, with what nvme-cli adds about power-loss protection."""
    taken_at = datetime.fromisoformat(answer.taken_at)
    if answer.outcome is not SweepOutcome.READ:
        return Decoded(answer, taken_at, None, None, ())
    smartctl = document_of(unpack(answer.smartctl))
    reading = decode_answer(smartctl, document_of(unpack(answer.id_ctrl)), document_of(unpack(answer.ocp)))
    return Decoded(answer, taken_at, smartctl, reading, smart_values(smartctl))


def _with_disks(node: Node, answers: Sequence[Decoded]) -> list[Told]:
    """Each answer with its disk; one that nobody knew is made, if there is room for it."""
    rows: defaultdict[str, list[StoredDisk]] = defaultdict(list)
    keys = [each.answer.disk_key for each in answers]
    for row in StoredDisk.objects.filter(key__in=keys).order_by("-is_present", "-last_seen_at"):
        rows[row.key].append(row)
    told = []
    for each in answers:
        known = rows[each.answer.disk_key]
        disk = _disk_among(known, each) or _made(node, each, known[0] if known else None)
        if disk:
            told.append(Told(**vars(each), disk=disk))
    return told


def _disk_among(known: Sequence[StoredDisk], told: Decoded) -> StoredDisk | None:
    """Which of the disks that have been known by one key an answer is of; the one that is there now stands first.

    One that told nothing yet is given the serial that it tells now. Who tells none is taken for the one that is there.
    """
    if not told.names_itself:
        return known[0] if known else None
    own = next((disk for disk in known if disk.own_serial == told.own_serial), None)
    if own is None and (own := next((disk for disk in known if not disk.own_serial and not disk.read_at), None)):
        own.own_serial = own.serial = told.own_serial
    if own:
        _take_its_place(own, known, told.taken_at)
    return own


def _take_its_place(disk: StoredDisk, known: Sequence[StoredDisk], taken_at: datetime) -> None:
    """A disk that answers by the key of another has taken its place, as in a dock: nobody is told that it is gone."""
    others = [other for other in known if other is not disk and other.is_present]
    if others and all(other.asked_at is None or other.asked_at <= taken_at for other in others):
        StoredDisk.objects.filter(pk__in=[other.pk for other in others]).update(is_present=False, is_forgotten=True)
        disk.is_present, disk.is_forgotten, disk.last_seen_at = True, False, taken_at


def _made(node: Node, told: Decoded, before: StoredDisk | None) -> StoredDisk | None:
    """A disk that answers for the first time; None if there is no room. `before` is who was known by its key."""
    if StoredDisk.objects.filter(node=node).count() >= quotas.MOST_DISKS:
        quotas.note(node.name, quotas.Quota.DISKS)
        return None
    identity = told.answer.identity
    disk, _ = StoredDisk.objects.get_or_create(
        key=told.answer.disk_key,
        own_serial=told.own_serial,
        defaults={
            "node": node,
            "model": identity.model,
            "serial": told.own_serial or identity.serial,
            "size_bytes": identity.size_bytes,
            "is_rotational": before.is_rotational if before else False,
            "is_removable": before.is_removable if before else False,
            "first_seen_at": told.taken_at,
            "last_seen_at": told.taken_at,
        },
    )
    if before:
        _take_its_place(disk, [before], told.taken_at)
    return disk


def _keep(read: Sequence[Told]) -> None:
    keep_readings((each.disk, _kept(each.disk, each.reading, each.taken_at)) for each in read if each.reading)
    raw = [
        RawAnswer(disk=each.disk, taken_at=each.taken_at, smartctl=each.answer.smartctl, id_ctrl=each.answer.id_ctrl)
        for each in read
    ]
    RawAnswer.objects.bulk_create(raw, ignore_conflicts=True)
    kept: Counter[int] = Counter()
    surplus = []
    answers = RawAnswer.objects.filter(disk__in=[each.disk for each in read]).order_by("-taken_at")
    for pk, disk in answers.values_list("pk", "disk"):
        kept[disk] += 1
        if kept[disk] > RAW_KEPT:
            surplus.append(pk)
    if surplus:
        RawAnswer.objects.filter(pk__in=surplus).delete()
    tests = [
        SelfTestResult(
            disk=each.disk,
            kind=test.kind[:60],
            hours=test.hours,
            status=test.status,
            passed=test.passed,
            seen_at=each.taken_at,
        )
        for each in read
        for test in self_tests_in(each.smartctl)
        if test.kind and test.status and test.hours is not None
    ]
    # Those of the disks' logs that are new; the other entries were there before.
    SelfTestResult.objects.bulk_create(tests, ignore_conflicts=True)


def _kept(disk: StoredDisk, reading: SmartReading, taken_at: datetime) -> DiskReading:
    return DiskReading(
        at=int(taken_at.timestamp()),
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


def _show(told: Told, days: Days) -> None:
    """How the disk is now, where lists find it."""
    disk, answer = told.disk, told.answer
    disk.asked_at, disk.outcome = told.taken_at, answer.outcome.value
    disk.problem_document = to_document(answer.problem) if answer.problem else None
    disk.exit_status = answer.exit_status
    if told.reading:
        disk.read_at = told.taken_at
        disk.power_on_hours = told.reading.hours
        disk.percent_used = told.reading.percent_used
        disk.bytes_written = told.reading.bytes_written
        disk.temperature_c = told.reading.temperature_celsius
        disk.spare_percent = told.reading.spare_percent
        disk.media_errors = told.reading.media_errors
        disk.reallocated, disk.pending = told.reading.reallocated, told.reading.pending
        damaged = crc_errors(told.values)
        disk.crc_errors = damaged.raw if damaged else None
        disk.is_solid_state = told.reading.identity.solid_state
        disk.power_loss = weigh(told.reading.power_loss).protection.value
        disk.reading_document = to_document(told.reading)
        # What it says now, and what has grown since it was watched first.
        subject = Subject(disk.label, disk.key, str(disk.pk), disk.role)
        today = timezone.localtime(told.taken_at).date()
        grown = (growth_of(value, days, today) for value in (reallocated(told.values), crc_errors(told.values)))
        findings = (*disk_findings(subject, told.reading), *growth_findings(subject, *grown))
        disk.finding_documents = [to_document(each) for each in findings]
        renew_forecast(disk, told.taken_at)
        levels = [Level(str(document["level"])) for document in disk.finding_documents]
        disk.worst_level = max(levels, key=RANK.__getitem__).value if levels else ""
    disk.save()


def prune(now: datetime) -> None:
    """Thin what is old, and drop what is over for long."""
    thin_readings(now)
    forget(now)
    thin_out(now)
