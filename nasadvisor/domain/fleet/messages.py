"""A message of the queues: what it asks, and nothing else of what its sender may have put into it.

Celery's message protocol 2 in kombu's envelope. Celery would do what a message says beyond its task: send further tasks
(`callbacks`, `chain`, `chord`), unpack it to any size (`compression`), put it into another queue (`delivery_info`). So
whoever does not trust the sender reads the task and its arguments here, and hands on only these.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any


class NotAccepted(ValueError):  # noqa: N818 - named for what happened
    """A message that no part of ours would send."""


@dataclass(frozen=True)
class Message:
    """A task and its arguments. `headers` are the sender's, unchecked."""

    task: str
    arguments: tuple[Any, ...]
    headers: dict[str, Any]


def read_message(raw: bytes) -> Message:
    """Read what lay in a queue.

    Raises:
        NotAccepted: with what is wrong about it.
    """
    try:
        envelope = json.loads(raw)
        headers, kind = envelope["headers"], (envelope["content-type"], envelope["properties"]["body_encoding"])
        arguments, named, _ = json.loads(base64.b64decode(envelope["body"], validate=True))
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error) as error:
        raise NotAccepted(f"it cannot be read: {error!r:.200}") from None
    if kind != ("application/json", "base64") or not isinstance(headers, dict) or "compression" in headers:
        raise NotAccepted("it is packed in another way")
    task = headers.get("task")
    if not isinstance(task, str):
        raise NotAccepted(f"{task!r:.100} is no task")
    if not isinstance(arguments, list) or named:
        raise NotAccepted(f"{task!r:.100} has other arguments")
    return Message(task, tuple(arguments), headers)
