"""Records of what a measurement makes: there as long as something may have to be removed, and never misread."""

from pathlib import Path
from typing import TypeVar

import pytest

from nasadvisor.domain.evidence.measuring.probing import CandidateRecord, ProbeRecord
from nasadvisor.host.change.chain import chained_line
from nasadvisor.host.evidence.measuring import records as leftovers_module
from nasadvisor.host.evidence.measuring.records import Leftovers, RecordDamaged
from nasadvisor.stored.documents import to_json

T = TypeVar("T", ProbeRecord, CandidateRecord)

AT = "2026-08-25T20:00:00+00:00"
PROBE = ProbeRecord("0a1b2c3d", AT, "1", "tank/nasadvisor-probe-0a1b2c3d", "/mnt/x")
OTHER = ProbeRecord("1a1b2c3d", AT, "1", "tank/nasadvisor-probe-1a1b2c3d", "/mnt/y")
CANDIDATE = CandidateRecord("2a1b2c3d", AT, (), ())


@pytest.fixture
def leftovers(tmp_path: Path) -> Leftovers:
    return Leftovers(tmp_path / "probes")


def damaged(leftovers: Leftovers, kind: type[T]) -> dict[str, object]:
    with pytest.raises(RecordDamaged) as caught:
        leftovers.refuse_damaged(kind)
    return dict(caught.value.statement.values)


def test_each_record_is_a_file_of_one_line_with_its_digest(leftovers: Leftovers) -> None:
    leftovers.write(PROBE)
    leftovers.write(CANDIDATE)
    files = {path.name: path.read_bytes() for path in leftovers.directory.iterdir()}
    assert files == {
        "0a1b2c3d.probe.json": chained_line(b"", to_json(PROBE)),
        "2a1b2c3d.candidate.json": chained_line(b"", to_json(CANDIDATE)),
    }


def test_records_are_read_by_their_sort_and_in_order(leftovers: Leftovers) -> None:
    for record in (OTHER, CANDIDATE, PROBE):
        leftovers.write(record)
    assert leftovers.probes() == (PROBE, OTHER)
    assert leftovers.candidates() == (CANDIDATE,)
    leftovers.refuse_damaged(ProbeRecord)
    leftovers.refuse_damaged(CandidateRecord)


def test_where_nothing_was_ever_measured_there_is_nothing(leftovers: Leftovers) -> None:
    assert (leftovers.probes(), leftovers.candidates()) == ((), ())
    leftovers.refuse_damaged(ProbeRecord)


def test_what_is_gone_is_forgotten_for_good(leftovers: Leftovers, monkeypatch: pytest.MonkeyPatch) -> None:
    leftovers.write(PROBE)
    leftovers.write(OTHER)
    synced: list[tuple[Path, tuple[ProbeRecord, ...]]] = []
    monkeypatch.setattr(leftovers_module, "sync_directory", lambda path: synced.append((path, leftovers.probes())))
    leftovers.remove(PROBE)
    leftovers.remove(PROBE)
    assert synced == [(leftovers.directory, (OTHER,))] * 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\n",
        chained_line(b"", to_json(OTHER))[:-3],
        chained_line(b"", to_json(OTHER)) * 2,
        chained_line(b"", to_json(CANDIDATE)),
        b"x" + chained_line(b"", to_json(OTHER))[1:],
    ],
)
def test_a_damaged_record_is_named_and_hides_no_other(leftovers: Leftovers, data: bytes) -> None:
    leftovers.write(PROBE)
    leftovers.write(CANDIDATE)
    path = leftovers.directory / "00000000.probe.json"
    path.write_bytes(data)
    assert leftovers.probes() == (PROBE,)
    values = damaged(leftovers, ProbeRecord)
    assert values["path"] == str(path)
    assert values["problem"]
    leftovers.refuse_damaged(CandidateRecord)


def test_a_record_that_the_disk_does_not_give_is_damaged(leftovers: Leftovers) -> None:
    (leftovers.directory / "x.candidate.json").mkdir(parents=True)
    assert leftovers.candidates() == ()
    assert "directory" in str(damaged(leftovers, CandidateRecord)["problem"])


def test_a_damaged_line_is_told_as_what_it_is(leftovers: Leftovers) -> None:
    leftovers.write(PROBE)
    path = leftovers.directory / "0a1b2c3d.probe.json"
    path.write_bytes(b"x" + path.read_bytes()[1:])
    assert str(damaged(leftovers, ProbeRecord)["problem"]).startswith("line 1: its checksum does not match")


@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_record_without_a_digest_is_damaged(leftovers: Leftovers, ending: str) -> None:
    leftovers.directory.mkdir()
    (leftovers.directory / "0a1b2c3d.probe.json").write_text(to_json(PROBE) + ending)
    assert leftovers.probes() == ()
    assert str(damaged(leftovers, ProbeRecord)["problem"]).startswith("line 1: its checksum does not match")


def test_a_digest_vouches_for_a_line_without_its_newline_as_well(leftovers: Leftovers) -> None:
    leftovers.write(PROBE)
    path = leftovers.directory / "0a1b2c3d.probe.json"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert leftovers.probes() == (PROBE,)
