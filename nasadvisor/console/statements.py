"""Statements that are stored as documents."""

from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import DocumentError, Json, from_document

_NO_LONGER_READABLE = gettext_noop("A reason was given, but it cannot be read any more. {problem}")


def read_statement(document: Json | None) -> Statement | None:
    """A stored statement; if an update of NAS Advisor can no longer read it, one that says so."""
    try:
        return from_document(Statement, document) if document else None
    except DocumentError as error:
        return Statement("unreadable", _NO_LONGER_READABLE, {"problem": str(error)})
