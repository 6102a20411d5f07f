"""The lab's replay of a loss of power: what was flushed lasts, and of the rest any choice of disks."""

from pathlib import Path

from tests.lab.recorder import DURABLE, ENTRY, FLUSH, WRITE
from tests.lab.replay import PAGE, Content, moments


def entry(kind: int, disk: int, offset: int = 0, data: bytes = b"") -> bytes:
    return ENTRY.pack(kind, disk, offset, len(data)) + data


def blank() -> Content:
    return Content(8 * PAGE, {})


def test_what_was_not_flushed_is_lost_or_kept_disk_by_disk(tmp_path: Path) -> None:
    record = tmp_path / "record"
    requests = (
        entry(WRITE, 0, 10, b"first"),
        entry(WRITE, 1, 20, b"other"),
        entry(FLUSH, 0),
        entry(WRITE, 0, 10, b"again"),
        entry(FLUSH, 1),
    )
    record.write_bytes(b"".join(requests))
    seen = [
        tuple(
            moment.content(disk, keeps_unflushed=kept).read(10 + 10 * disk, 5)
            for disk in (0, 1)
            for kept in (False, True)
        )
        for moment in moments(record, 0, record.stat().st_size, {0: blank(), 1: blank()})
    ]
    nothing = bytes(5)
    assert seen == [
        (nothing, nothing, nothing, nothing),
        (nothing, b"first", nothing, nothing),
        (nothing, b"first", nothing, b"other"),
        (b"first", b"first", nothing, b"other"),
        (b"first", b"again", nothing, b"other"),
        (b"first", b"again", b"other", b"other"),
    ]


def test_a_durable_write_lasts_at_once_and_no_older_one_comes_after_it(tmp_path: Path) -> None:
    record = tmp_path / "record"
    requests = (entry(WRITE, 0, 0, b"older"), entry(DURABLE, 0, 0, b"newer"), entry(FLUSH, 0))
    record.write_bytes(b"".join(requests))
    *_, first, last = [
        (moment.content(0, keeps_unflushed=False).read(0, 5), moment.content(0, keeps_unflushed=True).read(0, 5))
        for moment in moments(record, 0, record.stat().st_size, {0: blank()})
    ]
    assert first == last == (b"newer", b"newer")


def test_contents_across_pages_zeros_and_files(tmp_path: Path) -> None:
    content = blank()
    content.write(PAGE - 2, b"abcd")
    content.zero(PAGE + 1, 3 * PAGE)
    assert content.read(PAGE - 3, 6) == b"\0abc\0\0"
    content.save(tmp_path / "image")
    again = Content.of_file(tmp_path / "image")
    assert (again.size, again.pages) == (content.size, content.pages)
    content.zero(0, content.size)
    assert not content.pages
