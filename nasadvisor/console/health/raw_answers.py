"""smartctl's own answers as they were kept."""

import json
from typing import Any

from nasadvisor.console.health.models import RawAnswer
from nasadvisor.domain.health.smart.attributes import SmartValue, smart_values
from nasadvisor.stored.documents import DocumentError, unpack


def document_of(text: str) -> Any:
    """JSON, whatever it holds; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def values_in(answer: RawAnswer) -> tuple[SmartValue, ...]:
    """All that a disk counted then; nothing where the answer is damaged."""
    try:
        return smart_values(document_of(unpack(answer.smartctl)))
    except DocumentError:
        return ()
