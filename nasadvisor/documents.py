"""The codec's names under their earlier place, until every import names `nasadvisor.stored.documents`."""

from nasadvisor.stored.documents import (
    MAX_PACKED_BYTES,
    DocumentError,
    Json,
    NewerForm,
    from_document,
    from_json,
    pack,
    to_document,
    to_json,
    unpack,
)

__all__ = [
    "MAX_PACKED_BYTES",
    "DocumentError",
    "Json",
    "NewerForm",
    "from_document",
    "from_json",
    "pack",
    "to_document",
    "to_json",
    "unpack",
]
