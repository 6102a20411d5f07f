"""Decoding and forecasting the wear of real SSDs, by the scorer that comes with the samples.

All drives, then the half that the constants were fitted on (even first byte of the SHA-256 of the drive's id) and the
half that was held out. The peers are the baselines of the scorer, on the same drives.
"""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from benchmarks.figure import Figure, Skipped

DATA: Final = Path(os.environ.get("NASADVISOR_DATA", Path(__file__).parents[2] / "shared" / "data"))
COMMAND: Final = (sys.executable, "-m", "nasadvisor.cli", "forecast", "--jsonl")
TIMEOUT_S: Final = 600
BELOW_PEER: Final = {"mean_width": 1.0, "interval_score": 0.9}
RISEN_POINTS: Final = 5

Row = dict[str, str]
Answers = dict[str, dict[str, Any]]


def fitted_on(drive: str) -> bool:
    """Whether a drive belongs to the half that the constants were fitted on."""
    return hashlib.sha256(drive.encode()).digest()[0] % 2 == 0


HALVES: Final[dict[str, Callable[[str], bool]]] = {
    "all": lambda _: True,
    "fit half": fitted_on,
    "held-out half": lambda drive: not fitted_on(drive),
}


@dataclass(frozen=True)
class Run:
    """The scorer, its rows, and what the command answered."""

    scorer: ModuleType
    series: list[Row]
    decode: list[Row]
    jobs: dict[str, dict[str, Any]]
    answers: Answers
    decoded: Answers
    doubtful: Answers


def scorer() -> ModuleType:
    """The scorer of the samples, from their folder.

    Raises:
        Skipped: if they are not there.
    """
    path = DATA / "evaluate_forecast.py"
    spec = importlib.util.spec_from_file_location("evaluate_forecast", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise Skipped(f"no drive samples in {DATA}; NASADVISOR_DATA names their folder")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures() -> Iterator[Figure]:
    """Everything, for all drives and both halves."""
    run = _run(scorer())
    for name, belongs in HALVES.items():
        yield from (
            Figure(f"{name}: {one.name}", one.budget, one.measured, one.peer, one.met)
            for one in (*_rate(run, belongs), *_percent(run, belongs), *_decode(run, belongs), *_doubt(run, belongs))
        )


def _run(module: ModuleType) -> Run:
    series, rows = module.load_series(str(DATA))
    single, truth = module.load_decode(str(DATA))
    doubtful = [
        {"drive": one["drive"], "history": [{"hours": one["hours"], "smartctl": one["smartctl"]}], "predict_hours": 0}
        for one in module.read_jsonl(str(DATA / "wear-decode" / "page7-doubtful.jsonl.gz"))
    ]
    answers, decoded, doubted = (
        module.run_command(list(COMMAND), jobs, TIMEOUT_S)[0] for jobs in (series, single, doubtful)
    )
    jobs = {job["drive"]: job for job in single}
    return Run(
        module,
        [rows[job["drive"]] for job in series],
        [truth[job["drive"]] for job in single],
        jobs,
        answers,
        decoded,
        doubted,
    )


def _rate(run: Run, belongs: Callable[[str], bool]) -> Iterator[Figure]:
    number = run.scorer.num
    rows = [row for row in run.series if row["rate_scored"] == "1" and belongs(row["drive"])]
    active = [
        row
        for row in rows
        if number(row["bytes_hidden"]) - number(row["bytes_previous"])
        >= run.scorer.MIN_RATE * (number(row["hours_hidden"]) - number(row["hours_previous"])) / 24
    ]
    ours = run.scorer.rate_scores(active, lambda row: run.answers.get(row["drive"]))
    last = run.scorer.rate_scores(active, lambda row: run.scorer.baseline_series(row, "last"))
    yield _share("next write rate within x2", ">= 85 %", ours["within_x2"], last["within_x2"], 0.85)
    median = ours["median_abs_log2"]
    peer = f"{last['median_abs_log2']:.3f} last interval"
    yield Figure("median |log2 error| of the rate", "<= 0.26", f"{median:.3f}", peer, median <= 0.26)


def _percent(run: Run, belongs: Callable[[str], bool]) -> Iterator[Figure]:
    number = run.scorer.num
    rows = [row for row in run.series if row["percent_scored"] == "1" and belongs(row["drive"])]
    risen = [row for row in rows if number(row["percent_hidden"]) - number(row["percent_previous"]) >= RISEN_POINTS]

    def scores(some: list[Row]) -> tuple[dict[str, float], dict[str, float]]:
        ours = run.scorer.percent_scores(some, lambda row: run.answers.get(row["drive"]))
        return ours, run.scorer.percent_scores(some, lambda row: run.scorer.baseline_series(row, "last"))

    ours, last = scores(rows)
    ours_risen, last_risen = scores(risen)
    yield _below("percent, mean absolute error", "< 0.82", ours["mae"], last["mae"], 0.82)
    yield _share("90 % range covers", ">= 90 %", ours["coverage"], last["coverage"], 0.90)
    name = f"it covers drives that rose {RISEN_POINTS} points"
    yield _share(name, ">= 88 %", ours_risen["coverage"], last_risen["coverage"], 0.88)
    for key, title, budget in (
        ("mean_width", "mean width", "below peer"),
        ("interval_score", "interval score", "10 % below peer"),
    ):
        yield _below(title, budget, ours[key], last[key], BELOW_PEER[key] * last[key])


def _decode(run: Run, belongs: Callable[[str], bool]) -> Iterator[Figure]:
    rows = [row for row in run.decode if belongs(row["drive"])]
    ours = run.scorer.decode_scores(rows, lambda row: run.scorer.val(run.decoded.get(row["drive"]), "percent_used"))
    peer = run.scorer.decode_scores(
        rows, lambda row: run.scorer.decode_names(run.jobs[row["drive"]]["history"][-1]["smartctl"])
    )
    label = "name list"
    key = "within_1pt_of_all"
    yield _share("decoded within 1 point", ">= 80 %", ours[key], peer[key], 0.80, label)
    key = "within_1pt_of_all_fleet"
    yield _share("the same, fleet-weighted", ">= 92 %", ours[key], peer[key], 0.92, label)
    missed, worn = ours["worn_80_missed"], ours["worn_80"]
    yield Figure(
        "worn 80 %, shown under 50 % or not at all",
        "<= 10 of 120",
        f"{missed} of {worn}",
        f"{peer['worn_80_missed']} of {worn} {label}",
        missed * 120 <= 10 * worn,
    )


def _doubt(run: Run, belongs: Callable[[str], bool]) -> Iterator[Figure]:
    doubtful = [answer for drive, answer in run.doubtful.items() if belongs(drive)]
    believable = [
        run.answers[row["drive"]] for row in run.series if row["percent_scored"] == "1" and belongs(row["drive"])
    ]
    flagged, wrongly = (_flagged(answers, "indicator-conflict") for answers in (doubtful, believable))
    either = _flagged(doubtful, "indicator-conflict", "indicator-unverified")
    yield Figure("conflict shown on doubtful drives", ">= 90 %", f"{flagged:.1%}", "-", flagged >= 0.9)
    yield Figure("the same, or unverified", "-", f"{either:.1%}")
    yield Figure("conflict shown on believable drives", "<= 3 %", f"{wrongly:.1%}", "-", wrongly <= 0.03)


def _flagged(answers: list[dict[str, Any]], *codes: str) -> float:
    return sum(any(one["code"] in codes for one in answer["findings"]) for answer in answers) / len(answers)


def _share(name: str, budget: str, ours: float, peer: float, least: float, label: str = "last interval") -> Figure:
    return Figure(name, budget, f"{ours:.1%}", f"{peer:.1%} {label}", ours >= least)


def _below(name: str, budget: str, ours: float, peer: float, limit: float) -> Figure:
    return Figure(name, budget, f"{ours:.3f}", f"{peer:.3f} last interval", ours <= limit)
