"""What Prometheus scrapes: read from the database at each scrape, on a registry of its own."""

from collections.abc import Iterator
from typing import Final

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from nasadvisor import __version__
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.access_models import ApiToken
from nasadvisor.console.health.alert_models import AlertStates, Delivery, DeliveryState, StoredAlert
from nasadvisor.console.health.bytes_by_role import ORDER, written_by_role
from nasadvisor.console.health.models import LARGE_FIELDS, NodeHealth, StoredDisk
from nasadvisor.domain.statements import Level

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BEARER: Final = "Bearer "

DISK_LABELS: Final = ("node", "model", "serial", "role", "pool")

DISK_GAUGES: Final = {
    "percent_used": ("nasadvisor_disk_percent_used", "Percent of the rated endurance used; may exceed 100"),
    "bytes_per_day": ("nasadvisor_disk_written_bytes_per_day", "Bytes expected to be written a day"),
    "temperature_c": ("nasadvisor_disk_temperature_celsius", "Temperature"),
    "spare_percent": ("nasadvisor_disk_spare_percent", "Spare blocks left in percent"),
    "power_on_hours": ("nasadvisor_disk_power_on_hours", "Hours powered on"),
}
DISK_COUNTERS: Final = {
    "bytes_written": ("nasadvisor_disk_written_bytes", "Bytes written by the host in the life of the disk"),
    "media_errors": ("nasadvisor_disk_media_errors", "Reads and writes that the disk could not do"),
}
ENDS: Final = {"earliest": "worn_out_earliest_at", "expected": "worn_out_at", "latest": "worn_out_latest_at"}


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics, for whoever shows a token: `Authorization: Bearer …`."""
    said = request.headers.get("Authorization", "")
    if not said.startswith(BEARER) or ApiToken.of(said.removeprefix(BEARER)) is None:
        return HttpResponse("A token is needed.\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    registry.register(Everything())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE)


class Everything(Collector):
    """Every metric there is."""

    def collect(self) -> Iterator[Metric]:
        """Read the database."""
        build = GaugeMetricFamily("nasadvisor_build_info", "Version of NAS Advisor", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        yield from _disks()
        yield from _sweeps()
        yield from _pools()
        yield from _alerts()


def _disks() -> Iterator[Metric]:
    disks = list(
        StoredDisk.objects.filter(is_forgotten=False)
        .select_related("node")
        .defer(*LARGE_FIELDS, "node__inventory_document")
    )
    labelled = [([disk.node.name, disk.model, disk.serial, disk.role, disk.pool_name], disk) for disk in disks]
    present = GaugeMetricFamily("nasadvisor_disk_present", "1 while the disk is in its host", labels=DISK_LABELS)
    answers = GaugeMetricFamily(
        "nasadvisor_disk_answers", "0 if the disk did not answer when it was last asked", labels=DISK_LABELS
    )
    read_at = GaugeMetricFamily(
        "nasadvisor_disk_last_reading_timestamp_seconds", "When the disk was last read", labels=DISK_LABELS
    )
    for labels, disk in labelled:
        present.add_metric(labels, int(disk.is_present))
        answers.add_metric(labels, int(disk.outcome != "failed"))
        if disk.read_at:
            read_at.add_metric(labels, disk.read_at.timestamp())
    yield from (present, answers, read_at)
    for field, (name, text) in DISK_GAUGES.items():
        yield _filled(GaugeMetricFamily(name, text, labels=DISK_LABELS), field, labelled)
    for field, (name, text) in DISK_COUNTERS.items():
        yield _filled(CounterMetricFamily(name, text, labels=DISK_LABELS), field, labelled)
    yield _written_by_role(labelled)
    worn = GaugeMetricFamily(
        "nasadvisor_disk_rated_endurance_exhausted_timestamp_seconds",
        "When the rated endurance is expected to be used up; absent if unknown or later than in ten years",
        labels=[*DISK_LABELS, "bound"],
    )
    for labels, disk in labelled:
        for bound, field in ENDS.items():
            moment = getattr(disk, field)
            if moment:
                worn.add_metric([*labels, bound], moment.timestamp())
    yield worn


def _written_by_role(labelled: list[tuple[list[str], StoredDisk]]) -> Metric:
    """Absent for disks that were not watched for a day in their present role."""
    family = GaugeMetricFamily(
        "nasadvisor_disk_written_by_role_bytes_per_day",
        "Bytes written a day by the log, the cache, other slices of pools, and others, in the last 30 days",
        labels=[*DISK_LABELS, "by"],
    )
    written = written_by_role([disk for _, disk in labelled], timezone.now())
    for labels, disk in labelled:
        found = written.get(disk.pk)
        for role in ORDER if found else ():
            count = found.bytes_per_day(role) if found else None
            if count is not None:
                family.add_metric([*labels, role], count)
    return family


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, field: str, labelled: list[tuple[list[str], StoredDisk]]
) -> Metric:
    for labels, disk in labelled:
        value = getattr(disk, field)
        if value is not None:
            family.add_metric(labels, value)
    return family


def _sweeps() -> Iterator[Metric]:
    ended = GaugeMetricFamily(
        "nasadvisor_sweep_last_timestamp_seconds", "When all disks of a node were last asked", labels=["node"]
    )
    for node, at in NodeHealth.objects.filter(sweep_ended_at__isnull=False).values_list("node__name", "sweep_ended_at"):
        if at:
            ended.add_metric([node], at.timestamp())
    yield ended


def _pools() -> Iterator[Metric]:
    labels = ("node", "pool", "guid")
    online = GaugeMetricFamily("nasadvisor_pool_online", "1 while the pool is ONLINE", labels=labels)
    size = GaugeMetricFamily("nasadvisor_pool_size_bytes", "Size of the pool", labels=labels)
    allocated = GaugeMetricFamily("nasadvisor_pool_allocated_bytes", "Space in use", labels=labels)
    errors = GaugeMetricFamily("nasadvisor_pool_data_errors", "Damaged files and objects", labels=labels)
    contact = GaugeMetricFamily(
        "nasadvisor_node_last_contact_timestamp_seconds", "When a node was last heard from", labels=["node"]
    )
    for node in Node.objects.defer("inventory_document"):
        if node.last_contact:
            contact.add_metric([node.name], node.last_contact.timestamp())
        for pool in node.inventory.pools if node.inventory else ():
            named = [node.name, pool.name, pool.guid]
            online.add_metric(named, int(pool.state == "ONLINE"))
            size.add_metric(named, pool.size_bytes)
            allocated.add_metric(named, pool.allocated_bytes)
            errors.add_metric(named, pool.data_errors)
    yield from (contact, online, size, allocated, errors)


def _alerts() -> Iterator[Metric]:
    family = GaugeMetricFamily("nasadvisor_alerts", "Open alerts", labels=["node", "level", "state"])
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).values_list("node__name", "level", "state")
    counts: dict[tuple[str, str, str], int] = {}
    for name in Node.objects.values_list("name", flat=True):
        for level in (Level.WARNING, Level.CRITICAL):
            counts[name, level.value, AlertStates.NEW.value] = 0
    for name, level_value, state in opened:
        counts[name, level_value, state] = counts.get((name, level_value, state), 0) + 1
    for labels, count in counts.items():
        family.add_metric(labels, count)
    yield family
    waiting = GaugeMetricFamily("nasadvisor_messages_waiting", "Messages that could not be sent yet")
    waiting.add_metric([], Delivery.objects.filter(state=DeliveryState.WAITING).count())
    yield waiting
