"""A support bundle: what belongs to a bug report, as JSON and text in a tar.gz, with pseudonyms instead of names.

Stored forms keep their form, so that `documents.from_document` reads them back. What smartctl and nvme answered stands
unpacked, for it is to be looked through; samples of counters are packed as they are stored, and hold numbers only.
"""

import base64
import io
import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, datetime, time
from enum import StrEnum
from typing import IO, Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from nasadvisor.domain.change.runs import Run, Step
from nasadvisor.domain.fleet.known_names import KnownName, names_in
from nasadvisor.domain.fleet.pseudonyms import Pseudonyms
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.stored.documents import DocumentError, from_document, to_document, unpack
from nasadvisor.stored.kinds import all_kinds

T = TypeVar("T")

FOLDER: Final = "nasadvisor-support"
README_NAME: Final = "README.txt"
LOOK_FIRST: Final = "Look through it before you send it."

README: Final = f"""\
A support bundle of NAS Advisor. {LOOK_FIRST}

versions.json     releases of NAS Advisor, OpenZFS, the kernel, the distribution, smartctl and the platform
settings.json     settings: values that hold no secret and no name; of the others only that they are set
doctor.json       what the doctor found (only from the command line)
host.json         how the host and its console stand to each other
inventory.json    disks, what holds them, and pools with their vdevs
platform.json     what the platform says of the host
pools/            of each pool: properties, verdicts, how full it was, and the counters of the last seven days
disks/            of each disk: what is known, what it said of its wear, and the newest answers of smartctl and nvme
answers/          what was traced and counted; measurements.json: what was measured by writing
alerts.json       alerts of the last 30 days
runs/             what was applied and undone, step by step, without the output of the commands
host/             what the host itself says at this moment, its runs among it (only from the command line)
log/              the last lines that the services of NAS Advisor wrote (only from the command line)

Left out: passwords, keys, tokens, addresses of notification channels, the audit log, journals with partition tables.

Replaced by a pseudonym, the same in every file: serial numbers, WWNs, guids, UUIDs (by numbered ones), names of hosts,
users, pools, datasets, guests and partitions, IP and MAC addresses, mail addresses, URLs. "serial-3" is one disk in all
files. The next bundle has other numbers, and nothing in this one leads back to the names.

Not replaced, for they tell nobody anything: names that are words of NAS Advisor (a pool called "log"), names without
a letter, serial numbers of fewer than six digits, and what every machine has ("root"). Names that nothing here knows
cannot be found: of programs, for example, or in the words of an error message.

In pools/*/samples.json, "activity" and "latency" are packed counters (base64 of what the database holds). They hold
numbers only; the names that these numbers stand for are in "names", replaced.
"""

SHOWN_SETTINGS: Final = frozenset(
    f"NASADVISOR_{name}"
    for name in (
        *("CONSOLE_MAY", "WATCH_ONLY", "CURVES", "SPELLS", "POOL_READER", "TLS", "HTTPS", "HSTS", "SECOND_FACTOR"),
        *("IDLE_MINUTES", "TIME_ZONE", "SAMPLES", "RECEIVERS", "MOST_HOSTS", "TOKEN_DAYS", "DEBUG"),
    )
) | {"UVICORN_PORT"}
"""Settings whose values can hold neither a secret nor a name (docs/reference/settings.md)."""


@dataclass(frozen=True)
class ToolAnswer:
    """What smartctl or nvme answered about a disk. Its words are the tool's, so only identifiers are sought in it."""

    document: Any


@dataclass(frozen=True)
class SupportFile:
    """A file of the bundle. Its content is text, or JSON in which stored objects, bytes and moments may stand.

    `known` are names in it that no field tells to be names.
    """

    name: str
    content: object
    known: tuple[KnownName, ...] = ()


@dataclass(frozen=True)
class WrittenFile:
    """A file that is in the bundle, by its name there."""

    name: str
    size_bytes: int


def smartctl_version(packed: str) -> str:
    """The release of smartctl that gave an answer; "" where that does not tell."""
    told = _unpacked(packed) if packed else None
    document: Any = told.document if isinstance(told, ToolAnswer) else None
    try:
        return ".".join(str(number) for number in document["smartctl"]["version"])
    except (TypeError, LookupError):
        return ""


def shown_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that are not the defaults; of whatever could hold a secret or a name only that it is set."""
    ours = {key: value for key, value in environment.items() if key.startswith(("NASADVISOR_", "UVICORN_")) and value}
    return {key: ours[key] if key in SHOWN_SETTINGS else "(set)" for key in sorted(ours)}


def readable(form: type[T], document: object) -> T | dict[str, str]:
    """What was stored, or why this release cannot read it."""
    try:
        return from_document(form, document)
    except DocumentError as error:
        return {"not readable": str(error)}


def of_answer(answer: DiskAnswer) -> dict[str, object]:
    """What a disk answered, and what smartctl and nvme said of it."""
    packed = {"smartctl": answer.smartctl, "id_ctrl": answer.id_ctrl, "ocp": answer.ocp}
    return {"answer": replace(answer, smartctl="", id_ctrl="", ocp=""), **said_by_tools(packed)}


def said_by_tools(packed: Mapping[str, str]) -> dict[str, object]:
    """What smartctl and nvme said, by the names of their answers, where they said something."""
    return {name: _unpacked(text) for name, text in packed.items() if text}


def _unpacked(packed: str) -> object:
    try:
        return ToolAnswer(json.loads(unpack(packed)))
    except (ValueError, RecursionError) as error:
        return {"not readable": str(error)}


def without_output(run: Run) -> Run:
    """A run without what its commands printed: that is what somebody else wrote."""
    return replace(run, steps=_silent(run.steps), undo_steps=_silent(run.undo_steps))


def _silent(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(replace(step, ran=tuple(replace(each, stdout="") for each in step.ran)) for step in steps)


def write_bundle(
    file: IO[bytes], contents: Sequence[SupportFile], known: Iterable[KnownName], now: datetime
) -> tuple[WrittenFile, ...]:
    """Write a bundle; `known` are names beside those in the contents.

    Raises:
        OSError: it is not complete.
    """
    found = (name for each in contents for name in (*each.known, *names_in(each.content)))
    pseudonyms = Pseudonyms((*found, *known), own_words())
    written: list[WrittenFile] = []
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in _texts(contents, pseudonyms):
            data = text.encode("utf-8", "backslashreplace")
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o600, int(now.timestamp())
            archive.addfile(entry, io.BytesIO(data))
            written.append(WrittenFile(name, len(data)))
    return tuple(written)


def _texts(contents: Sequence[SupportFile], pseudonyms: Pseudonyms) -> Iterator[tuple[str, str]]:
    """Each file's name, which no other has, and its text."""
    yield README_NAME, README
    taken: set[str] = set()
    for each in contents:
        stem, dot, ending = re.sub(r"[^A-Za-z0-9._/+-]+", "_", pseudonyms.replaced(each.name)).rpartition(".")
        numbers = (f"{stem}{f'-{number}' if number else ''}{dot}{ending}" for number in range(len(contents)))
        name = next(name for name in numbers if name not in taken)
        taken.add(name)
        if isinstance(each.content, str):
            yield name, pseudonyms.replaced(each.content)
        else:
            yield name, json.dumps(_told(each.content, pseudonyms), indent=1, sort_keys=True) + "\n"


def _told(value: object, pseudonyms: Pseudonyms, key: str = "") -> Any:
    """The content of a file as JSON, with pseudonyms."""
    if isinstance(value, ToolAnswer):
        return pseudonyms.in_answer(value.document)
    if isinstance(value, Mapping):
        return {str(name): _told(each, pseudonyms, str(name)) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_told(each, pseudonyms, key) for each in value]
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode("ascii")
    return pseudonyms.in_document(_as_json(value), key)


def _as_json(value: object) -> Any:
    if is_dataclass(value):
        return to_document(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def own_words() -> frozenset[str]:
    """The words that stored forms are made of: names of fields, and what stands in fields that take certain words."""
    found: set[str] = set()
    seen: set[object] = set()
    for kind in all_kinds():
        if _first_of(kind.of).__module__.startswith(_DOMAIN):  # others are known to some processes only
            found.update((kind.name,), _words_of(kind.of, seen))
    return frozenset(found)


_DOMAIN: Final = "nasadvisor.domain."


def _first_of(form: Any) -> Any:
    return next(iter(get_args(form)), form)


def _words_of(form: Any, seen: set[object]) -> Iterator[str]:
    if form in seen:
        return
    seen.add(form)
    if get_origin(form) is Literal:
        yield from (str(word) for word in get_args(form))
    elif isinstance(form, type) and issubclass(form, StrEnum):
        yield from (word.value for word in form)
    elif is_dataclass(form):
        hints = get_type_hints(form)
        for field in fields(form):
            yield field.name
            yield from _words_of(hints[field.name], seen)
    else:
        for part in get_args(form):
            yield from _words_of(part, seen)
