"""`nasadvisor forecast --jsonl`: a line in, a line out, whatever the line holds."""

import io
import json
import resource
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from nasadvisor.cli import main
from nasadvisor.cli.health.forecasts import LONGEST_LINE, answer_line, requests
from tests.unit.domain.health.smart.drives import nvme, sata

UNITS_PER_TB = 10**12 // 512_000


def request(drive: object = "D1", **changes: object) -> dict[str, Any]:
    days = ((300, 9, 30), (400, 12, 40), (500, 15, 50))
    history = [
        {"hours": 24 * day, "smartctl": nvme(percent=percent, units=terabytes * UNITS_PER_TB)}
        for day, percent, terabytes in days
    ]
    return {"drive": drive, "history": history, "predict_hours": 24 * 600, **changes}


def ask(*lines: str | bytes) -> list[dict[str, Any]]:
    text = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    result = CliRunner().invoke(main, ["forecast", "--jsonl"], input=text)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_drive_is_answered_by_its_wear_now_and_then() -> None:
    [answer] = ask(json.dumps(request()))
    assert (answer["drive"], answer["percent_used"], answer["percent_at"]) == ("D1", 15, 18)
    assert answer["low"] <= answer["percent_at"] <= answer["high"]
    assert 0.09e12 < answer["bytes_per_day"] < 0.12e12
    assert answer["findings"] == []


def test_unknown_is_null() -> None:
    [answer] = ask(json.dumps(request(history=[{"hours": 1, "smartctl": {}}])))
    assert [answer[key] for key in ("percent_used", "percent_at", "low", "high", "bytes_per_day")] == [None] * 5
    assert [finding["code"] for finding in answer["findings"]] == ["wear-unknown"]


def test_a_contradiction_is_a_finding() -> None:
    document = sata((233, "Media_Wearout_Indicator", 90, 0), page7=255)
    [answer] = ask(json.dumps(request(history=[{"hours": 1, "smartctl": document}])))
    assert "indicator-conflict" in [finding["code"] for finding in answer["findings"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON"),
        ('{"drive": "D"}', '"history" is not a list'),
        ('{"drive": "D", "history": [], "predict_hours": 1}', '"history" is not a list'),
        ('{"drive": "D", "history": [{"hours": "x"}], "predict_hours": 1}', '"hours" is not a number'),
        ('{"drive": "D", "history": [{"hours": 1}], "predict_hours": NaN}', '"predict_hours" is not a number'),
    ],
)
def test_a_bad_line_says_why_and_does_not_end_the_stream(line: str | bytes, reason: str) -> None:
    bad, good = ask(line, json.dumps(request("D2")))
    assert reason in bad["error"]
    assert bad["percent_used"] is None
    assert (good["drive"], good["percent_used"]) == ("D2", 15)


def test_a_line_without_end_is_passed_over() -> None:
    stream = io.BytesIO(b"x" * (2 * LONGEST_LINE + 10) + b"\n" + json.dumps(request("D3")).encode())
    answers = [answer_line(line) for line in requests(stream)]
    assert "longer than" in answers[0]["error"]
    assert [answer["drive"] for answer in answers] == [None, "D3"]


def test_blank_lines_are_passed_over() -> None:
    assert len(ask("", json.dumps(request()), "  ", "")) == 1


def test_without_jsonl_it_says_what_to_do() -> None:
    result = CliRunner().invoke(main, ["forecast"])
    assert result.exit_code == 2
    assert "--jsonl" in result.output


class Endless(io.RawIOBase):
    """A stream that makes its lines while it is read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.lines = lines

    def readline(self, _size: int | None = -1, /) -> bytes:
        return next(self.lines, b"")


@pytest.mark.slow
@pytest.mark.parametrize("drives", [20_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_any_number_of_lines_does_not_grow_memory(drives: int) -> None:
    count = 0
    line = json.dumps(request("DRIVE", history=request()["history"][-1:])).encode() + b"\n"
    stream = Endless(line.replace(b"DRIVE", b"D%d" % number) for number in range(drives))
    grown = 0
    for number, one in enumerate(requests(stream)):
        count += answer_line(one)["percent_used"] == 15
        if number == 5_000:
            grown = -resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown += resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert count == drives
    assert grown < drives // 25, f"{grown} KiB"
