"""The records of whole disks: durable, and one damaged one hides no other."""

import hashlib
import json
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import Role
from nasadvisor.stored.documents import to_document
from plugins.truenas.api.records import AddedVdev, Record, Records, RecordState, RecordUnknown
from tests.unit.truenas.standin import POOL_GUID, identifier

RECORD = Record(
    id="r1",
    at="2026-11-20T10:00:00+00:00",
    by="root (command line)",
    pool_guid=POOL_GUID,
    pool_name="tank",
    log_disks=(identifier("SSD1"), identifier("SSD2")),
    cache_disks=(identifier("SSD3"),),
    before=("77",),
    pool_vdevs=("101",),
    state=RecordState.ADDED,
    added=(AddedVdev(Role.CACHE, "203", ("203",)), AddedVdev(Role.LOG, "9201", ("201", "202"))),
)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path)


def file_of(records: Records, name: str = "r1") -> Path:
    return records.directory / f"{name}.whole-disks.json"


def test_what_is_written_is_read(records: Records) -> None:
    assert records.read(records.write(RECORD).id) == RECORD


def test_a_record_of_a_newer_release_is_said_so(records: Records) -> None:
    record = {**to_document(RECORD), "version": 99}
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    file_of(records).write_text(json.dumps({"record": record, "sha256": digest}))
    with pytest.raises(RecordUnknown, match="written by a newer release of NAS Advisor"):
        records.read("r1")


def test_no_single_flipped_bit_changes_what_a_record_says(records: Records) -> None:
    """A guid with a flipped bit would be in no pool, and the record closed with the log still there."""
    records.write(RECORD)
    whole = file_of(records).read_bytes()
    for place in range(len(whole)):
        flipped = bytes([whole[place] ^ 1 << place % 8])
        file_of(records).write_bytes(whole[:place] + flipped + whole[place + 1 :])
        try:
            assert records.read("r1") == RECORD, "only what lies between the values may change"
        except RecordUnknown:
            continue


@pytest.mark.parametrize("length", [0, 1, 40, 300])
def test_a_record_that_was_cut_off_is_unusable(records: Records, length: int) -> None:
    records.write(RECORD)
    file_of(records).write_bytes(file_of(records).read_bytes()[:length])
    with pytest.raises(RecordUnknown, match=r"no usable record r1 .* Nothing was changed"):
        records.read("r1")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\0" * 4096, b"\xff", b"[" * 100_000, b'{"record": 2}'])
def test_a_damaged_record_hides_no_other(records: Records, content: bytes) -> None:
    records.write(RECORD)
    file_of(records, "r0").write_bytes(content)
    assert records.all() == (RECORD,)
    assert [str(each).split(" (")[0] for each in records.damaged()] == [
        "There is no usable record r0 of disks added by TrueNAS"
    ]


def test_a_file_under_another_name_is_not_that_record(records: Records) -> None:
    records.write(RECORD)
    file_of(records).rename(file_of(records, "r2"))
    with pytest.raises(RecordUnknown, match="the file holds the record r1"):
        records.read("r2")


def test_an_unknown_record_is_said_so_and_no_path_leads_out(records: Records) -> None:
    for name in ("r1", "../r1"):
        with pytest.raises(RecordUnknown, match="no such file"):
            records.read(name)
