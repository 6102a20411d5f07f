"""`nasadvisor forecast --jsonl`: forecasts for many drives, one JSON object a line in and out."""

import json
import sys
from collections.abc import Iterator, Mapping
from io import RawIOBase
from typing import Any, BinaryIO, Final

import click

from nasadvisor.cli.errors import Misuse
from nasadvisor.domain.health.smart.reading import SmartReading, decode
from nasadvisor.domain.health.smart.values import mapping, number
from nasadvisor.domain.health.wear.forecast import Forecast
from nasadvisor.domain.health.wear.forecast import forecast as look_ahead
from nasadvisor.domain.health.wear.history import HOURS_PER_DAY, History, Snapshot, history_of

Json = dict[str, Any]

LONGEST_LINE: Final = 64 * 1024**2
"""Bytes of one line; a year of 6-hourly readings has a quarter of it."""

UNKNOWN: Final[Json] = {
    "percent_used": None,
    "percent_at": None,
    "low": None,
    "high": None,
    "bytes_per_day": None,
    "findings": [],
}


class BadLineError(ValueError):
    """A line that asks for no forecast; the message says why."""


@click.command()
@click.option("--jsonl", is_flag=True, help="Read requests from standard input, write answers to standard output.")
def forecast(jsonl: bool) -> None:
    """Forecast the wear of SSDs from SMART readings, without using this host.

    Each line of input is one drive:
    {"drive": ID, "history": [{"hours": H, "smartctl": {…}}, …], "predict_hours": H2}. "smartctl" is the output of
    smartctl -x -j; hours are power-on hours, and H2 is on the same clock.

    Each line of output answers one: {"drive": ID, "percent_used": now, "percent_at": median, "low": 5th percentile,
    "high": 95th percentile, "bytes_per_day": rate until then, "findings": [{"code", "level", "text"}, …]}. What is not
    known is null.

    A line that cannot be read is answered by nulls with an "error" that says why, and does not end the stream. Blank
    lines are ignored.
    """
    if not jsonl:
        raise Misuse("Say --jsonl, and give one drive a line on standard input; --help describes them.")
    for line in requests(sys.stdin.buffer):
        click.echo(json.dumps(answer_line(line)))


def answer_line(line: bytes) -> Json:
    """Answer one line of input, readable or not."""
    drive: object = None
    try:
        request = _request(line)
        drive = request.get("drive")
        snapshots, horizon_hours = _history(request), _hours(request.get("predict_hours"), "predict_hours")
    except BadLineError as error:
        return {"drive": _plain(drive), **UNKNOWN, "error": str(error)}
    history = history_of(snapshots)
    now = history.points[-1].hours
    found = look_ahead(history, (horizon_hours - now) / HOURS_PER_DAY)
    return {"drive": _plain(drive), **_answer(snapshots[-1].reading, history, found)}


def requests(stream: BinaryIO | RawIOBase) -> Iterator[bytes]:
    """The lines that are not blank, each with at most one byte more than is allowed."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        if line.strip():
            yield line


def _request(line: bytes) -> Mapping[str, object]:
    if len(line) > LONGEST_LINE:
        raise BadLineError(f"The line is longer than {LONGEST_LINE} bytes.")
    try:
        request = json.loads(line)
    except RecursionError:
        raise BadLineError("The line is nested too deeply.") from None
    except ValueError as error:
        raise BadLineError(f"The line is not JSON: {error}.") from error
    if not isinstance(request, dict):
        raise BadLineError("The line is not a JSON object.")
    return request


def _history(request: Mapping[str, object]) -> list[Snapshot]:
    entries = request.get("history")
    if not isinstance(entries, list) or not entries:
        raise BadLineError('"history" is not a list with at least one reading.')
    readings = map(mapping, entries)
    snapshots = [Snapshot(_hours(each.get("hours"), "hours"), decode(each.get("smartctl"))) for each in readings]
    return sorted(snapshots, key=lambda snapshot: snapshot.hours)


def _hours(value: object, name: str) -> float:
    hours = number(value)
    if hours is None:
        raise BadLineError(f'"{name}" is not a number.')
    return hours


def _answer(reading: SmartReading, history: History, found: Forecast) -> Json:
    ahead, rate = found.percent_at, found.bytes_per_day
    return {
        "percent_used": _rounded(history.points[-1].percent),
        "percent_at": None if ahead is None else _rounded(ahead.middle),
        "low": None if ahead is None else _rounded(ahead.low),
        "high": None if ahead is None else _rounded(ahead.high),
        "bytes_per_day": None if rate is None else round(rate.middle),
        "findings": [
            {"code": one.code, "level": one.level.value, "text": str(one)}
            for one in (*reading.findings, *found.findings)
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _plain(drive: object) -> object:
    """The drive's name as it came, if it is a text or a number."""
    return drive if isinstance(drive, str | int) else None
