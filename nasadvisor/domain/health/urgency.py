"""The order of what is wrong, for every page, report and message: by level, then by what costs data first."""

from collections.abc import Iterable
from typing import Final

from nasadvisor.domain.statements import RANK, Finding

FAILING: Final = (
    "disk-failing",
    "disk-media-read-only",
    "disk-reliability-degraded",
    "disk-spare-below-threshold",
    "disk-persistent-memory-unreliable",
)
"""What a disk says of itself when it is about to fail."""

ORDER: Final = (
    "pool-suspended",
    "data-errors",
    "pool-not-online",
    "pool-member",
    *FAILING,
    "log-lost",
    "log-missing",
    "log-failing",
    "power-loss-protection-failed",
    "disk-gone",
    "disk-unanswered",
    "device-errors",
    "media-errors",
    "pending-sectors",
    "self-test-failed",
    "disk-prefail",
    "reallocated-growing",
    "worn",
    "worn-soon",
    "crc-growing",
    "slow-io",
    "too-hot",
)
"""Of one level, in this order; whatever is not here comes after them."""

CAN_WAIT: Final = frozenset({"scrub-old", "scrub-unknown", "host-older"})
"""… and this at the very end: nothing is broken yet."""


def urgency(finding: Finding) -> tuple[int, bool, int]:
    """What sorts findings, the worst first."""
    place = ORDER.index(finding.code) if finding.code in ORDER else len(ORDER)
    return -RANK[finding.level], finding.code in CAN_WAIT, place


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same in order; what is equally urgent stays as it was."""
    return tuple(sorted(findings, key=urgency))
