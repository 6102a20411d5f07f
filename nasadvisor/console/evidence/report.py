"""Before and after one run: the page with its table, the same as CSV, and the short form for the wizard's last step."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.latency_pair import LatencyPair, latency_pairs
from nasadvisor.console.evidence.models import Resolution
from nasadvisor.console.evidence.options import gain_words
from nasadvisor.console.evidence.probed import ProbedRow, probed_rows
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.evidence.switch_shown import Shown, shown
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.evidence.watch import series_of
from nasadvisor.console.web.errors import OtherRelease
from nasadvisor.console.web.sanitise import cells
from nasadvisor.console.wording.statements import time_text
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.evidence.comparison import Comparison, Difference, Gain, compare
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.figures import duration, milliseconds, rate
from nasadvisor.domain.units import DAY_S, HOUR_S, size_text
from nasadvisor.stored.documents import DocumentError

SHORT_S = 12 * HOUR_S
"""Up to here blocks of ten minutes are compared, from here on whole hours."""

TEN_MINUTES_S = 600
WEEK_S = 7 * DAY_S
CSV_TYPE = "text/csv; charset=utf-8"


@dataclass(frozen=True)
class ReportRow:
    """One line of the table. `factor` is after divided by before, 0 where one of them is nothing."""

    what: str
    before: str
    after: str
    factor: float

    @property
    def change(self) -> str:
        """The factor as one says it: times 3.8, or divided by 12."""
        if not self.factor:
            return "–"
        return f"× {_figure(self.factor)}" if self.factor >= 1 else f"÷ {_figure(1 / self.factor)}"


@dataclass(frozen=True)
class Report:
    """The comparison of one run. `applied` and `until` bound the time since; `probed` is what was measured by writing
    before and after. `pictures` are those for wide and narrow screens, none where one side has nothing to show.
    `switching` is what switching its cache at random says, None where that was not done.
    """

    stored: StoredRun
    comparison: Comparison
    rows: tuple[ReportRow, ...]
    applied: datetime
    until: datetime
    probed: tuple[ProbedRow, ...]
    pictures: tuple[LatencyPair, ...] = ()
    switching: Shown | None = None

    @property
    def gain_words(self) -> str:
        """How many times as fast commits became, with the range; "" where that was not compared."""
        gain = self.comparison.gain
        if gain is None:
            return ""
        if gain.middle >= 1:
            template = _(
                "Commits are about %(middle)s times as fast as before (nine in ten comparisons of the same hour of the "
                "day: %(low)s to %(high)s times)."
            )
            factors = {"low": gain.low, "middle": self._factor_of_commits(gain), "high": gain.high}
            return template % {name: _figure(value) for name, value in factors.items()}
        template = _(
            "Commits take about %(middle)s times as long as before (nine in ten comparisons of the same hour of the "
            "day: %(low)s to %(high)s times)."
        )
        slower = {"low": 1 / gain.high, "middle": 1 / self._factor_of_commits(gain), "high": 1 / gain.low}
        return template % {name: _figure(value) for name, value in slower.items()}

    def _factor_of_commits(self, gain: Gain) -> float:
        """The factor of the table below, so that the page has one; within the range that was compared."""
        before, after = self.comparison.before, self.comparison.after
        if not (before and after and before.commit_ns and after.commit_ns):
            return gain.middle
        return min(max(before.commit_ns / after.commit_ns, gain.low), gain.high)

    @property
    def promise_words(self) -> str:
        """What was expected of the log and what it took away at the same load; "" where one of them is not known.

        A promise is kept if nothing less than what was certain is gone, and that is more than chance.
        """
        promised, taken = self.stored.promised, self.comparison.taken_away
        if promised is None or promised.log is None or taken is None or not self.stored.run.plan.request.log_disks:
            return ""
        if taken < promised.log.low:
            template = _(
                "Expected: %(expected)s. Measured at the same load: %(measured)s less, not as much as expected."
            )
        elif promised.log.low and self.comparison.outcome is Difference.FASTER:
            template = _("Expected: %(expected)s. Measured at the same load: %(measured)s less. The promise was kept.")
        else:
            template = _("Expected: %(expected)s. Measured at the same load: %(measured)s less.")
        measured = time_text(max(taken, 0.0) * promised.waits.of(promised.log.of))
        return template % {"expected": gain_words(promised.log, promised.waits), "measured": measured}


def report_of(stored: StoredRun, now: datetime) -> Report | None:
    """The comparison for a run that was applied; None for others, and where nothing was sampled."""
    span = _span(stored.run, now)
    series = series_of(stored.node, stored.pool_guid)
    if span is None or series is None:
        return None
    start, applied, until = span
    is_short = until - applied < SHORT_S
    resolution, block_s = (Resolution.MINUTE, TEN_MINUTES_S) if is_short else (Resolution.HOUR, int(Resolution.HOUR))
    look_back_s = DAY_S + SHORT_S if is_short else WEEK_S
    before = list(whole_samples_of(series, resolution, start - look_back_s, start))
    after = list(whole_samples_of(series, resolution, applied + int(resolution), until))
    comparison = compare(before, after, series.facts, block_s, _hour_of)
    zone = timezone.get_current_timezone()
    return Report(
        stored=stored,
        comparison=comparison,
        rows=tuple(_rows(comparison)),
        applied=datetime.fromtimestamp(applied, zone),
        until=datetime.fromtimestamp(until, zone),
        probed=probed_rows(stored),
        pictures=latency_pairs(before, after, series.facts),
        switching=_switching_of(stored, applied, until),
    )


def report(request: HttpRequest, guid: str, run_id: UUID) -> HttpResponse:
    """The page, or with ?format=csv the table as CSV."""
    stored = StoredRun.objects.select_related("node").filter(pk=run_id, pool_guid=guid).first()
    try:
        found = report_of(stored, timezone.now()) if stored else None
    except DocumentError as error:
        raise OtherRelease from error
    if stored is None or found is None:
        raise Http404
    if request.GET.get("format") == "csv":
        return _as_csv(found)
    return render(request, "evidence/report.html", {"report": found, "section": "evidence", "node": stored.node})


def _switching_of(stored: StoredRun, applied: int, until: int) -> Shown | None:
    """What switching says of the cache that a run gave to its pool: begun while that was there."""
    found = newest_of(stored.node, CacheSwitching, stored.pool_guid) if stored.run.plan.request.cache_disks else None
    record = found.found(CacheSwitching) if found else None
    return shown(record) if record and applied <= record.plan.start <= until else None


def _as_csv(found: Report) -> HttpResponse:
    response = HttpResponse(content_type=CSV_TYPE)
    name = f"{found.stored.pool_name}-before-after.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    writer = csv.writer(response)
    writer.writerow([_("Figure"), _("Before"), _("After"), _("Factor")])
    for row in found.rows:
        writer.writerow(cells([row.what, row.before, row.after, f"{row.factor:.3f}" if row.factor else ""]))
    writer.writerow([_("Verdict"), found.comparison.outcome.value, "", ""])
    writer.writerow([_("p-value"), f"{found.comparison.probability:.4f}", "", ""])
    return response


def _span(run: Run, now: datetime) -> tuple[int, int, int] | None:
    """When the run began, when it was done, and until when it stood; None if it never was applied."""
    ends = [step.ended_at for step in run.steps if step.ended_at]
    if run.state not in (RunState.APPLIED, RunState.UNDONE) or not ends:
        return None
    undone = [step.started_at for step in run.undo_steps if step.started_at]
    until = min(undone) if run.state is RunState.UNDONE and undone else now.isoformat()
    return _seconds(run.started_at), _seconds(max(ends)), _seconds(until)


def _figure(value: float) -> str:
    """Two figures, in the language that is on: buckets of a histogram are twice as wide as the one before."""
    return number_format(float(f"{value:.2g}"), 0 if value >= 10 else 1)


def _seconds(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


def _hour_of(at: int) -> int:
    return datetime.fromtimestamp(at, timezone.get_current_timezone()).hour


def _rows(comparison: Comparison) -> Iterator[ReportRow]:
    before, after = comparison.before, comparison.after
    if before is None or after is None:
        return
    waited = _("Programs wait for synchronous writes, a day")
    yield _row(waited, before.waited_s_per_day, after.waited_s_per_day, duration)
    yield _row(_("Synchronous commits"), before.commits_per_s, after.commits_per_s, _commits)
    yield _row(_("Written synchronously"), before.sync_bytes_per_s, after.sync_bytes_per_s, _throughput)
    commit = _("Commit latency, estimated (write and flush)")
    if not before.counts_flush:
        commit = _("Commit latency without flush (flush counts are missing for one or both periods)")
    yield _row(commit, before.commit_ns, after.commit_ns, milliseconds)
    for name, field in ((_("Log write latency, p50"), "write_p50_ns"), (_("Log write latency, p95"), "write_p95_ns")):
        yield _row(name, getattr(before, field), getattr(after, field), milliseconds)
    yield _row(_("Log write latency, p99"), before.write_p99_ns, after.write_p99_ns, milliseconds)
    yield _row(_("Flush latency, mean"), before.flush_ns, after.flush_ns, milliseconds)
    yield _row(_("Read latency of the data disks, p50"), before.read_p50_ns, after.read_p50_ns, milliseconds)
    yield _row(_("Read latency of the data disks, p95"), before.read_p95_ns, after.read_p95_ns, milliseconds)


def _row(what: str, before: float, after: float, written: Callable[[float], str]) -> ReportRow:
    nothing = "–"
    return ReportRow(
        what,
        written(before) if before else nothing,
        written(after) if after else nothing,
        after / before if before and after else 0.0,
    )


def _commits(value: float) -> str:
    return f"{rate(value)}/s"


def _throughput(value: float) -> str:
    return f"{size_text(int(value))}/s"
