"""Does a verdict agree with what was measured? And the table that says so, for docs/explanation/evidence.md."""

from collections.abc import Iterable
from dataclasses import dataclass

from nasadvisor.domain.evidence.measuring.prediction import Range
from nasadvisor.domain.figures import duration

HELPED = 1.5
"""From this factor on a device clearly helped. Between runs under emulation the gain of one workload differs by up to a
factor of two."""

DID_NOTHING = 1.3
CLEARLY_MORE_THAN_LITTLE = 2.5

WAITING = 0.1
"""By so much, as a share of the waiting for the devices, what goes may differ beyond what was said: so much do two
measurements of one wait differ under emulation."""

CURVE = 0.05
"""By so much, as a share of the misses, what a cache serves may differ beyond what its curve says."""

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


@dataclass(frozen=True)
class Share:
    """What was said before of the waiting that goes, or of the misses that are served, and what it was then.

    `most` is None where at least `least` is all that was said.
    """

    least: float
    most: float | None
    measured: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether what was said is not contradicted."""
        most = 1.0 if self.most is None else self.most
        return self.least - self.tolerance <= self.measured <= most + self.tolerance


@dataclass(frozen=True)
class Outcome:
    """One workload: the verdict taken before, and operations a second without and with the device.

    `table` is what the row of the device in the table of options said, `curve` what the cache curve said of that size;
    each None where nothing was said. `waited_s` is how long its programs would wait in a day of it without the device.
    """

    device: str
    what: str
    expected: str
    verdict: str
    rule: str
    before_per_s: float
    after_per_s: float
    table: Share | None = None
    curve: Share | None = None
    waited_s: float = 0.0

    @property
    def gain(self) -> float:
        """How many times as much was done with the device; 0 if nothing was measured."""
        return self.after_per_s / self.before_per_s if self.before_per_s else 0.0

    @property
    def contradicts(self) -> bool:
        """Whether anything that was said of it is contradicted by what was measured."""
        return not self.agrees or any(said and not said.agrees for said in (self.table, self.curve))

    @property
    def agrees(self) -> bool:
        """Whether the verdict does not contradict the gain. "Cannot tell" contradicts nothing."""
        match self.verdict:
            case "helps":
                return self.gain >= HELPED
            case "no":
                return self.gain < DID_NOTHING
            case "little":
                return self.gain < CLEARLY_MORE_THAN_LITTLE
        return True


@dataclass(frozen=True)
class Predicted:
    """One prediction of operations a second, and what was measured then."""

    what: str
    before_per_s: float
    expected: Range
    measured_per_s: float

    @property
    def error(self) -> float:
        """How far the likely value was off, as a share of the measured one."""
        return abs(self.expected.likely - self.measured_per_s) / self.measured_per_s if self.measured_per_s else 1.0

    @property
    def covered(self) -> bool:
        """Whether the printed range had it."""
        return self.expected.covers(self.measured_per_s)


def part_gone(before_ns: float, after_ns: float, least_ns: float) -> float:
    """The share of the waiting for devices that went, from mean waits in ns; 0 where no device was waited for.

    What is left with a log of devices that take no time, `least_ns`, no log can take away: the way through OpenZFS and
    the kernel. It is a small part on a real processor, and takes ten times as long on an emulated one.
    """
    devices_ns = before_ns - least_ns
    return min(max((before_ns - after_ns) / devices_ns, 0.0), 1.0) if devices_ns > 0 else 0.0


def median_error(predicted: Iterable[Predicted]) -> float:
    """The middle of the errors."""
    errors = sorted(each.error for each in predicted)
    return errors[len(errors) // 2] if errors else 1.0


def tables(outcomes: list[Outcome], predicted: list[Predicted]) -> str:
    """Both tables in Markdown."""
    lines = [
        (
            "| Device | Workload | An expert says | Verdict before (rule) | Without | With | Gain "
            "| Waits a day | Promised to go | Went | Curve: serves | Served | Agrees |"
        ),
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    lines += [outcome_row(each) for each in outcomes]
    contradictions = sum(each.contradicts for each in outcomes)
    unknown = sum(each.verdict == "cannot-tell" for each in outcomes)
    counts = f"{len(outcomes)} workloads, {contradictions} contradict their measurement"
    lines += ["", f"{counts}; of {unknown} the verdict is that it cannot tell. {_ranges(outcomes)}", ""]
    lines += ["| Synchronous writes | Before | Expected with the log | Measured with it | Off by | In range |"]
    lines += ["|---|---:|---:|---:|---:|---|"]
    lines += [_predicted_row(each) for each in predicted]
    covered = sum(each.covered for each in predicted)
    lines += ["", f"Median error {median_error(predicted):.0%}; {covered} of {len(predicted)} in the printed range."]
    return "\n".join(lines)


def _ranges(outcomes: Iterable[Outcome]) -> str:
    """How many of the ranges held what was measured, and how wide the middle one is."""
    said = [share for each in outcomes for share in (each.table, each.curve) if share]
    if not said:
        return "Nothing was promised of any."
    widths = sorted((1.0 if share.most is None else share.most) - share.least for share in said)
    held = sum(share.agrees for share in said)
    return f"{held} of {len(said)} ranges held; half of them are at most {widths[len(widths) // 2]:.0%} of it wide."


def outcome_row(each: Outcome) -> str:
    """One workload's row of the first table."""
    rates = f"{each.before_per_s:.0f}/s | {each.after_per_s:.0f}/s | × {each.gain:.2f}"
    verdict = f"{each.verdict} (`{each.rule}`)"
    promised = f"{duration(each.waited_s)} | {_seconds(each.table, each.waited_s)}"
    shares = f"{promised} | {_share(each.curve)} | {_yes(not each.contradicts)}"
    return f"| {each.device} | {each.what} | {each.expected} | {verdict} | {rates} | {shares} |"


def _seconds(share: Share | None, waited_s: float) -> str:
    """What was promised of a day's waiting, and what went of it, both with their shares."""
    if share is None:
        return "– | –"
    most = None if share.most is None else duration(share.most * waited_s)
    said = _said(duration(share.least * waited_s), most)
    return f"{said} ({_said_share(share)}) | {duration(share.measured * waited_s)} ({share.measured:.0%})"


def _share(share: Share | None) -> str:
    """What was said, and what was measured."""
    if share is None:
        return "– | –"
    return f"{_said_share(share)} | {share.measured:.0%}"


def _said_share(share: Share) -> str:
    return _said(f"{share.least:.0%}", None if share.most is None else f"{share.most:.0%}")


def _said(least: str, most: str | None) -> str:
    return f"≥ {least}" if most is None else f"{least} to {most}"


def _predicted_row(each: Predicted) -> str:
    expected = f"{each.expected.likely:.0f}/s ({each.expected.low:.0f}–{each.expected.high:.0f})"
    measured = f"{each.before_per_s:.0f}/s | {expected} | {each.measured_per_s:.0f}/s"
    return f"| {each.what} | {measured} | {each.error:.0%} | {_yes(each.covered)} |"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "**no**"


def with_tables(page: str, text: str) -> str:
    """The page with what stands between its marks replaced.

    Raises:
        ValueError: the page has no marks.
    """
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("The page does not say where the tables go.")
    return f"{head}{BEGIN}\n{text}\n{END}{tail}"
