"""What a message may bring to a task: every argument is read as what it must be before the task begins.

A message can hold any JSON. What is no argument of the task, in number, kind or form, is said in the log, and nothing
else happens.
"""

import logging
import re
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any, Final

from nasadvisor.domain.change.trial import LONGEST_S
from nasadvisor.domain.evidence.curve import LONGEST_S as LONGEST_TRACE_S
from nasadvisor.domain.evidence.curve import SHORTEST_S
from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder
from nasadvisor.domain.evidence.metadata_count import LONGEST_S as LONGEST_COUNT_S
from nasadvisor.domain.evidence.metadata_count import SHORTEST_S as SHORTEST_COUNT_S
from nasadvisor.domain.storage import names
from nasadvisor.stored.documents import DocumentError, from_document

log = logging.getLogger(__name__)

Reader = Callable[[object], Any]
"""Reads one argument. Raises DocumentError if it is another."""

Task = Callable[..., None]


def reads(*readers: Reader, defaults: tuple[object, ...] = ()) -> Callable[[Task], Task]:
    """A method whose arguments are read by these, in order; `defaults` stand for the last ones if those are missing."""

    def decorate(task: Task) -> Task:
        @wraps(task)
        def read_first(self: Any, /, *arguments: object, **named: object) -> None:
            try:
                read = _read(readers, arguments, defaults, named)
            except DocumentError as error:
                log.warning("refused %s: %s", task.__name__, error)
                return
            task(self, *read)

        return read_first

    return decorate


def _read(
    readers: tuple[Reader, ...], arguments: tuple[object, ...], defaults: tuple[object, ...], named: dict[str, object]
) -> list[Any]:
    missing = len(readers) - len(arguments)
    if named or not 0 <= missing <= len(defaults):
        raise DocumentError(f"it has {len(readers)} arguments, not {len(arguments)} and {len(named)} by name")
    whole = (*arguments, *defaults[len(defaults) - missing :])
    return [reader(argument) for reader, argument in zip(readers, whole, strict=True)]


def document(kind: type[Any]) -> Reader:
    """A document of this kind."""
    return lambda value: from_document(kind, value)


def member(kind: type[StrEnum]) -> Reader:
    """One of a few words."""

    def read(value: object) -> StrEnum:
        if type(value) is str and value in list(kind):
            return kind(value)
        raise DocumentError(f"there is no {kind.__name__} {value!r:.80}")

    return read


def _text(pattern: str, what: str) -> Reader:
    form = re.compile(pattern)

    def read(value: object) -> str:
        if type(value) is str and form.fullmatch(value):
            return value
        raise DocumentError(f"{value!r:.80} is no {what}")

    return read


asker: Final = _text(names.LINE, "name of somebody")
disk_key: Final = _text(names.LINE, "key of a disk")
message_id: Final = _text(names.LINE, "id of a message")
pool_guid: Final = _text(names.GUID, "guid of a pool")
run_id: Final = _text(names.PLAN_ID, "id of a run")
_measure_id: Final = _text(names.MEASURE_ID, "id of a measurement")


def trace_length(value: object) -> int:
    """For how many seconds reads are followed."""
    if type(value) is int and SHORTEST_S <= value <= LONGEST_TRACE_S:
        return value
    raise DocumentError(f"{value!r:.80} is no length of a trace")


def count_length(value: object) -> int:
    """For how many seconds at the most blocks are counted."""
    if type(value) is int and SHORTEST_COUNT_S <= value <= LONGEST_COUNT_S:
        return value
    raise DocumentError(f"{value!r:.80} is no length of a count")


def trial_length(value: object) -> int:
    """For how many seconds a run is tried, 0 for good. How short it may be is said to who asks (`apply_plan`)."""
    if type(value) is int and 0 <= value <= LONGEST_S:
        return value
    raise DocumentError(f"{value!r:.80} is no length of a trial")


def measure_order(value: object) -> MeasureOrder:
    """An order for a measurement, whose id names a dataset and a file."""
    order = from_document(MeasureOrder, value)
    _measure_id(order.id)
    return order
