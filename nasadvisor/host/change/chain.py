"""Lines that vouch for each other: in front of each stands a digest of it and of all that was written before it.

`<SHA-256 in hex> <JSON>`. The digest is over the digest of the line before and the JSON, so that a line which was
changed, lost, doubled or moved does not verify, nor does any after it. The digest before the first line is that of no
bytes.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

DIGITS: Final = 64
_NOTHING: Final = sha256().hexdigest().encode()
"""The digest that stands before the first line."""

NOT_VERIFIED: Final = Statement(
    "not-verified", _("its checksum does not match: it, or a line before it, is not as it was written")
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
    link = whole_lines(before)[-1][:DIGITS] if before else _NOTHING
    return _digest(link, payload) + b" " + payload + b"\n"


def verified(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the JSON of every whole line, in order.

    Raises:
        BrokenChain: at the first line that does not verify.
    """
    link = _NOTHING
    for number, line in enumerate(whole_lines(data), 1):
        digest, payload = line[:DIGITS], payload_of(line)
        if line[DIGITS : DIGITS + 1] != b" " or digest != _digest(link, payload):
            raise BrokenChain(number)
        link = digest
        yield number, payload


def payload_of(line: bytes) -> bytes:
    """The JSON of a line, whether it verifies or not."""
    return line[DIGITS + 1 :]


def _digest(link: bytes, payload: bytes) -> bytes:
    return sha256(link + payload).hexdigest().encode()
