"""1,000 disks watched for a year: the pages, a sweep's storing, the alerts, the metrics and the report."""

import logging
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.console import console_folder, p95_ms, signed_in
from benchmarks.figure import Figure
from nasadvisor.console.worker.answers import take_answer

DISKS = 1000
DAYS = 365
WRITTEN_DAYS = 365
FINE_DAYS = 90
PAGE_MS = 100
REPORT_S = 60.0
SWEEP_S = 5.0
METRICS_MS = 100
YEAR_KIB = 100


def figures() -> Iterator[Figure]:
    """Make the fleet, then look at it."""
    folder = console_folder()
    from django.contrib.auth.models import User  # noqa: PLC0415

    from nasadvisor.console.accounts.models import ApiToken  # noqa: PLC0415
    from nasadvisor.console.health.alerts import watch  # noqa: PLC0415
    from nasadvisor.console.health.models import StoredDisk  # noqa: PLC0415
    from nasadvisor.console.health.reports import reports  # noqa: PLC0415
    from nasadvisor.domain.health.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated.smart import simulated_answer  # noqa: PLC0415
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415

    now = datetime.now(UTC).replace(microsecond=0)
    inventory = fleet(now)
    readings = watch_a_year(inventory, now)
    written_a_year(now)
    size = sum(file.stat().st_size for file in folder.iterdir())
    yield Figure("readings", "", f"{readings:,}")
    year = size / DISKS / 1024
    yield Figure("database a disk and year", f"{YEAR_KIB} KiB", f"{year:.0f} KiB", met=year <= YEAR_KIB)

    part = [simulated_answer(disk, now + timedelta(hours=6)) for disk in inventory.disks[:50]]
    seconds = _seconds(lambda: take_answer(inventory.host.node, "answers", to_document(Answers("bench", tuple(part)))))
    a_sweep = seconds * DISKS / len(part)
    yield Figure(
        "storing a sweep of all, with forecasts", f"{SWEEP_S:.0f} s", f"{a_sweep:.1f} s", met=a_sweep <= SWEEP_S
    )
    yield Figure("moving the alerts", "", f"{_seconds(lambda: watch.watch(now)) * 1000:.0f} ms")

    maker = User.objects.create_user("bench-maker", is_superuser=True)
    ApiToken.objects.create(name="bench", digest=ApiToken.digest_of("t"), created_by=maker)
    worn = StoredDisk.objects.filter(has_forecast=True).first() or StoredDisk.objects.all()[0]
    client = signed_in(Authorization="Bearer t")
    for path in ("/", "/disks/", "/disks/?sort=-worn", f"/disks/{worn.key}/", "/alerts/", "/metrics"):
        p95, cpu = p95_ms(client, path)
        measured = f"{p95:.0f} ms ({cpu:.0f} ms CPU)"
        budget = METRICS_MS if path == "/metrics" else PAGE_MS
        yield Figure(f"p95 of {path}, one client", f"{budget} ms", measured, met=p95 <= budget)
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    took = _seconds(lambda: reports.report_pdf("en", now))
    yield Figure("report as PDF", f"{REPORT_S:.0f} s", f"{took:.1f} s", met=took <= REPORT_S)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Figure("largest memory of this process", "", f"{peak:.0f} MiB")


def fleet(now: datetime, disks: int = DISKS) -> Any:
    """A tenth of the disks are SSDs of pools, the others hard disks, as in a large NAS."""
    from nasadvisor.domain.storage.inventory import Host  # noqa: PLC0415
    from tests.fixtures.machines.build import large  # noqa: PLC0415
    from tests.unit.machines import ssd  # noqa: PLC0415

    base = large()
    ssds = tuple(
        replace(ssd(f"eui.{number:016x}", "KIOXIA KCM7XVUG3T20", f"B{number:05d}", 3_200_631_791_616), rotational=False)
        for number in range(disks)
    )
    host = Host("bench", base.host.os_name, base.host.kernel, "2.3.9-1", "2.3.9-1", base.host.memory_bytes)
    return replace(base, host=host, disks=ssds, pools=base.pools, read_at=now.isoformat())


def watch_a_year(inventory: Any, now: datetime) -> int:
    """What a year of sweeps leaves: all readings of the last 90 days, one a day before. How many they are."""
    from django.db import transaction  # noqa: PLC0415

    from nasadvisor.console.health.models import StoredDisk  # noqa: PLC0415
    from nasadvisor.console.health.readings import keep_readings  # noqa: PLC0415
    from nasadvisor.domain.health.smart.reading import decode  # noqa: PLC0415
    from nasadvisor.domain.health.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated.smart import simulated_answer, simulated_smartctl  # noqa: PLC0415
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415
    from nasadvisor.stored.packing import DiskReading  # noqa: PLC0415

    take_answer("bench", "inventory", to_document(inventory))
    ages = [*range(DAYS, FINE_DAYS, -1), *(step / 4 for step in range(FINE_DAYS * 4, 0, -1))]
    year = [
        DiskReading(
            at=int((now - timedelta(days=age)).timestamp()),
            power_on_hours=reading.hours,
            percent_used=reading.percent_used,
            bytes_written=reading.bytes_written,
            temperature_c=reading.temperature_celsius,
            indicators=[to_document(one) for one in reading.indicators],
            counters=[to_document(one) for one in reading.counters],
        )
        for age, reading in ((age, decode(simulated_smartctl(inventory.disks[0], age))) for age in ages)
    ]
    for stored in StoredDisk.objects.order_by("serial"):
        with transaction.atomic():
            keep_readings((stored, reading) for reading in year)
    for begin in range(0, len(inventory.disks), 50):
        part = tuple(simulated_answer(disk, now) for disk in inventory.disks[begin : begin + 50])
        take_answer("bench", "answers", to_document(Answers("bench", part)))
    return len(inventory.disks) * (len(year) + 1)


def written_a_year(now: datetime) -> None:
    """Who wrote to each disk on every day of the year."""
    from nasadvisor.console.health.models import StoredDisk, WrittenDay  # noqa: PLC0415

    since = now - timedelta(days=WRITTEN_DAYS)
    StoredDisk.objects.update(role_since=since, role="log+cache", pool_name="tank")
    sums = {"log_bytes": 10**10, "cache_bytes": 6 * 10**10, "drive_bytes": 8 * 10**10, "seconds": 86_400}
    days = [(now - timedelta(days=age)).date() for age in range(WRITTEN_DAYS)]
    for disk in StoredDisk.objects.only("pk"):
        rows = [WrittenDay(disk=disk, segment_at=since, day=day, **sums) for day in days]
        WrittenDay.objects.bulk_create(rows, batch_size=700)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
