"""Connections to the message service: once it gets crowded, nobody keeps more of them than a fair share.

Redis has one limit for all (`maxclients`) and none for an address or a user, so one host, or one stranger who says
nothing at all, could take every place, and no host would be heard. `timeout` alone ends who is silent for long.
"""

import logging
from collections import Counter
from typing import Any, Final

import redis

from nasadvisor.console.fleet.remote.listening import CONSOLE_USER
from nasadvisor.console.web.networks import network_of

log = logging.getLogger(__name__)

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
