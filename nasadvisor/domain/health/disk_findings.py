"""What is worth knowing about one disk: from its newest reading, from counts that grew in weeks, and for a proposal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.change.proposal import SsdHealth
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.urgency import worst_first
from nasadvisor.domain.statements import Finding, Level, NextStep, Statement
from nasadvisor.domain.statements import gettext_noop as _

WORN_PERCENT: Final = 90
"""Ceph warns at 90 % of the rated endurance (docs, "Device Management")."""

RATED_PERCENT: Final = 100

HOT_DISK_CELSIUS: Final = 55
HOT_SSD_CELSIUS: Final = 70
"""Where a disk tells no limit of its own: usual ones of operation are 60 (hard disks) and 70 (SSDs)."""

HOTTEST_DISK_CELSIUS: Final = 70
"""No hard disk is made for more. Some SAS disks trip only at 85: that is where they protect themselves."""

ALL_SPARE: Final = 100

CRITICAL_WARNINGS: Final = {
    "spare-below-threshold": _(
        "The spare blocks of the disk {disk} are below the threshold. Replace it as soon as possible."
    ),
    "reliability-degraded": _(
        "Errors have degraded the reliability of the disk {disk}. Replace it as soon as possible."
    ),
    "media-read-only": _("The disk {disk} has become read-only. Replace it as soon as possible."),
    "persistent-memory-unreliable": _(
        "The persistent memory of the disk {disk} has become unreliable. Replace it as soon as possible."
    ),
}
"""Bits of the NVMe critical warning, by the names that `smart.reading` gives them."""

OTHER_WARNINGS: Final = (
    Statement("enclosure-degraded", _("its enclosure is degraded")),
    Statement("humidity-out-of-range", _("the air around it is too humid or too dry")),
    Statement("firmware-not-trusted", _("the signature of its firmware is in doubt")),
    Statement("power-loss-expected", _("its power may fail soon")),
    Statement("vendor-warning", _("a code that only its vendor can explain")),
)
"""What a SAS disk warns of beside its own health, by the names that `smart.reading` gives them."""

FEW_REALLOCATED: Final = 4
"""[policy] Of disks with fewer than 4 replaced sectors about 3 of 100 fail within a year, from 4 on 8 and more
(Backblaze's figures by attribute 5, as Scrutiny has them)."""

FEW_CRC: Final = 4
"""[policy] A reset or a plug pulled under load damages one or two transfers; a bad cable goes on."""

NO_FAULT: Final = frozenset({"indicator-conflict"})
"""Warnings that say something about the figures of a disk and nothing about how it is."""

UNKNOWN: Final = Statement("unknown-reason", _("reason unknown"))


@dataclass(frozen=True)
class Subject:
    """The disk that the findings are about: its name for people, its key, what tells it apart, and its role."""

    label: str
    key: str
    identity: str
    role: str


def disk_findings(disk: Subject, reading: SmartReading) -> tuple[Finding, ...]:
    """Everything worth knowing, what is about to fail first."""
    found = (
        *_failing(disk, reading),
        *_power_loss(disk, reading),
        *_errors(disk, reading),
        *_wear(disk, reading),
        *_temperature(disk, reading),
        # The decoder does not know what the disk is called.
        *(replace(each, values={**each.values, "disk": disk.label}) for each in reading.findings),
    )
    return tuple(placed(disk, finding) for finding in found)


def unanswered(disk: Subject, problem: Statement | None) -> Finding:
    """That a disk should have answered and did not; `problem` is why, None where nobody knows."""
    finding = Finding(
        "disk-unanswered",
        _("The disk {disk} does not respond to health checks: {problem}"),
        {"disk": disk.label, "problem": problem or UNKNOWN},
        Level.WARNING,
        _("A disk that stops responding often fails soon after. Check its cable first."),
    )
    return placed(disk, finding)


def placed(disk: Subject, finding: Finding) -> Finding:
    """A finding with the disk that it is about, and the way to its page."""
    return replace(finding, subject=disk.identity, step=NextStep.LOOK_AT_DISK, place=disk.key)


def _failing(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    if reading.passed is False:
        yield Finding(
            "disk-failing",
            _("The disk {disk} reports that it is failing (SMART status FAILED). Replace it as soon as possible."),
            {"disk": disk.label},
            Level.CRITICAL,
            _("Disks that report this rarely last long."),
        )
    for code, template in CRITICAL_WARNINGS.items():
        if code in reading.warnings:
            yield Finding(
                f"disk-{code}",
                template,
                {"disk": disk.label},
                Level.CRITICAL,
                _("This is one of the critical warnings defined by the NVMe standard."),
            )
    yield from _spare(disk, reading)
    for what in OTHER_WARNINGS:
        if what.code in reading.warnings:
            yield Finding(
                "disk-warns",
                _("The disk {disk} does not report a failure, but warns: {what}."),
                {"disk": disk.label, "what": what},
                Level.WARNING,
                _("SAS disks also report problems around them, which do not call for a replacement."),
            )
    if "prefail-below-threshold" in reading.exit_bits and reading.passed is not False:
        yield Finding(
            "disk-prefail",
            _("A pre-failure attribute of the disk {disk} has reached its threshold."),
            {"disk": disk.label},
            Level.WARNING,
            _("The vendor sets this threshold for disks that are likely to fail soon. Have a replacement ready."),
        )
    is_only_hinted = not reading.self_tests.finished and "self-test-log-has-errors" in reading.exit_bits
    if reading.self_tests.failed or is_only_hinted:
        yield Finding(
            "self-test-failed",
            _("A self-test of the disk {disk} failed, and no extended test has passed since."),
            {"disk": disk.label},
            Level.WARNING,
            _(
                "A self-test reads the disk and checks its electronics; a failure usually means unreadable sectors. A "
                "short test that passes proves nothing: only an extended test reads the whole disk."
            ),
            measure=reading.self_tests.failed,
        )


def _spare(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    """Some SSDs show figures below their own threshold and do not warn of it. Above 100 % a threshold means nothing."""
    spare, threshold = reading.spare_percent, reading.spare_threshold_percent
    is_told = "spare-below-threshold" in reading.warnings
    if is_told or spare is None or threshold is None or not spare < threshold <= ALL_SPARE:
        return
    yield Finding(
        "disk-spare-below-threshold",
        _(
            "The disk {disk} has only {spare} % of its spare blocks left, which is below its own threshold of "
            "{threshold} %. Have a replacement ready."
        ),
        {"disk": disk.label, "spare": str(spare), "threshold": str(threshold)},
        Level.WARNING,
        _("The disk itself does not warn of it. Without spare blocks it becomes read-only or fails."),
    )


def _power_loss(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    has_failed = any(evidence.failed for evidence in reading.power_loss)
    if has_failed or "volatile-memory-backup-failed" in reading.warnings:
        yield Finding(
            "power-loss-protection-failed",
            _("The power-loss protection of the disk {disk} has failed."),
            {"disk": disk.label},
            Level.CRITICAL if "log" in disk.role else Level.WARNING,
            _(
                "A power cut can lose data that the disk has acknowledged but not yet written to flash. Keeping "
                "exactly that data is the purpose of a log."
            ),
        )


def _errors(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    if reading.media_errors:
        yield Finding(
            "media-errors",
            _("The disk {disk} has reported media errors ({count} so far): data that it could not read back."),
            {"disk": disk.label, "count": str(reading.media_errors)},
            Level.WARNING,
            _("A redundant pool repairs these. Acknowledge the alert to be notified again only if the number rises."),
            measure=reading.media_errors,
        )
    if reading.pending:
        yield Finding(
            "pending-sectors",
            _("The disk {disk} currently cannot read {count} of its sectors."),
            {"disk": disk.label, "count": str(reading.pending)},
            Level.WARNING,
            _(
                "They are replaced when they are next written. In a redundant pool, a scrub does this for sectors "
                "that hold data."
            ),
            measure=reading.pending,
        )
    if reading.reallocated:
        yield Finding(
            "reallocated-sectors",
            _("The disk {disk} has replaced {count} of its sectors or blocks because they were bad."),
            {"disk": disk.label, "count": str(reading.reallocated)},
            Level.INFO,
            _("A small, stable number is normal; a rising number is not."),
            measure=reading.reallocated,
        )


def _wear(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    percent = reading.percent_used
    if percent is None or percent < WORN_PERCENT:
        return
    template = (
        _("The disk {disk} has reached the end of its rated endurance ({percent} % used).")
        if percent >= RATED_PERCENT
        else _("The disk {disk} has used {percent} % of its rated endurance.")
    )
    yield Finding(
        "worn",
        template,
        {"disk": disk.label, "percent": f"{percent:.0f}"},
        Level.WARNING,
        _(
            "The rating is what the vendor guarantees, not the date of failure: most disks last longer. Without "
            "power, such a disk may lose data sooner. Plan the replacement, and watch errors and spare blocks."
        ),
        measure=int(percent),
    )


def _temperature(disk: Subject, reading: SmartReading) -> Iterator[Finding]:
    now, limit = reading.temperature_celsius, _limit_of(reading)
    is_above = now is not None and now > limit
    if is_above or "temperature-out-of-range" in reading.warnings:
        template = (
            _("The disk {disk} is too hot: {celsius} °C (limit: {limit} °C).")
            if is_above
            else _("The disk {disk} reports that it is too hot or too cold: {celsius} °C.")
        )
        yield Finding(
            "too-hot",
            template,
            {"disk": disk.label, "celsius": "?" if now is None else str(now), "limit": str(limit)},
            Level.WARNING,
            _("Heat slows disks down and shortens their life. Check fans, dust and room temperature."),
        )


def _limit_of(reading: SmartReading) -> int:
    """The disk's own limit where it tells one, else the usual one of its kind."""
    own, is_ssd = reading.temperature_limit_celsius, reading.identity.solid_state
    if own is None:
        return HOT_SSD_CELSIUS if is_ssd else HOT_DISK_CELSIUS
    return own if is_ssd else min(own, HOTTEST_DISK_CELSIUS)


@dataclass(frozen=True)
class Growth:
    """What a disk counts now, and how much more that is than so many days ago."""

    now: int
    more: int
    days: int


def growth_findings(disk: Subject, reallocated: Growth | None, crc: Growth | None) -> tuple[Finding, ...]:
    """What grew so much that somebody should look; None is what a disk does not count or nobody has watched."""
    return tuple(placed(disk, finding) for finding in _grown(disk, reallocated, crc))


def _grown(disk: Subject, reallocated: Growth | None, crc: Growth | None) -> Iterator[Finding]:
    def figures(growth: Growth) -> dict[str, str]:
        return {"disk": disk.label, "more": str(growth.more), "days": str(growth.days), "count": str(growth.now)}

    if reallocated and reallocated.more >= FEW_REALLOCATED:
        yield Finding(
            "reallocated-growing",
            _(
                "The disk {disk} has replaced {more} more bad sectors or blocks in the last {days} days ({count} in "
                "total). Have a replacement ready."
            ),
            figures(reallocated),
            Level.WARNING,
            _("A disk that keeps replacing sectors often fails within months. Readable data was kept."),
            measure=reallocated.now,
        )
    if crc and crc.more >= FEW_CRC:
        yield Finding(
            "crc-growing",
            _(
                "{more} transfers to or from the disk {disk} arrived corrupted in the last {days} days ({count} in "
                "total). Check its cable and slot, and replace the cable if it continues."
            ),
            figures(crc),
            Level.WARNING,
            _(
                "Corrupted transfers are detected and repeated, so no data is lost. They cost time, and such a "
                "connection can drop the disk out of its pool. The count never falls; only growth matters."
            ),
            measure=crc.now,
        )


def ssd_health(findings: Iterable[Finding], percent_used: float | None, power_loss: str) -> SsdHealth:
    """How an SSD is; whatever is worth a warning about it speaks against it, the worst first."""
    told = worst_first(each for each in findings if each.level is not Level.INFO and each.code not in NO_FAULT)
    return SsdHealth(told[0].plain if told else None, percent_used, power_loss)
