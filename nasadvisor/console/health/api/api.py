"""The interface for other programs: JSON over HTTP, described by OpenAPI, read-only but for acknowledging alerts."""

from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError
from ninja.security import HttpBearer

from nasadvisor import __version__
from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import AlertStates, StoredAlert
from nasadvisor.console.health.alerts.watch import take_up
from nasadvisor.console.health.bytes_by_role import ORDER, written_by_role
from nasadvisor.console.health.forecasts import rating_of, stored_forecast, with_ratings
from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.console.health.wear_bill import DiskBill, bill_of_disk
from nasadvisor.console.wording.explain import address_of
from nasadvisor.domain.health.wear.what_if import WeighedLine

ROOT = "api/v1/"
MOST_READINGS = 5000
MOST_ALERTS = 500


class Bearer(HttpBearer):
    """`Authorization: Bearer nasadvisor_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Whose token it is."""
        del request
        return ApiToken.of(token)


class NodeOut(Schema):
    """A host."""

    name: str
    last_contact: datetime | None
    inventory_read_at: datetime | None


class PoolOut(Schema):
    """A pool as its host last saw it; sizes in bytes."""

    node: str
    name: str
    guid: str
    state: str
    size_bytes: int
    allocated_bytes: int
    data_errors: int


class DiskOut(Schema):
    """A disk with its newest figures; null is unknown. `has_forecast` tells "later than in ten years" from unknown."""

    id: int
    node: str
    model: str
    serial: str
    size_bytes: int
    role: str
    pool_name: str
    is_present: bool
    outcome: str
    read_at: datetime | None
    power_on_hours: int | None
    percent_used: float | None
    bytes_written: int | None
    bytes_per_day: int | None
    temperature_c: int | None
    spare_percent: int | None
    media_errors: int | None
    has_forecast: bool
    worn_out_earliest_at: datetime | None
    worn_out_at: datetime | None
    worn_out_latest_at: datetime | None
    rated_terabytes: float | None

    @staticmethod
    def resolve_node(disk: StoredDisk) -> str:
        """The name of the node."""
        return disk.node.name


class WrittenOut(Schema):
    """What was written to one SSD in its present role within the seconds that were seen of the last 30 days.

    The log's writing, the cache's, that of its other slices for pools, and what neither accounts for.
    """

    disk_id: int
    seconds: float
    log_bytes_per_day: int | None
    cache_bytes_per_day: int | None
    data_bytes_per_day: int | None
    other_bytes_per_day: int | None


class BillLineOut(Schema):
    """A writer of an SSD: a guest, dataset, log (of the one in `name`), cache, metadata, undivided or others.

    `logical_bytes_per_day` are what programs wrote for it, `amplification` bytes on the pool's SSDs for each of them.
    `percent_per_year` is its part of the wear, `years_without` how long the SSD lasts without it (null: longer than
    anybody foretells, or unknown), `cost_per_year` its part of the price that was entered.
    """

    kind: str
    name: str
    share: float
    bytes_per_day: int
    logical_bytes_per_day: int
    amplification: float | None
    percent_per_year: float | None
    years_without: float | None
    cost_per_year: float | None


class AdviceOut(Schema):
    """What would save writes, at the most so many bytes a day and so many months; `sentence` is in English."""

    code: str
    sentence: str
    bytes_per_day: int
    months: float | None


class BillOut(Schema):
    """Who wears an SSD out: the lines add up to what the kernel counted for it in the last 30 days."""

    disk_id: int
    seconds: float
    bytes_per_day: int
    lines: list[BillLineOut]
    advice: list[AdviceOut]


class ReadingOut(Schema):
    """What a disk said at one moment; null is unknown."""

    taken_at: datetime
    power_on_hours: int | None
    percent_used: float | None
    bytes_written: int | None
    temperature_c: int | None
    spare_percent: int | None
    media_errors: int | None
    role: str


class AlertOut(Schema):
    """An alert. `sentence` is in English; `code` never changes its meaning, which the page at `explain` says."""

    id: int
    node: str
    code: str
    subject: str
    state: str
    level: str
    sentence: str
    explain: str
    began_at: datetime
    ended_at: datetime | None
    acknowledged_by: str


class ProblemOut(Schema):
    """Why there is no answer."""

    detail: str


class MisuseOut(Schema):
    """Which parameter cannot be read, and why: one entry for each."""

    detail: list[dict[str, Any]]


def _answers(good: Any, *problems: int) -> dict[int, Any]:
    """What a question is answered with, by status; 401 without a token that is good."""
    forms = {status: MisuseOut if status == HTTPStatus.UNPROCESSABLE_ENTITY else ProblemOut for status in problems}
    return {HTTPStatus.OK: good, HTTPStatus.UNAUTHORIZED: ProblemOut, **forms}


NOT_ONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
"""Where one thing is asked for by its number."""

api = NinjaAPI(
    title="NAS Advisor",
    version=__version__,
    description="Health of disks and pools. Create a token in the settings and send it as a bearer token.",
    auth=Bearer(),
    docs_url=None,  # its pages load scripts from elsewhere
    openapi_url=None,  # ours asks for a token too
    urls_namespace="api",
)


@api.get("/openapi.json", include_in_schema=False)
def description(request: HttpRequest) -> Any:
    """What this interface is, for programs that make clients from it."""
    del request
    return api.get_openapi_schema(path_prefix=f"/{ROOT}")


@api.get("/nodes", response=_answers(list[NodeOut]), summary="All hosts")
def nodes(request: HttpRequest) -> Any:
    """Every host that has reported."""
    del request
    return Node.objects.defer("inventory_document")


@api.get("/pools", response=_answers(list[PoolOut]), summary="All pools")
def pools(request: HttpRequest) -> list[dict[str, object]]:
    """Every imported pool of every host."""
    del request
    fields = ("name", "guid", "state", "size_bytes", "allocated_bytes", "data_errors")
    return [
        {"node": node.name, **{field: getattr(pool, field) for field in fields}}
        for node in Node.objects.defer("inventory_document")
        for pool in (node.inventory.pools if node.inventory else ())
    ]


@api.get("/disks", response=_answers(list[DiskOut]), summary="All disks")
def disks(request: HttpRequest, node: str = "") -> Any:
    """Every disk, of one node if asked."""
    del request
    found = with_ratings(
        StoredDisk.objects.filter(is_forgotten=False)
        .select_related("node")
        .defer(*LARGE_FIELDS, "node__inventory_document")
    )
    return found.filter(node__name=node) if node else found


@api.get("/written", response=_answers(list[WrittenOut]), summary="Who writes to the SSDs")
def written(request: HttpRequest) -> list[dict[str, object]]:
    """Every SSD that was watched in its present role; null until that was a day."""
    del request
    found = written_by_role(StoredDisk.objects.filter(is_forgotten=False).only("pk"), timezone.now())
    return [
        {
            "disk_id": pk,
            "seconds": each.seconds,
            **{f"{role}_bytes_per_day": each.bytes_per_day(role) for role in ORDER},
        }
        for pk, each in found.items()
    ]


@api.get("/disks/{disk_id}/wear", response=_answers(BillOut, *NOT_ONE), summary="Who wears an SSD out")
def wear(request: HttpRequest, disk_id: int) -> dict[str, object]:
    """Its writers, the largest first; 404 until it was watched for a day in its present role."""
    del request
    disks = StoredDisk.objects.select_related("node").defer("node__inventory_document")
    disk = get_object_or_404(disks, pk=disk_id)
    kept, rating = stored_forecast(disk), rating_of(disk)
    bill = bill_of_disk(disk, kept.forecast if kept else None, rating, timezone.now())
    if bill is None:
        raise HttpError(HTTPStatus.NOT_FOUND, "Not watched for a day yet.")
    return {
        "disk_id": disk.pk,
        "seconds": bill.written.seconds,
        "bytes_per_day": bill.per_day,
        "lines": [_line(row, bill) for row in bill.rows],
        "advice": [
            {
                "code": each.statement.code,
                "sentence": str(each.statement),
                "bytes_per_day": each.bytes_per_day,
                "months": each.months,
            }
            for each in bill.advice
        ],
    }


def _line(row: WeighedLine, bill: DiskBill) -> dict[str, object]:
    line = row.line
    return {
        "kind": line.kind.value,
        "name": line.name,
        "share": row.share,
        "bytes_per_day": round(row.bytes_per_day),
        "logical_bytes_per_day": bill.written.a_day(line.logical_bytes),
        "amplification": line.amplification,
        "percent_per_year": row.percent_per_year.middle if row.percent_per_year else None,
        "years_without": row.years_without.middle if row.years_without else None,
        "cost_per_year": row.cost,
    }


@api.get("/disks/{disk_id}/readings", response=_answers(list[ReadingOut], *NOT_ONE), summary="The readings of a disk")
def readings(request: HttpRequest, disk_id: int, since: datetime | None = None) -> Any:
    """Its readings, oldest first; the newest 5,000 at most."""
    del request
    return readings_of(get_object_or_404(StoredDisk, pk=disk_id), since)[-MOST_READINGS:]


@api.get("/alerts", response=_answers(list[AlertOut]), summary="Alerts")
def alerts(request: HttpRequest, state: str = "") -> list[dict[str, object]]:
    """Open alerts, or those in the state that is asked for: new, acknowledged or recovered."""
    del request
    found = StoredAlert.objects.select_related("node").defer("node__inventory_document")
    found = found.filter(state=state) if state else found.exclude(state=AlertStates.RECOVERED)
    return [_alert(stored) for stored in found[:MOST_ALERTS]]


@api.post(
    "/alerts/{alert_id}/acknowledge",
    response=_answers(AlertOut, HTTPStatus.FORBIDDEN, *NOT_ONE),
    summary="Acknowledge an alert",
)
def acknowledge(request: HttpRequest, alert_id: int) -> dict[str, object]:
    """It is told again only if it grows. Needs a token that may do so."""
    token = request.auth  # type: ignore[attr-defined]
    if not token.may_acknowledge:
        audit.record_refusal(request, audit.named_after(token.name))
        raise HttpError(HTTPStatus.FORBIDDEN, "This token may only look.")
    stored = get_object_or_404(StoredAlert.objects.select_related("node"), pk=alert_id)
    take_up(stored, audit.named_after(token.name), timezone.now())
    audit.record_program(token.name, request, Act.ALERT_TAKEN_UP, f"{stored.node}: {stored}")
    return _alert(StoredAlert.objects.select_related("node").get(pk=alert_id))


def _alert(stored: StoredAlert) -> dict[str, object]:
    fields = ("id", "code", "subject", "state", "level", "began_at", "ended_at", "acknowledged_by")
    sentence = str(stored.finding) if stored.finding else stored.code
    told = {"node": stored.node.name, "sentence": sentence, "explain": address_of(stored.code)}
    return {**told, **{field: getattr(stored, field) for field in fields}}


def patterns() -> Any:
    """The addresses of the interface; a token stands in for the session that all other pages need."""
    urls, app_name, namespace = api.urls
    own = [url for url in urls if getattr(url, "name", "") != "api-root"]
    for url in own:
        if url.callback:
            login_not_required(url.callback)
    return own, app_name, namespace
