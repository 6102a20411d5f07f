"""What hosts on other machines tell: taken from one queue for each node, checked, and stored.

What lies in a queue was written by whoever holds that node's password. Of a message only the name of its task and its
arguments are looked at; Celery never sees it, and would do what it says beyond that with the console's own rights.
"""

import logging
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import redis

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.answers import LARGEST_MESSAGE, is_error, kept_of
from nasadvisor.domain.fleet.joining import console_queue
from nasadvisor.domain.fleet.messages import Message, NotAccepted, read_message

log = logging.getLogger(__name__)

AT_ONCE: Final = 4
"""How many messages of one node are taken before the next node has its turn."""

WAITING_AT_MOST: Final = 1000
"""Of one node; older ones are dropped. A host that is in order sends some ten a minute."""

READINGS_EVERY_S: Final = 2.0
READINGS_AT_ONCE: Final = 60
"""A host is asked for one every ten seconds; more of them than this would be rows that nobody asked for."""

LOOK_AFTER_S: Final = 2.0
"""How often the list of nodes is read again, and hosts that want to join are let in (`enrolment`)."""

WAIT_S: Final = 1


def message_of(node: str, raw: bytes) -> Message:
    """Read what lay in the queue of a node; its first argument is the node. One that is too large is noted.

    Raises:
        NotAccepted: with what is wrong about it.
    """
    message = read_message(raw)
    kept = kept_of(message)
    if len(raw) > (kept.largest_message if kept else LARGEST_MESSAGE):
        quotas.note(node, Quota.MESSAGE_SIZE)
        raise NotAccepted(f"{message.task!r:.100} has {len(raw)} bytes")
    if kept is None and not is_error(message):
        raise NotAccepted(f"hosts do not send {message.task!r:.100} of {message.arguments[1:2]!r:.100}")
    if message.arguments[0] != node:
        raise NotAccepted(f"{message.task} claims to come from {message.arguments[:1]!r:.100}")
    return message


@dataclass
class Allowance:
    """How many readings a node may send now: so many at once, and one more every some seconds."""

    left: float = READINGS_AT_ONCE
    at: float = field(default_factory=time.monotonic)

    def take(self, now: float) -> bool:
        """Whether there is one left; it is gone then."""
        self.left = min(READINGS_AT_ONCE, self.left + (now - self.at) / READINGS_EVERY_S)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


def take(node: str, raw: bytes, allowance: Allowance) -> bool:
    """Store what one message says; whether it was one that a host may send, and may send now."""
    try:
        message = message_of(node, raw)
    except NotAccepted as error:
        log.warning("a message of %s was dropped: %s", node, error)
        return False
    kept = kept_of(message)
    if kept and kept.is_rationed and not allowance.take(time.monotonic()):
        quotas.note(node, Quota.QUEUE)
        return False
    # Celery runs it in place, and logs whatever goes wrong in it.
    run = tasks.error if kept is None else tasks.answer
    run.apply(args=message.arguments, throw=False)
    return True


@dataclass(frozen=True)
class Share:
    """Which nodes a process takes from: of `processes`, the one with this number, from 0. Together they have all."""

    number: int = 0
    processes: int = 1

    def has(self, node: str) -> bool:
        """Whether it is this one's. The same for ever, for messages of one node are stored one after the other."""
        return zlib.crc32(node.encode()) % self.processes == self.number


def names_of_nodes() -> tuple[str, ...]:
    """The hosts on other machines that have joined."""
    return tuple(Node.objects.exclude(access_digest="").values_list("name", flat=True))


@dataclass
class Inbox:
    """Takes messages round by round, so that no node keeps the others waiting."""

    service: redis.Redis
    share: Share = Share()
    nodes: tuple[str, ...] = ()
    taken: int = 0
    allowances: dict[str, Allowance] = field(default_factory=dict)
    _looked_at: float = field(default=float("-inf"))

    def look_around(self) -> None:
        """Now and then: read the list of nodes."""
        if time.monotonic() - self._looked_at < LOOK_AFTER_S:
            return
        self.nodes = tuple(filter(self.share.has, names_of_nodes()))
        self._looked_at = time.monotonic()

    def one_round(self) -> int:
        """Take some messages of each node; how many there were."""
        before = self.taken
        for node, waiting in zip(self.nodes, self._waiting(), strict=True):
            surplus = waiting - WAITING_AT_MOST
            if surplus > 0:
                log.warning("%s sends more than can be stored: %s messages were dropped", node, surplus)
                quotas.note(node, Quota.QUEUE)
                self.service.ltrim(console_queue(node), 0, WAITING_AT_MOST - 1)
            found = self.service.rpop(console_queue(node), AT_ONCE) if waiting else None
            for raw in found if isinstance(found, list) else []:
                self._take(node, _as_bytes(raw))
        return self.taken - before

    def wait(self) -> None:
        """Wait until a node says something; that message is taken."""
        if not self.nodes:
            time.sleep(WAIT_S)
            return
        by_queue = {console_queue(node): node for node in self.nodes}
        try:
            found = self.service.brpop(list(by_queue), timeout=WAIT_S)
        except redis.ResponseError:  # one of them is no list any more: the next round says which
            return
        if found:
            queue, raw = map(_as_bytes, found)
            self._take(by_queue[queue.decode()], raw)

    def _waiting(self) -> Sequence[int]:
        """How much waits of each node. A queue that is no list is deleted, so that it stops nobody else's."""
        with self.service.pipeline(transaction=False) as pipe:
            for node in self.nodes:
                pipe.llen(console_queue(node))
            found = pipe.execute(raise_on_error=False)
        lengths = []
        for node, length in zip(self.nodes, found, strict=True):
            if isinstance(length, redis.ResponseError):
                log.warning("what %s put into its queue cannot be taken and was deleted: %s", node, length)
                self.service.delete(console_queue(node))
                lengths.append(0)
            else:
                lengths.append(int(length))
        return lengths

    def _take(self, node: str, raw: bytes) -> None:
        take(node, raw, self.allowances.setdefault(node, Allowance()))
        self.taken += 1


def _as_bytes(value: bytes | str) -> bytes:
    """Redis answers in bytes, as `client` asks it to; its types leave both open."""
    return value if isinstance(value, bytes) else value.encode()
