"""What a trial showed: before and after in one sentence, kept once it is over."""

from datetime import datetime
from typing import Final

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.evidence.report import Report, report_of
from nasadvisor.domain.evidence.comparison import Difference, Figures
from nasadvisor.domain.evidence.switch_effect import FEWEST_PAIRS
from nasadvisor.domain.figures import duration, milliseconds, rate
from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import DocumentError, to_document

_SENTENCES: Final = {
    Difference.FASTER: gettext_noop("It helped: commits were significantly faster ({figures})."),
    Difference.SLOWER: gettext_noop("It made things worse: commits were significantly slower ({figures})."),
    Difference.NO_DIFFERENCE: gettext_noop("It made no statistically significant difference ({figures})."),
}

NOT_SEEN: Final = Statement(
    "trial-not-seen",
    gettext_noop(
        "Not enough data to say whether it helped: too little time with synchronous writes at the same hours of the "
        "day before and during the trial. A longer trial gives more data."
    ),
)


def keep_trial_verdicts(now: datetime) -> None:
    """Judge every trial that has ended since."""
    ended = StoredRun.objects.filter(
        trial_ended_at__isnull=False, trial_verdict_document__isnull=True, state=StoredRunState.UNDONE
    )
    for stored in ended.select_related("node").defer("node__inventory_document"):
        try:
            verdict = verdict_of(report_of(stored, now))
        except DocumentError:  # stored by another release; its host will tell of it again
            continue
        StoredRun.objects.filter(pk=stored.pk).update(trial_verdict_document=to_document(verdict))


def verdict_of(report: Report | None) -> Statement:
    """Whether it helped, with the figures that say so: of a cache that was switched, what the switches say."""
    if report and report.switching and report.switching.pairs >= FEWEST_PAIRS:
        return report.switching.words
    found = report.comparison if report else None
    if found is None or found.outcome not in _SENTENCES or not found.before or not found.after:
        return NOT_SEEN
    figures = _figures(found.before, found.after)
    return Statement(f"trial-{found.outcome.value}", _SENTENCES[found.outcome], {"figures": figures})


def _figures(before: Figures, after: Figures) -> Statement:
    return Statement(
        "trial-figures",
        gettext_noop(
            "programs waited {waited} a day for synchronous writes before, and {waits} with it; {before} → {after} "
            "commits/s, {old} → {new} each"
        ),
        {
            "waited": duration(before.waited_s_per_day),
            "waits": duration(after.waited_s_per_day),
            "before": rate(before.commits_per_s),
            "after": rate(after.commits_per_s),
            "old": milliseconds(before.commit_ns),
            "new": milliseconds(after.commit_ns),
        },
    )
