"""Who sees to the message service for hosts on other machines: lets them in, and sees that there is room for all."""

import logging
import time
from dataclasses import dataclass, field
from typing import Final

import redis
from django.utils import timezone

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.fleet.remote.access import bring_up_to_date
from nasadvisor.console.fleet.remote.joining import admit_waiting
from nasadvisor.console.fleet.remote.listening import renew_if_due
from nasadvisor.console.fleet.remote.places import end_surplus
from nasadvisor.console.worker.inbox import LOOK_AFTER_S, names_of_nodes
from nasadvisor.domain.fleet.joining import console_queue, host_queue, unacknowledged
from nasadvisor.domain.units import HOUR_S, MIB

log = logging.getLogger(__name__)

LARGEST_QUEUE: Final = 48 * MIB
"""Bytes of memory of one key of a node: a twelfth of what all have. A larger one is deleted."""

RENEW_AFTER_S: Final = HOUR_S


@dataclass
class Enrolment:
    """One for a message service, however many processes take messages from it."""

    service: redis.Redis
    _server: str = ""
    _looked_at: float = field(default=float("-inf"))
    _renewed_at: float = field(default=float("-inf"))

    def look_around(self) -> None:
        """Now and then: renew the certificate, make users after a restart of the message service, see that there is
        room, let hosts in.

        Raises:
            NotListening
            redis.exceptions.RedisError: the message service does not answer.
        """
        if time.monotonic() - self._looked_at < LOOK_AFTER_S:
            return
        if time.monotonic() - self._renewed_at > RENEW_AFTER_S:
            renew_if_due(timezone.now())
            self._renewed_at = time.monotonic()
        server = str(self.service.info("server")["run_id"])
        if server != self._server:
            bring_up_to_date(self.service)
            self._server = server
        end_surplus(self.service)
        admit_waiting(self.service, timezone.now())
        self._delete_what_is_too_large()
        self._looked_at = time.monotonic()

    def _delete_what_is_too_large(self) -> None:
        """Each key that a node may write to; what fills the memory of all is dropped as a whole."""
        keys = [(node, key) for node in names_of_nodes() for key in _keys_of(node)]
        with self.service.pipeline(transaction=False) as pipe:
            for _, key in keys:
                pipe.memory_usage(key, samples=0)  # all of it: the newest five may be small
            sizes = pipe.execute()
        for (node, key), size in zip(keys, sizes, strict=True):
            if size and size > LARGEST_QUEUE:
                log.warning("%s sends more than can be stored: %s of %s bytes was deleted", node, key, size)
                self.service.unlink(key)
                quotas.note(node, Quota.QUEUE)


def _keys_of(node: str) -> tuple[str, ...]:
    """Those that a node may fill (`access.rules_of`)."""
    return (console_queue(node), host_queue(node), *unacknowledged(node).values())
