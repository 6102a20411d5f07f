"""1,000 disks watched for a year: the pages, a sweep's storing, the alerts, the metrics and the report."""

import logging
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

DISKS = 1000
DAYS = 365
FINE_DAYS = 90
TIMES = 40
OK = 200
PAGE_MS = 100
REPORT_S = 60.0
SWEEP_S = 60.0


def figures() -> Iterator[Figure]:
    """Make the fleet, then look at it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "nasadvisor.settings", "NASADVISOR_CONSOLE_STATE": folder}
        import django  # noqa: PLC0415 - the settings above must come first

        django.setup()
        from django.conf import settings  # noqa: PLC0415

        settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
        yield from _figures(settings.STATE_DIR)


def _figures(folder: Path) -> Iterator[Figure]:
    from django.conf import settings  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import override_settings  # noqa: PLC0415

    from nasadvisor.console.health import answers, reports, watch  # noqa: PLC0415
    from nasadvisor.console.health.access_models import ApiToken  # noqa: PLC0415
    from nasadvisor.console.health.models import Reading, StoredDisk  # noqa: PLC0415
    from nasadvisor.documents import to_document  # noqa: PLC0415
    from nasadvisor.domain.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated_smart import simulated_answer  # noqa: PLC0415

    call_command("migrate", interactive=False, verbosity=0)
    now = datetime.now(UTC).replace(microsecond=0)
    inventory = _fleet(now)
    _watch_a_year(inventory, now)
    size = sum(file.stat().st_size for file in folder.iterdir())
    yield Figure("readings", "", f"{Reading.objects.count():,}")
    yield Figure("database a disk and year", "", f"{size / DISKS / 1024:.0f} KiB")

    part = [simulated_answer(disk, now + timedelta(hours=6)) for disk in inventory.disks[:50]]
    seconds = _seconds(lambda: answers.store_answers(inventory.host.node, to_document(Answers("bench", tuple(part)))))
    a_sweep = seconds * DISKS / len(part)
    yield Figure(
        "storing a sweep of all, with forecasts", f"{SWEEP_S:.0f} s", f"{a_sweep:.1f} s", met=a_sweep <= SWEEP_S
    )
    yield Figure("moving the alerts", "", f"{_seconds(lambda: watch.watch(now)) * 1000:.0f} ms")

    ApiToken.objects.create(name="bench", digest=ApiToken.digest_of("t"))
    worn = StoredDisk.objects.filter(has_forecast=True).first() or StoredDisk.objects.all()[0]
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(STORAGES={**settings.STORAGES, "staticfiles": plain}):
        client = Client(headers={"Authorization": "Bearer t"})
        _sign_in(client)
        for path in ("/", "/wear/", "/wear/?kind=all&sort=used", f"/wear/{worn.pk}/", "/alerts/", "/metrics"):
            p95, cpu = _p95(client, path)
            measured = f"{p95:.0f} ms ({cpu:.0f} ms CPU)"
            is_page = path != "/metrics"
            budget = f"{PAGE_MS} ms" if is_page else ""
            yield Figure(f"p95 of {path}, one client", budget, measured, met=p95 <= PAGE_MS if is_page else None)
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    took = _seconds(lambda: reports.report_pdf("en", now))
    yield Figure("report as PDF", f"{REPORT_S:.0f} s", f"{took:.1f} s", met=took <= REPORT_S)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Figure("largest memory of this process", "", f"{peak:.0f} MiB")


def _fleet(now: datetime) -> Any:
    """A tenth of the disks are SSDs of pools, the others hard disks, as in a large NAS."""
    from nasadvisor.domain.inventory import Host  # noqa: PLC0415
    from tests.fixtures.machines.build import large  # noqa: PLC0415
    from tests.unit.machines import ssd  # noqa: PLC0415

    base = large()
    disks = tuple(
        replace(ssd(f"eui.{number:016x}", "KIOXIA KCM7XVUG3T20", f"B{number:05d}", 3_200_631_791_616), rotational=False)
        for number in range(DISKS)
    )
    host = Host("bench", base.host.os_name, base.host.kernel, "2.3.9-1", "2.3.9-1", base.host.memory_bytes)
    return replace(base, host=host, disks=disks, pools=base.pools, read_at=now.isoformat())


def _watch_a_year(inventory: Any, now: datetime) -> None:
    """What a year of sweeps leaves: all readings of the last 90 days, one a day before (`answers.prune`)."""
    from nasadvisor.console import records  # noqa: PLC0415
    from nasadvisor.console.health import answers  # noqa: PLC0415
    from nasadvisor.console.health.models import Reading, StoredDisk  # noqa: PLC0415
    from nasadvisor.documents import to_document  # noqa: PLC0415
    from nasadvisor.domain.smart.reading import decode  # noqa: PLC0415
    from nasadvisor.domain.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated_smart import simulated_answer, simulated_smartctl  # noqa: PLC0415

    records.store_inventory("bench", to_document(inventory))
    ages = [*range(DAYS, FINE_DAYS, -1), *(step / 4 for step in range(FINE_DAYS * 4, 0, -1))]
    year = [
        {
            "taken_at": now - timedelta(days=age),
            "power_on_hours": reading.hours,
            "percent_used": reading.percent_used,
            "bytes_written": reading.bytes_written,
            "temperature_c": reading.temperature_celsius,
            "indicators": [to_document(one) for one in reading.indicators],
            "counters": [to_document(one) for one in reading.counters],
        }
        for age, reading in ((age, decode(simulated_smartctl(inventory.disks[0], age))) for age in ages)
    ]
    for stored in StoredDisk.objects.order_by("serial"):
        Reading.objects.bulk_create([Reading(disk=stored, **values) for values in year], batch_size=700)
    for begin in range(0, DISKS, 50):
        part = tuple(simulated_answer(disk, now) for disk in inventory.disks[begin : begin + 50])
        answers.store_answers("bench", to_document(Answers("bench", part)))


def _sign_in(client: Any) -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415

    client.force_login(User.objects.create_superuser("bench"), backend="django.contrib.auth.backends.ModelBackend")


def _p95(client: Any, path: str) -> tuple[float, float]:
    """Milliseconds in the server after the first request, by the clock and by the processor.

    The two differ where something else keeps the machine busy.
    """
    took, cpu = [], []
    for _ in range(TIMES + 1):
        began, cpu_began = time.perf_counter(), time.process_time()
        response = client.get(path)
        took.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - cpu_began) * 1000)
        if response.status_code != OK:
            raise RuntimeError(f"{path}: {response.status_code}")
    return statistics.quantiles(took[1:], n=20)[-1], statistics.quantiles(cpu[1:], n=20)[-1]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
