"""The evidence in the plain values that a proposal goes by."""

from nasadvisor.domain.change.proposal import Want, Wanted
from nasadvisor.domain.evidence.recommendation import Recommendation
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

_NOTHING_SEEN = Statement(
    "nothing-seen",
    _("The workload of this pool has not been recorded yet, so there is no evidence that it would help."),
)

NOTHING_SEEN = Wanted(Want(False, 0, _NOTHING_SEEN), Want(False, 0, _NOTHING_SEEN))
"""What is wanted of a pool that nobody has watched."""


def wanted_by(log: Verdict, cache: Verdict, log_size: Recommendation, cache_size: Recommendation | None) -> Wanted:
    """What verdicts and recommended sizes come to: only what helps for certain, at a size that is known."""
    return Wanted(
        log=Want(log.answer is Answer.HELPS, log_size.size_bytes, log.rule),
        cache=Want(
            cache.answer is Answer.HELPS and cache_size is not None,
            cache_size.size_bytes if cache_size else 0,
            cache.rule,
        ),
    )
