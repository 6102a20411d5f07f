"""Lines that vouch for each other, digest by digest."""

from hashlib import sha256

import pytest

from nasadvisor.host.change.chain import BrokenChain, chained_line, payload_of, verified, whole_lines


def digest(*parts: bytes) -> bytes:
    return sha256(b"".join(parts)).hexdigest().encode()


def chained(*texts: str) -> bytes:
    journal = b""
    for text in texts:
        journal += chained_line(journal, text)
    return journal


FIRST, SECOND, THIRD = '{"n": "ä"}', '{"n": 2}', '{"n": 3}'
THREE = chained(FIRST, SECOND, THIRD)


def test_the_digest_of_the_first_line_is_over_nothing_and_the_line() -> None:
    empty = digest()
    assert chained_line(b"", FIRST) == digest(empty, FIRST.encode()) + b" " + FIRST.encode() + b"\n"


def test_the_digest_of_each_other_line_is_over_that_of_the_line_before_and_the_line() -> None:
    lines = chained(FIRST, SECOND, THIRD).splitlines()
    for before, line, text in zip(lines, lines[1:], (SECOND, THIRD), strict=False):
        assert line == digest(before[:64], text.encode()) + b" " + text.encode()


def test_every_whole_line_is_told_with_its_number() -> None:
    told = [(1, FIRST.encode()), (2, SECOND.encode()), (3, THIRD.encode())]
    assert list(verified(THREE)) == told
    assert list(verified(THREE + b"torn")) == told
    assert list(verified(b"")) == []


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x" + THREE[1:], 1),
        (THREE[THREE.index(b"\n") + 1 :], 1),
        (THREE + b"no digest\n", 4),
        (THREE + SECOND.encode() + b"\n", 4),
        (THREE + b"\n", 4),
        (THREE.replace(b' {"n": 2}', b'_{"n": 2}'), 2),
        (THREE.replace(b' {"n": 2}', b'  {"n": 2}'), 2),
        (THREE.replace(b' {"n": 3}', b' {"n": 4}'), 3),
        (FIRST.encode() + b"\n", 1),
    ],
)
def test_a_line_that_is_not_what_was_written_is_told_with_its_number(data: bytes, line: int) -> None:
    with pytest.raises(BrokenChain, match=f"^line {line}: its checksum does not match") as caught:
        list(verified(data))
    assert caught.value.line == line


def test_what_stands_before_a_broken_line_is_told_first() -> None:
    lines = verified(THREE + b"x\n")
    assert [next(lines)[0] for _ in range(3)] == [1, 2, 3]
    with pytest.raises(BrokenChain):
        next(lines)


def test_what_has_no_newline_is_no_line() -> None:
    assert whole_lines(b"a\nb\nc") == [b"a", b"b"]
    assert whole_lines(b"a\n\n") == [b"a", b""]
    assert whole_lines(b"a") == whole_lines(b"") == []


def test_a_line_gives_its_json_whether_it_verifies_or_not() -> None:
    assert payload_of(b"x" * 64 + b" text") == b"text"
    assert payload_of(b"x" * 64) == b""
