"""Who sees to the message service for hosts on other machines: lets them in, and sees that there is room for all.

Redis has one limit for all connections (`maxclients`) and none for an address or a user, so one host, or one stranger
who says nothing at all, could take every place, and no host would be heard. `timeout` alone ends who is silent.
So once it gets crowded nobody keeps more of them than a fair share.
"""

import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import redis
from django.utils import timezone

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.fleet.remote.access import admit_waiting, bring_up_to_date
from nasadvisor.console.fleet.remote.listening import CONSOLE_USER, renew_if_due
from nasadvisor.console.web.networks import network_of
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
        keys = [
            (node, key)
            for node in names_of_nodes()
            for key in (console_queue(node), host_queue(node), *unacknowledged(node).values())  # `access.rules_of`
        ]
        with self.service.pipeline(transaction=False) as pipe:
            for _, key in keys:
                pipe.memory_usage(key, samples=0)  # all of it: the newest five may be small
            sizes = pipe.execute()
        for (node, key), size in zip(keys, sizes, strict=True):
            if size and size > LARGEST_QUEUE:
                log.warning("%s sends more than can be stored: %s of %s bytes was deleted", node, key, size)
                self.service.unlink(key)
                quotas.note(node, Quota.QUEUE)


CROWDED: Final = 0.75
"""Of all places; while fewer are taken nobody is looked at. Hosts with six connections each take as many."""

MOST_OF_A_HOST: Final = 40
"""A host's worker has some ten: kombu's pool, one that waits, one that tells."""

MOST_OF_STRANGERS: Final = 10
"""From one network, before a password was said; a host is that for the time of a handshake."""

LONGEST_STRANGE_S: Final = 10

STRANGER: Final = "default"
"""The user of a connection that has said no password; as such nobody may do anything (`listening`)."""


def end_surplus(service: redis.Redis) -> int:
    """End the connections that are beyond somebody's share, if it is crowded; how many they were."""
    clients = service.info("clients")
    if clients["connected_clients"] < CROWDED * clients["maxclients"]:
        return 0
    had: Counter[str] = Counter()
    surplus = [each["id"] for each in service.client_list() if _is_surplus(each, had)]
    with service.pipeline(transaction=False) as pipe:
        for client_id in surplus:
            pipe.client_kill_filter(_id=client_id)
        pipe.execute()
    if surplus:
        log.warning("%d connections of who had more than their share were ended", len(surplus))
    return len(surplus)


def _is_surplus(client: dict[str, Any], had: Counter[str]) -> bool:
    """Whether it is beyond the share of whose it is; `had` counts those that were looked at before, oldest first."""
    if client["user"] == CONSOLE_USER:
        return False
    if client["user"] != STRANGER:
        had[client["user"]] += 1
        return had[client["user"]] > MOST_OF_A_HOST
    network = network_of(client["addr"].rpartition(":")[0].strip("[]")) or ""
    had[network] += 1
    return had[network] > MOST_OF_STRANGERS or int(client["age"]) > LONGEST_STRANGE_S
