"""Lines that vouch for each other: in front of each stands a digest of it and of all that was written before it.

`<SHA-256 in hex> <JSON>`. The digest is over the digest of the line before and the JSON, so that a line which was
changed, lost, doubled or moved does not verify, nor does any after it. The first one is over the bytes that stand
before it: none in a new file, the lines of an earlier release (plain JSON) in one that it goes on with.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

DIGITS: Final = 64

NOT_VERIFIED: Final = Statement(
    "not-verified", _("its checksum does not fit: it, or a line before it, is not what was written there")
)


class BrokenChain(ValueError):  # noqa: N818 - named for what happened
    """A line that is not what was written in its place. `line` counts from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"line {line}: {NOT_VERIFIED}")


def whole_lines(data: bytes) -> list[bytes]:
    """The lines that end with a newline, without it; what stands behind the last newline is no line."""
    return data.split(b"\n")[:-1]


def chained_line(before: bytes, text: str) -> bytes:
    """The next line of a file that holds the whole lines `before`, newline included."""
    payload = text.encode()
    return _digest(_last_link(before), payload) + b" " + payload + b"\n"


def verified(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the JSON of every whole line, in order.

    Raises:
        BrokenChain: at the first line that does not verify.
    """
    link = b""
    position = 0
    for number, line in enumerate(whole_lines(data), 1):
        if link or not is_plain(line):
            digest, payload = line[:DIGITS], payload_of(line)
            if line[DIGITS : DIGITS + 1] != b" " or digest != _digest(link or _over(data[:position]), payload):
                raise BrokenChain(number)
            link = digest
        position += len(line) + 1
        yield number, payload_of(line)


def is_plain(line: bytes) -> bool:
    """Whether a line is one of the releases that kept no digests."""
    return line.startswith(b"{")


def payload_of(line: bytes) -> bytes:
    """The JSON of a line, whether it verifies or not."""
    return line if is_plain(line) else line[DIGITS + 1 :]


def _last_link(before: bytes) -> bytes:
    last = whole_lines(before)[-1] if before else b"{"
    return _over(before) if is_plain(last) else last[:DIGITS]


def _over(data: bytes) -> bytes:
    return sha256(data).hexdigest().encode()


def _digest(link: bytes, payload: bytes) -> bytes:
    return sha256(link + payload).hexdigest().encode()
