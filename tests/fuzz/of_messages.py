"""What hosts and consoles say to each other, and what either has kept: messages, documents, journals, records."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nasadvisor.cli.health.forecasts import answer_line
from nasadvisor.cli.watching import findings_in, reading_in
from nasadvisor.console.web.sanitise import accepted
from nasadvisor.domain.evidence.spells import added
from nasadvisor.domain.evidence.switch_words import not_back, result_of
from nasadvisor.domain.evidence.waited import waited_of
from nasadvisor.domain.fleet.joining import token_of
from nasadvisor.domain.fleet.messages import NotAccepted, read_message
from nasadvisor.domain.health.sweep import Answers
from nasadvisor.host.broker import cleaned
from nasadvisor.host.change.chain import chained_line
from nasadvisor.host.change.checked_file import checksum_of
from nasadvisor.host.change.journal import FILE_NAME, Journal
from nasadvisor.host.change.releases import releases_in
from nasadvisor.host.change.trial_clock import read_clock
from nasadvisor.host.config import read_environment_file
from nasadvisor.host.evidence.kept_spells import kept_spells
from nasadvisor.host.evidence.measuring.records import Leftovers, kept_measurements
from nasadvisor.host.evidence.switch_records import SwitchRecords
from nasadvisor.host.evidence.switch_steps import ids_of
from nasadvisor.stored.documents import DocumentError, from_json, pack, to_document, unpack
from nasadvisor.stored.kinds import Kind
from nasadvisor.stored.packing import (
    NameTable,
    pack_activity,
    pack_latency,
    pack_readings,
    unpack_activity,
    unpack_latency,
    unpack_readings,
)
from tests.fuzz.reader import TOLD, Read, Reader, as_shown, of_file, of_text
from tests.unit.domain.health.smart.drives import nvme, sata
from tests.unit.stored.examples import EMPTY_SAMPLE, SAMPLE, kinds
from tests.unit.stored.readings import READINGS
from tests.unit.stored.test_golden import golden

NOW = datetime(2026, 8, 25, 20, 15, tzinfo=UTC)
ARGUMENTS = [["nas", {"version": 1, "code": "x", "template": "It is {what}.", "values": {"what": "so"}}], {}, {}]
HEADERS = {"lang": "py", "task": "host.read_inventory", "id": "1-a", "expires": NOW.isoformat()}
SETTINGS = "# a comment\nNASADVISOR_NODE=nas\nNASADVISOR_SAMPLES=1,30,730\n"


def message(body: bytes) -> bytes:
    """An envelope around a body."""
    properties = {"body_encoding": "base64", "delivery_info": {"exchange": "", "routing_key": "x"}}
    kind = {"content-type": "application/json", "content-encoding": "utf-8"}
    packed = base64.b64encode(body).decode()
    return json.dumps({"body": packed, "headers": HEADERS, "properties": properties, **kind}).encode()


def taken(raw: bytes) -> None:
    """A message, as the console takes it and as a host does; the host's own is understood again."""
    read = read_message(raw)
    json.dumps(accepted(list(read.arguments))).encode()
    read_message(cleaned(raw, "host.nas", NOW))


def readers() -> Iterator[Reader]:
    """All of them."""
    told = (NotAccepted, DocumentError)
    body = json.dumps(ARGUMENTS).encode()
    yield Reader("message", taken, (message(body),), told)
    yield Reader("message-body", lambda data: taken(message(data)), (body,), told)
    yield from (_document(kind) for kind in kinds())
    yield from _kept()
    yield Reader("packed-text", of_text(unpack), (b"c-pO6%?WnQ5K)", b""), (DocumentError,))
    yield Reader("disk-answer", _disk_answer, (json.dumps(nvme()).encode(), json.dumps(sata()).encode()))
    table = NameTable([])
    activity, latency = pack_activity(SAMPLE, table), pack_latency(SAMPLE, table)
    read_activity: Read = lambda data: unpack_activity(EMPTY_SAMPLE, data, table.names)  # noqa: E731
    yield Reader("sample-activity", read_activity, (activity,), (ValueError,))
    yield Reader("sample-latency", lambda data: unpack_latency(data, table.names), (latency,), (ValueError,))
    yield Reader("packed-readings", unpack_readings, (pack_readings(READINGS),), (ValueError,))
    yield Reader("join-token", of_text(token_of), (b"a" * 43 + b"." + b"0" * 64,))
    line = json.dumps({"drive": "x", "history": [{"hours": 1, "smartctl": nvme()}], "horizon_hours": 9000})
    yield Reader("forecast-line", answer_line, (line.encode(),))


def _document(kind: Kind) -> Reader:
    seeds = [json.dumps(each).encode() for number in range(1, kind.number + 1) for each in golden(kind, number)[:3]]

    def read(data: bytes) -> None:
        """What is read can be written, and is the same then."""
        thing: Any = from_json(kind.of, as_shown(data))  # type: ignore[arg-type]
        assert from_json(kind.of, json.dumps(to_document(thing))) == thing  # type: ignore[arg-type]

    return Reader(f"document-{kind.name}", read, tuple(seeds), (DocumentError,))


def _disk_answer(data: bytes) -> None:
    """What lies packed in the answer of a disk, and what is concluded from it."""
    (answers,) = (each for each in kinds() if each.of is Answers)
    document = golden(answers, answers.number)[0]
    whole = {**document["answers"][0], "smartctl": "", "outcome": "read"}
    answer = from_json(Answers, json.dumps({**document, "answers": [whole]})).answers[0]
    object.__setattr__(answer, "smartctl", pack(as_shown(data)))
    findings_in(answer, reading_in(answer))


def _kept() -> Iterator[Reader]:
    """What a host keeps on its disk."""
    by_name = {kind.name: kind for kind in kinds()}

    def of(name: str) -> str:
        return json.dumps(golden(by_name[name], by_name[name].number)[0])

    records = "\n".join(json.dumps(each) for each in golden(by_name["record"], by_name["record"].number))
    seeds = (_chain(records.encode()), records.encode())
    yield Reader("journal", of_file(_journal, f"run/{FILE_NAME}"), seeds, TOLD)
    rechained = of_file(_journal, f"run/{FILE_NAME}")
    yield Reader("journal-with-digests", lambda data: rechained(_chain(data)), (records.encode(),), TOLD)
    clock, line = of_file(lambda at: read_clock(at, "run"), "run/trial.json"), of("trial-clock")
    yield Reader("trial-clock", clock, (f"{line}\n{checksum_of(line)}".encode(),))
    yield Reader("releases", of_file(releases_in, "releases.json"), (of("releases").encode(),))
    yield Reader(
        "spells",
        of_file(lambda at: waited_of(added(kept_spells(at, "1", 0))), "1/7.json"),
        (of("pool-spells").encode(),),
    )
    yield Reader("measurements", of_file(kept_measurements, "a.json"), (of("measurement").encode(),))
    leftovers = of_file(lambda at: (Leftovers(at).probes(), Leftovers(at).candidates()), "a.probe.json")
    yield Reader("leftovers", leftovers, (of("probe-record").encode(),), TOLD)
    record = of("cache-switching")
    switching = of_file(_switching, f"{json.loads(record)['id']}.json")
    yield Reader("switching", switching, (_checked(record.encode()), record.encode()), TOLD)
    yield Reader("switching-with-checksum", lambda data: switching(_checked(data)), (record.encode(),), TOLD)
    settings = of_file(lambda at: read_environment_file(at / "environment"), "environment")
    yield Reader("settings", settings, (SETTINGS.encode(),))


def _journal(folder: Path) -> None:
    Journal(folder / "run").read_run("nas")


def _switching(folder: Path) -> None:
    """What a record says, and what is concluded from it."""
    records = SwitchRecords(folder)
    (record,) = (records.read(each) for each in records.ids())
    result_of(record)
    not_back(record)
    ids_of(record)
    record.wants_out(NOW.timestamp())


def _checked(data: bytes) -> bytes:
    line = as_shown(data).replace("\n", " ")
    return f"{line}\n{checksum_of(line)}".encode()


def _chain(data: bytes) -> bytes:
    """Each line with the digest that fits, which is over the one before: thousands of lines take no longer each."""
    chained = [b""]
    for line in data.split(b"\n"):
        chained.append(chained_line(chained[-1], as_shown(line)))
    return b"".join(chained)
