"""Is a tested SSD good for a log? From how long it takes to make small writes safe, and whether it keeps that up."""

from collections.abc import Iterable, Mapping
from typing import Final

from nasadvisor.domain.evidence.commits import SsdTime
from nasadvisor.domain.evidence.measuring.probing import CandidateResult, FioFigures
from nasadvisor.domain.evidence.thresholds import SLOW_SSD_COMMIT_NS, SMALL_BYTES, US
from nasadvisor.domain.figures import milliseconds, percent
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

GOOD_COMMIT_NS: Final = 300 * US
"""[policy] About twice what the SSD with power-loss protection in `thresholds` needs: those have no need to really
flush. Without it few SSDs come below a millisecond."""

KEPT_UP_SHARE: Final = 0.5
"""[policy] An SSD whose plain writing falls below half once its fast cache is full will be slow when it matters."""


def ssd_time(result: CandidateResult) -> SsdTime | None:
    """How long a small commit takes on the SSD, from its best median to its worst 95th percentile."""
    small = [each for each in result.figures if each.block_bytes <= SMALL_BYTES]
    alone = [each for each in small if each.writers == 1]
    many = [each for each in small if each.writers > 1]
    low = min((each.commit_p50_ns for each in alone), default=0.0)
    if not low:
        return None
    many_ns = _slow_end_ns(many) if many else None
    paces = sorted(each for each in (result.first_bytes_per_s, result.last_bytes_per_s) if each)
    return SsdTime(low, _slow_end_ns(alone), True, many_ns, *((paces[0], paces[-1]) if paces else ()))


def _slow_end_ns(figures: Iterable[FioFigures]) -> float:
    return max(each.write_p50_ns + each.sync_p95_ns for each in figures)


def suitability(result: CandidateResult) -> Finding | None:
    """What to think of the SSD as a log; None where nothing was measured."""
    time = ssd_time(result)
    if time is None:
        return None
    kept = result.last_bytes_per_s / result.first_bytes_per_s if result.first_bytes_per_s else 1.0
    values = {"low": milliseconds(time.low_ns), "high": milliseconds(time.high_ns), "kept": percent(kept)}
    if time.low_ns > SLOW_SSD_COMMIT_NS:
        return _poor(values)
    if kept < KEPT_UP_SHARE:
        return _fades(values)
    return _fair(values) if time.low_ns > GOOD_COMMIT_NS else _good(values)


def _poor(values: Mapping[str, str]) -> Finding:
    return Finding(
        "ssd-poor",
        _("It commits a small write in {low} to {high}: too slow for a log, however fast it reads."),
        values,
        Level.WARNING,
        _("A log is as fast as its SSD acknowledges synchronous writes; no other figure on its data sheet matters."),
    )


def _fades(values: Mapping[str, str]) -> Finding:
    return Finding(
        "ssd-fades",
        _(
            "It commits a small write in {low} to {high}, but its write speed without sync drops to {kept} once its "
            "fast cache is full."
        ),
        values,
        Level.WARNING,
        _(
            "Consumer SSDs write into a small fast cache first. A log writes steadily for a long time, so their speed "
            "after that matters."
        ),
    )


def _fair(values: Mapping[str, str]) -> Finding:
    return Finding(
        "ssd-fair",
        _(
            "It commits a small write in {low} to {high}: suitable as a log for hard disks. Such a slow flush usually "
            "means no power-loss protection."
        ),
        values,
        Level.INFO,
        _(
            "It helps a pool of hard disks. With many small synchronous writes at once, an SSD with power-loss "
            "protection is several times as fast."
        ),
    )


def _good(values: Mapping[str, str]) -> Finding:
    return Finding(
        "ssd-good",
        _(
            "It commits a small write in {low} to {high}: good for a log. A test cannot distinguish power-loss "
            "protection from a disk that does not really flush; check its data sheet."
        ),
        values,
        Level.INFO,
        _(
            "SSDs that acknowledge this fast usually have power-loss protection: they do not have to wait for their "
            "flash."
        ),
    )
