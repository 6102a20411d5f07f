"""The log of self-tests in an answer of smartctl: what was run, when, and how it ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from nasadvisor.domain.statements import gettext_noop

MOST_HOURS = 2**31 - 1

KNOWN_WORDS: Final = frozenset(
    {
        gettext_noop("Short offline"),
        gettext_noop("Extended offline"),
        gettext_noop("Conveyance offline"),
        gettext_noop("Selective offline"),
        gettext_noop("Short captive"),
        gettext_noop("Extended captive"),
        gettext_noop("Short"),
        gettext_noop("Extended"),
        gettext_noop("Background short"),
        gettext_noop("Background long"),
        gettext_noop("Completed"),
        gettext_noop("Completed without error"),
        gettext_noop("Aborted by host"),
        gettext_noop("Interrupted (host reset)"),
        gettext_noop("Fatal or unknown error"),
        gettext_noop("Fatal or unknown test error"),
        gettext_noop("Completed: unknown failure"),
        gettext_noop("Completed: electrical failure"),
        gettext_noop("Completed: servo/seek failure"),
        gettext_noop("Completed: read failure"),
        gettext_noop("Completed: handling damage??"),
        gettext_noop("Self-test routine in progress"),
    }
)
"""What smartctl calls the tests and their ends, as far as it is translated."""


@dataclass(frozen=True)
class SelfTestEntry:
    """A self-test; `hours` are the disk's power-on hours at its end, `passed` is None where it was broken off."""

    kind: str
    status: str
    passed: bool | None
    hours: int


def self_tests_in(document: Any) -> tuple[SelfTestEntry, ...]:
    """The entries of whichever log the disk has; none where the answer is not one. Never raises."""
    answer = _mapping(document)
    return (*_ata(answer), *_nvme(answer), *_scsi(answer))


def _ata(answer: Mapping[str, Any]) -> Iterator[SelfTestEntry]:
    logs = _mapping(answer.get("ata_smart_self_test_log"))
    log = _mapping(logs.get("extended")) or _mapping(logs.get("standard"))
    for row in _rows(log.get("table")):
        kind, status = _mapping(row.get("type")), _mapping(row.get("status"))
        yield from _entry(kind.get("string"), status.get("string"), status.get("passed"), row.get("lifetime_hours"))


def _nvme(answer: Mapping[str, Any]) -> Iterator[SelfTestEntry]:
    log = _mapping(answer.get("nvme_self_test_log"))
    for row in _rows(log.get("table")):
        code, result = _mapping(row.get("self_test_code")), _mapping(row.get("self_test_result"))
        passed = {0: True, 5: False, 6: False, 7: False}.get(result.get("value", -1))
        yield from _entry(code.get("string"), result.get("string"), passed, row.get("power_on_hours"))


def _scsi(answer: Mapping[str, Any]) -> Iterator[SelfTestEntry]:
    for number in range(20):
        row = _mapping(answer.get(f"scsi_self_test_{number}"))
        code, result = _mapping(row.get("code")), _mapping(row.get("result"))
        passed = {0: True, 3: False, 4: False, 5: False, 6: False, 7: False}.get(result.get("value", -1))
        hours = _mapping(row.get("power_on_time")).get("hours")
        yield from _entry(code.get("string"), result.get("string"), passed, hours)


def _entry(kind: object, status: object, passed: object, hours: object) -> Iterator[SelfTestEntry]:
    is_whole = isinstance(kind, str) and isinstance(status, str) and type(hours) is int and 0 <= hours <= MOST_HOURS
    if is_whole:
        verdict = passed if isinstance(passed, bool) else None
        yield SelfTestEntry(str(kind)[:60], str(status)[:120], verdict, int(str(hours)))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    return (_mapping(row) for row in value) if isinstance(value, list) else iter(())
