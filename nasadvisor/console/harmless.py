"""What hosts tell, without characters that a database, a page or a log cannot take.

Lone surrogates cannot be encoded, NUL cannot be stored by PostgreSQL, and other control characters move the cursor of
whoever reads a log. Nothing is refused for them: a disk may have a strange name, and is still to be watched.
"""

import re
from typing import Any, Final

from celery import Task

_HARMFUL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SHOWN_AS: Final = "\N{REPLACEMENT CHARACTER}"


def harmless(document: Any) -> Any:
    """The same JSON with each harmful character replaced by U+FFFD."""
    if isinstance(document, str):
        return _HARMFUL.sub(_SHOWN_AS, document)
    if isinstance(document, list | tuple):
        return [harmless(each) for each in document]
    if isinstance(document, dict):
        return {harmless(key): harmless(value) for key, value in document.items()}
    return document


class HarmlessTask(Task[..., Any]):
    """A task whose arguments are harmless."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it."""
        return super().__call__(*harmless(args), **harmless(kwargs))
