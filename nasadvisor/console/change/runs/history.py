"""Every run: who, when, what, and how it ended."""

from dataclasses import dataclass
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from nasadvisor.console.change.models import UNREADABLE, StoredRun, StoredRunState
from nasadvisor.console.change.wizard.plan_summary import summary_of
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.evidence.switched import is_run_of_switching
from nasadvisor.stored.documents import DocumentError

PER_PAGE = 50


@dataclass(frozen=True)
class HistoryRow:
    """A run in the list; `run` is None if it cannot be read."""

    stored: StoredRun
    run: Run | None

    @property
    def summary(self) -> str:
        """The plan in a few words."""
        return str(summary_of(self.run.plan)) if self.run else ""

    @property
    def can_undo(self) -> bool:
        """Whether its undo may be asked for now."""
        may_ask = self.stored.seq and not self.stored.pending and self.stored.state not in UNREADABLE
        return bool(self.run and self.run.can_undo and may_ask)


def history(request: HttpRequest) -> HttpResponse:
    """All runs, newest first; of one pool or in one state if asked."""
    state, pool = request.GET.get("state", ""), request.GET.get("pool", "")
    asked = {name: value for name, value in (("state", state), ("pool_guid", pool)) if value}
    runs = StoredRun.objects.select_related("node").defer("node__inventory_document").filter(**asked)
    page = Paginator(runs, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "history",
        "page": page,
        "rows": [row_of(stored) for stored in page.object_list],
        "states": StoredRunState,
        "state": state,
        "pool": pool,
    }
    return render(request, "change/runs/history.html", context)


def row_of(stored: StoredRun) -> HistoryRow:
    """A stored run as a row."""
    try:
        return HistoryRow(stored, stored.run)
    except DocumentError:
        return HistoryRow(stored, None)


@dataclass(frozen=True)
class Entry:
    """A line of the history of a pool: one run, or those of a proof that followed each other and are undone."""

    rows: tuple[HistoryRow, ...]
    is_proof: bool


def entries_of(runs: QuerySet[StoredRun], most: int) -> tuple[list[Entry], int]:
    """The newest entries of a pool's history, at most so many, and how many runs are not among them."""
    groups: list[tuple[bool, list[UUID]]] = []
    for pk, state in runs.values_list("pk", "state"):
        is_proof = is_run_of_switching(pk) and state == StoredRunState.UNDONE
        if not (is_proof and groups and groups[-1][0]):
            groups.append((is_proof, []))
        groups[-1][1].append(pk)
    shown = groups[:most]
    found = runs.in_bulk([pk for _is_proof, pks in shown for pk in pks])
    rows = ((is_proof, [row_of(found[pk]) for pk in pks if pk in found]) for is_proof, pks in shown)
    entries = [Entry(tuple(each), is_proof and len(each) > 1) for is_proof, each in rows if each]
    return entries, sum(len(pks) for _is_proof, pks in groups[most:])
