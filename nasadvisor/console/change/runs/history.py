"""Every run: who, when, what, and how it ended."""

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from nasadvisor.console.change.models import UNREADABLE, StoredRun, StoredRunState
from nasadvisor.console.change.wizard.summary import summary_of
from nasadvisor.domain.change.runs import Run
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
    state = request.GET.get("state", "")
    runs = StoredRun.objects.select_related("node").defer("node__inventory_document")
    page = Paginator(_filtered(runs, state, request.GET.get("pool", "")), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "history",
        "page": page,
        "rows": [row_of(stored) for stored in page.object_list],
        "states": StoredRunState,
        "state": state,
        "pool": request.GET.get("pool", ""),
    }
    return render(request, "change/runs/history.html", context)


def row_of(stored: StoredRun) -> HistoryRow:
    """A stored run as a row."""
    try:
        return HistoryRow(stored, stored.run)
    except DocumentError:
        return HistoryRow(stored, None)


def _filtered(runs: QuerySet[StoredRun], state: str, pool_guid: str) -> QuerySet[StoredRun]:
    runs = runs.filter(state=state) if state else runs
    return runs.filter(pool_guid=pool_guid) if pool_guid else runs
