"""A small file beside the journals, of one document: written as a whole, with a checksum of its own.

It is no journal: what it says is lost with it, and a digit that flipped must not be believed.
"""

import hashlib
from pathlib import Path
from typing import Any, TypeVar

from nasadvisor.host.change.journal import write_whole
from nasadvisor.stored.documents import DocumentError, from_json, to_json

T = TypeVar("T")


def write_checked(path: Path, thing: Any) -> None:
    """Make a document durable, all of it or nothing.

    Raises:
        JournalUnwritable: it could not be written; what was there before still is.
    """
    line = to_json(thing)
    write_whole(path, f"{line}\n{checksum_of(line)}")


def read_checked(path: Path, kind: type[T]) -> T:
    """The document in a file.

    Raises:
        FileNotFoundError: there is none.
        DocumentError: it is not what was written, or of a newer release.
    """
    try:
        line, _, checksum = path.read_text(encoding="utf-8").partition("\n")
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(str(error)) from error
    if checksum != checksum_of(line):
        raise DocumentError("its checksum is wrong")
    return from_json(kind, line)


def checksum_of(line: str) -> str:
    """The second line of a file whose first line is this."""
    return hashlib.sha256(line.encode()).hexdigest() + "\n"
