"""What somebody must say that they accept before a plan is applied: one tick for each critical finding.

The tick is asked for on the server too. It is bound to the very sentence that was shown: if that has changed since, the
old tick counts for nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.statements import Finding, Level

_WORDS: Final[dict[str, str | Promise]] = {
    "single-log": _("I accept a log without a mirror"),
    "unrecognised-data": _("Erase this data"),
}
_ANY: Final = _("I accept this")


@dataclass(frozen=True)
class Risk:
    """A critical finding that is to be accepted."""

    finding: Finding

    @property
    def key(self) -> str:
        """What its tick posts; another sentence has another key."""
        return sha256(f"{self.finding.code} {self.finding}".encode()).hexdigest()[:16]

    @property
    def words(self) -> str | Promise:
        """What one says by the tick."""
        return _WORDS.get(self.finding.code, _ANY)


def risks_in(findings: Iterable[Finding]) -> tuple[Risk, ...]:
    """Those of the findings that are critical, each once."""
    critical = (Risk(finding) for finding in findings if finding.level is Level.CRITICAL)
    return tuple({risk.key: risk for risk in critical}.values())
