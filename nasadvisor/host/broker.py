"""How the worker, which is root, takes messages: bounded, and made anew of what it may obey in them.

Whoever can write into this node's queue may have taken over the console. Of a message only the name of one of our
tasks, its arguments, its id and its end are read, before Celery sees it (`nasadvisor.domain.fleet.messages` says why).
"""

import base64
import json
import logging
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import celery.app.amqp
import kombu
import kombu.transport.redis
import kombu.transport.virtual
import redis

from nasadvisor.domain.fleet.clocks import ahead
from nasadvisor.domain.fleet.messages import Message, NotAccepted, read_message
from nasadvisor.domain.fleet.questions import TASKS

log = logging.getLogger(__name__)

LONGEST_BYTES: Final = 2 * 2**20
"""A plan for 24 used SSDs is about 500 KiB. What is longer is not even parsed."""

LONGEST_WAIT: Final = timedelta(days=8)
"""No request of ours is wanted for longer (`SMART_SWEEP.wanted_s` is the longest)."""

_ID: Final = re.compile(r"[0-9a-zA-Z-]{1,64}")


@dataclass
class ConsoleClock:
    """How far this host's clock is ahead of the console's, as of the last message."""

    ahead: timedelta = timedelta()


CONSOLE_CLOCK: Final = ConsoleClock()
"""That of the console that this process takes messages from."""


def cleaned(raw: bytes, queue: str, now: datetime, ahead: timedelta = timedelta()) -> bytes:
    """The message made anew: one of our tasks, its arguments, its id, and until when it is wanted.

    That end is by the console's clock, and Celery compares it with ours, which is `ahead` of it: a request for the next
    eight seconds would be dropped unseen by a host whose clock is a minute ahead.

    Raises:
        NotAccepted: with what is wrong about it.
    """
    if len(raw) > LONGEST_BYTES:
        raise NotAccepted(f"it has {len(raw)} bytes")
    message = read_message(raw)
    if message.task not in TASKS:
        raise NotAccepted(f"{message.task!r:.100} is none of our tasks")
    task_id = message.headers.get("id")
    if not isinstance(task_id, str) or not _ID.fullmatch(task_id):
        raise NotAccepted("it has no id")
    return _envelope(message, task_id, _end(message.headers.get("expires"), now, ahead), queue)


def _end(expires: Any, now: datetime, ahead: timedelta) -> str:
    """Until when a message is wanted, by our clock and as Celery reads it; at most `LONGEST_WAIT` from now."""
    latest = now + LONGEST_WAIT
    if expires is None:
        return latest.isoformat()
    try:
        end = datetime.fromisoformat(expires)
        end = (end if end.tzinfo else end.replace(tzinfo=UTC)).astimezone(UTC) + ahead
    except (TypeError, ValueError, OverflowError):
        raise NotAccepted(f"it ends at {expires!r:.100}") from None
    return min(end, latest).isoformat()


def _envelope(message: Message, task_id: str, expires: str, queue: str) -> bytes:
    try:
        body = json.dumps([message.arguments, {}, {}]).encode()
    except RecursionError:
        raise NotAccepted("it is nested too deeply") from None
    made = {
        "body": base64.b64encode(body).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"lang": "py", "task": message.task, "id": task_id, "expires": expires},
        "properties": {
            "body_encoding": "base64",
            "delivery_tag": str(uuid.uuid4()),
            "delivery_info": {"exchange": "", "routing_key": queue},
        },
    }
    return json.dumps(made).encode()


class CarefulClient(redis.Redis):
    """Hands on of what was taken from a queue only what is cleaned."""

    def parse_response(self, connection: Any, command_name: str | bytes, **options: Any) -> Any:
        """The answer to a command; None, as if nothing had been there, where a message was dropped."""
        answer = super().parse_response(connection, command_name, **options)  # type: ignore[no-untyped-call]
        if command_name != "BRPOP" or not answer:
            return answer
        key, raw = answer
        try:
            self._compare_clocks(connection)
            return key, cleaned(raw, key.decode(), datetime.now(UTC), CONSOLE_CLOCK.ahead)
        except NotAccepted as error:
            log.warning("a message was dropped: %s", error)
            return None

    def _compare_clocks(self, connection: Any) -> None:
        """Each time, since either clock may have been set. What has been taken is not lost if this fails."""
        before = datetime.now(UTC)
        try:
            connection.send_command("TIME")
            told = super().parse_response(connection, "TIME")  # type: ignore[no-untyped-call]
        except (redis.RedisError, OSError) as error:
            log.warning("the console's time could not be asked for: %s", error)
        else:
            CONSOLE_CLOCK.ahead = ahead(told, before, datetime.now(UTC))


class QoS(kombu.transport.redis.QoS):
    """Knows which messages a worker has taken. Those of a worker that was killed are not done a second time."""

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message; it is no longer counted as taken, even where the console cannot be told.

        Celery only logs that error. A worker that went on counting such messages would take no further ones, and so
        would not even notice that the connection is gone.
        """
        try:
            super().ack(delivery_tag)
        except (redis.RedisError, OSError):
            kombu.transport.virtual.QoS.ack(self, delivery_tag)
            raise

    def restore_visible(self, *_: Any, **__: Any) -> None:
        """Nothing: what lies there was not cleaned, and nobody waits for it any more."""


class Channel(kombu.transport.redis.Channel):
    """A channel that takes only what is cleaned."""

    QoS = QoS

    def _get_client(self) -> type[redis.Redis]:
        return CarefulClient


class Transport(kombu.transport.redis.Transport):
    """A transport of such channels."""

    Channel = Channel


class Connection(kombu.Connection):
    """A connection by that transport, whatever its address says."""

    def get_transport_cls(self) -> type[Transport]:
        """See `kombu.Connection.get_transport_cls`."""
        return Transport


class CarefulAmqp(celery.app.amqp.AMQP):
    """What a Celery app makes its connections of."""

    Connection = Connection
