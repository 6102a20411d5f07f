"""JSON made as short as reasonable for a column of the database, and back."""

import json
import zlib
from typing import Any, Final

from nasadvisor.stored.documents import MAX_PACKED_BYTES

LEVEL: Final = 9


def deflate(document: Any, example: bytes = b"") -> bytes:
    """JSON without blanks, deflated; `example` is what most documents of this kind have in common."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=example)
    return packer.compress(json.dumps(document, separators=(",", ":")).encode()) + packer.flush()


def inflate(data: bytes, example: bytes = b"") -> Any:
    """The document again.

    Raises:
        ValueError: it is damaged, or more than anything that was packed.
    """
    try:
        stream = zlib.decompressobj(-zlib.MAX_WBITS, zdict=example)
        return json.loads(stream.decompress(data, MAX_PACKED_BYTES).decode("ascii"))  # what was cut off is no JSON
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"This is not what was packed: {error}") from error
