"""Does a verdict agree with what was measured? And the table that says so, for docs/evidence.md."""

from collections.abc import Iterable
from dataclasses import dataclass

from nasadvisor.domain.evidence.measuring.prediction import Range

HELPED = 1.5
"""From this factor on a device clearly helped. Between runs under emulation the gain of one workload differs by up to a
factor of two."""

DID_NOTHING = 1.3
CLEARLY_MORE_THAN_LITTLE = 2.5

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


@dataclass(frozen=True)
class Outcome:
    """One workload: the verdict taken before, and operations a second without and with the device."""

    device: str
    what: str
    expected: str
    verdict: str
    rule: str
    before_per_s: float
    after_per_s: float

    @property
    def gain(self) -> float:
        """How many times as much was done with the device; 0 if nothing was measured."""
        return self.after_per_s / self.before_per_s if self.before_per_s else 0.0

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


def median_error(predicted: Iterable[Predicted]) -> float:
    """The middle of the errors."""
    errors = sorted(each.error for each in predicted)
    return errors[len(errors) // 2] if errors else 1.0


def tables(outcomes: list[Outcome], predicted: list[Predicted]) -> str:
    """Both tables in Markdown."""
    lines = [
        "| Device | Workload | An expert says | Verdict before (rule) | Without | With | Gain | Agrees |",
        "|---|---|---|---|---:|---:|---:|---|",
    ]
    lines += [_outcome_row(each) for each in outcomes]
    contradictions = sum(not each.agrees for each in outcomes)
    lines += ["", f"{len(outcomes)} workloads, {contradictions} verdicts contradict their measurement.", ""]
    lines += ["| Synchronous writes | Before | Expected with the log | Measured with it | Off by | In range |"]
    lines += ["|---|---:|---:|---:|---:|---|"]
    lines += [_predicted_row(each) for each in predicted]
    covered = sum(each.covered for each in predicted)
    lines += ["", f"Median error {median_error(predicted):.0%}; {covered} of {len(predicted)} in the printed range."]
    return "\n".join(lines)


def _outcome_row(each: Outcome) -> str:
    rates = f"{each.before_per_s:.0f}/s | {each.after_per_s:.0f}/s | × {each.gain:.2f}"
    verdict = f"{each.verdict} (`{each.rule}`)"
    return f"| {each.device} | {each.what} | {each.expected} | {verdict} | {rates} | {_yes(each.agrees)} |"


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
