"""What Prometheus scrapes: read from the database at each scrape."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from nasadvisor import __version__
from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import AlertStates, Delivery, DeliveryState, StoredAlert
from nasadvisor.console.health.bytes_by_role import ORDER, written_by_role
from nasadvisor.console.health.models import NodeHealth, StoredDisk
from nasadvisor.domain.evidence.verdict import Waiting
from nasadvisor.domain.statements import Level
from nasadvisor.domain.units import HOUR_S


@dataclass(frozen=True)
class Family:
    """All samples of one metric. A counter's name ends in `_total`."""

    name: str
    documentation: str
    kind: Literal["gauge", "counter"] = "gauge"
    samples: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        """One more sample; `labels` as `labels_text` has them, "" for none."""
        self.samples.append(f"{self.name}{{{labels}}} {value}\n" if labels else f"{self.name} {value}\n")


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels with their values, for `Family.add`; more can be put behind a comma."""
    return ",".join([f'{name}="{_escaped(value)}"' for name, value in labels.items()])


def exposition(families: Iterable[Family]) -> str:
    """All of them."""
    return "".join([part for family in families for part in (*_head(family), *family.samples)])


def _head(family: Family) -> tuple[str, str]:
    documentation = family.documentation.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {family.name} {documentation}\n", f"# TYPE {family.name} {family.kind}\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


LARGE: Final = ("facts_document", "names", "node__inventory_document")

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BEARER: Final = "Bearer "

DISK_METRICS: Final[dict[str, tuple[str, str, Literal["gauge", "counter"]]]] = {
    "percent_used": ("nasadvisor_disk_percent_used", "Percent of the rated endurance used; may exceed 100", "gauge"),
    "bytes_per_day": ("nasadvisor_disk_written_bytes_per_day", "Bytes expected to be written a day", "gauge"),
    "temperature_c": ("nasadvisor_disk_temperature_celsius", "Temperature", "gauge"),
    "spare_percent": ("nasadvisor_disk_spare_percent", "Spare blocks left in percent", "gauge"),
    "bytes_written": (
        "nasadvisor_disk_written_bytes_total",
        "Bytes written by the host in the life of the disk",
        "counter",
    ),
    "media_errors": (
        "nasadvisor_disk_media_errors_total",
        "Reads and writes that the disk could not do",
        "counter",
    ),
}
ENDS: Final = {"earliest": "worn_out_earliest_at", "expected": "worn_out_at", "latest": "worn_out_latest_at"}
DISK_FIELDS: Final = (
    *("pk", "node__name", "model", "serial", "role", "pool_name", "is_present", "outcome", "read_at", "power_on_hours"),
    *(*DISK_METRICS, *ENDS.values()),
)

Labelled = list[tuple[str, Any]]
"""Disks, each a row of `DISK_FIELDS`, behind the text of their labels."""


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics, for whoever shows a token: `Authorization: Bearer …`."""
    said = request.headers.get("Authorization", "")
    if not said.startswith(BEARER) or ApiToken.of(said.removeprefix(BEARER)) is None:
        return HttpResponse("A token is needed.\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(exposition(everything()), content_type=CONTENT_TYPE)


def everything() -> Iterator[Family]:
    """Every metric there is, out of the database."""
    build = Family("nasadvisor_build_info", "Version of NAS Advisor")
    build.add(labels_text({"version": __version__}), 1)
    yield build
    yield from _disks()
    yield from _sweeps()
    yield from _pools()
    yield from _waiting()
    yield from _alerts()


def _disks() -> Iterator[Family]:
    # Rows, and not objects of the model: of 1,000 disks these would take three times as long.
    disks = StoredDisk.objects.filter(is_forgotten=False).values_list(*DISK_FIELDS, named=True)
    labelled: Labelled = [(_labels_of(row), row) for row in disks]
    present = Family("nasadvisor_disk_present", "1 while the disk is in its host")
    answers = Family("nasadvisor_disk_answers", "0 if the disk did not answer when it was last asked")
    read_at = Family("nasadvisor_disk_last_reading_timestamp_seconds", "When the disk was last read")
    powered = Family("nasadvisor_disk_powered_on_seconds", "How long the disk was powered on, as it counts itself")
    for labels, disk in labelled:
        present.add(labels, int(disk.is_present))
        answers.add(labels, int(disk.outcome != "failed"))
        if disk.read_at:
            read_at.add(labels, disk.read_at.timestamp())
        if disk.power_on_hours is not None:
            powered.add(labels, disk.power_on_hours * HOUR_S)
    yield from (present, answers, read_at, powered)
    for column, (name, text, kind) in DISK_METRICS.items():
        yield _filled(Family(name, text, kind), column, labelled)
    yield _written_by_role(labelled)
    yield _worn_out(labelled)


def _labels_of(row: Any) -> str:
    return labels_text(
        {"node": row.node__name, "model": row.model, "serial": row.serial, "role": row.role, "pool": row.pool_name}
    )


def _filled(metric: Family, field: str, labelled: Labelled) -> Family:
    for labels, disk in labelled:
        value = getattr(disk, field)
        if value is not None:
            metric.add(labels, value)
    return metric


def _written_by_role(labelled: Labelled) -> Family:
    """Absent for disks that were not watched for a day in their present role."""
    metric = Family(
        "nasadvisor_disk_written_by_role_bytes_per_day",
        "Bytes written a day by the log, the cache, other slices of pools, and others, in the last 30 days",
    )
    written = written_by_role([disk for _, disk in labelled], timezone.now())
    for labels, disk in labelled:
        found = written.get(disk.pk)
        for role in ORDER if found else ():
            count = found.bytes_per_day(role) if found else None
            if count is not None:
                metric.add(f'{labels},by="{role}"', count)
    return metric


def _worn_out(labelled: Labelled) -> Family:
    metric = Family(
        "nasadvisor_disk_rated_endurance_exhausted_timestamp_seconds",
        "When the rated endurance is expected to be used up; absent if unknown or later than in ten years",
    )
    for labels, disk in labelled:
        for bound, column in ENDS.items():
            moment = getattr(disk, column)
            if moment:
                metric.add(f'{labels},bound="{bound}"', moment.timestamp())
    return metric


def _sweeps() -> Iterator[Family]:
    ended = Family("nasadvisor_sweep_last_timestamp_seconds", "When all disks of a node were last asked")
    for node, at in NodeHealth.objects.filter(sweep_ended_at__isnull=False).values_list("node__name", "sweep_ended_at"):
        if at:
            ended.add(labels_text({"node": node}), at.timestamp())
    yield ended


def _pools() -> Iterator[Family]:
    online = Family("nasadvisor_pool_online", "1 while the pool is ONLINE")
    size = Family("nasadvisor_pool_size_bytes", "Size of the pool")
    allocated = Family("nasadvisor_pool_allocated_bytes", "Space in use")
    errors = Family("nasadvisor_pool_data_errors", "Damaged files and objects")
    contact = Family("nasadvisor_node_last_contact_timestamp_seconds", "When a node was last heard from")
    for node in Node.objects.defer("inventory_document"):
        if node.last_contact:
            contact.add(labels_text({"node": node.name}), node.last_contact.timestamp())
        for pool in node.inventory.pools if node.inventory else ():
            labels = labels_text({"node": node.name, "pool": pool.name, "guid": pool.guid})
            online.add(labels, int(pool.state == "ONLINE"))
            size.add(labels, pool.size_bytes)
            allocated.add(labels, pool.allocated_bytes)
            errors.add(labels, pool.data_errors)
    yield from (contact, online, size, allocated, errors)


def _waiting() -> Iterator[Family]:
    waiting = Family(
        "nasadvisor_pool_waiting_seconds_per_day", "How long programs wait for a pool in a day; those of several add up"
    )
    programs = Family(
        "nasadvisor_program_waiting_seconds_per_day",
        "How long a program waits for commits of a dataset in a day; the five that wait most, where it is traced",
    )
    pools = SampledPool.objects.exclude(waiting_document=None).select_related("node").defer(*LARGE)
    for series in pools:
        found = series.waiting
        if found is None:  # kept by another release
            continue
        pool = {"node": series.node.name, "pool": series.name, "guid": series.guid}
        for cause in Waiting:
            waiting.add(labels_text({**pool, "cause": cause.value}), found.waits.of(cause))
        for each in found.waits.programs:
            labels = {**pool, "program": each.program, "dataset": each.dataset}
            programs.add(labels_text(labels), each.wait.likely_s)
    yield from (waiting, programs)


def _alerts() -> Iterator[Family]:
    metric = Family("nasadvisor_alerts", "Open alerts")
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).values_list("node__name", "level", "state")
    counts: dict[tuple[str, str, str], int] = {}
    for name in Node.objects.values_list("name", flat=True):
        for level in (Level.WARNING, Level.CRITICAL):
            counts[name, level.value, AlertStates.NEW.value] = 0
    for name, level_value, state in opened:
        counts[name, level_value, state] = counts.get((name, level_value, state), 0) + 1
    for (name, level_value, state), count in counts.items():
        metric.add(labels_text({"node": name, "level": level_value, "state": state}), count)
    yield metric
    waiting = Family("nasadvisor_messages_waiting", "Messages that could not be sent yet")
    waiting.add("", Delivery.objects.filter(state=DeliveryState.WAITING).count())
    yield waiting
