"""What a host on another machine may do at the message service: rights of Redis users (ACL), one user a node.

The truth is the database: `Node.access_digest` and `JoinToken`. The users are made from it whenever the message service
has started. What kombu needs of Redis was found out with a real one; `tests/remote` holds it to that.
"""

from typing import Final

import redis
from redis.lock import Lock

from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote.listening import CONSOLE_USER, command
from nasadvisor.domain.fleet.joining import (
    answer_key,
    binding_of,
    console_queue,
    guest_of,
    host_queue,
    permanent_binding_of,
    request_key,
    unacknowledged,
    user_of,
)

Rules = tuple[str, ...]

_CONNECTING: Final = ("+ping", "+select", "+hello", "+auth")
_NOTHING: Final = ("reset", "on")


def rules_of(node: str, digest: str) -> Rules:
    """What a node may do with a password of this SHA-256: take from its queue, add to that of the console."""
    own = (host_queue(node), *unacknowledged(node).values())
    queues = (host_queue(node), console_queue(node))
    noted = [key(queue) for queue in queues for key in (binding_of, permanent_binding_of)]
    return (
        *_NOTHING,
        f"#{digest}",
        *_CONNECTING,
        "+time",
        "+multi",
        "+exec",
        "+watch",
        "+unwatch",
        *(f"%RW~{key}" for key in own),
        *(f"+{command}" for command in ("brpop", "lpush", "rpush", "llen", "sadd", "set", "zadd", "zrem", "zrange")),
        *(f"+{command}" for command in ("hset", "hget", "hdel")),
        # Not `script|load`: only the script of `bring_up_to_date` can be called. It gets and deletes.
        *(f"+{command}" for command in ("evalsha", "get", "del")),
        # Selectors of their own, so that what the console reads stays a list, whatever else a node may do.
        f"(+lpush +llen %W~{console_queue(node)})",
        f"(+sadd {' '.join(f'%W~{key}' for key in noted)})",
    )


def guest_rules(digest: str) -> Rules:
    """What a host may do with a token of this SHA-256: ask to join, and take the answer."""
    return (*served_guest_rules(digest), f"%W~{request_key(digest)}", "+lpush")


def served_guest_rules(digest: str) -> Rules:
    """What is left of that when it has joined: to take the answer."""
    return (*_NOTHING, f"#{digest}", *_CONNECTING, f"%RW~{answer_key(digest)}", "+brpop")


def let_in(service: redis.Redis, node: str, digest: str) -> None:
    """Give a node its user. Whoever was connected as it before is thrown out, and what waited for it is dropped."""
    shut_out(service, node)
    _set_user(service, user_of(node), rules_of(node, digest))


def shut_out(service: redis.Redis, node: str) -> None:
    """Take a node's user away, which also ends its connections, and everything that waits for it or came from it."""
    command(service, "ACL", "DELUSER", user_of(node))
    service.delete(host_queue(node), console_queue(node), *unacknowledged(node).values())


def invite(service: redis.Redis, digest: str) -> None:
    """Let a host with this token ask to join."""
    _set_user(service, guest_of(digest), guest_rules(digest))


def serve(service: redis.Redis, digest: str, answer: str) -> None:
    """Give a host that has joined its answer; nobody can ask with this token again."""
    _set_user(service, guest_of(digest), served_guest_rules(digest))
    service.lpush(answer_key(digest), answer)


def disinvite(service: redis.Redis, digest: str) -> None:
    """Let it ask no more."""
    command(service, "ACL", "DELUSER", guest_of(digest))
    service.delete(request_key(digest), answer_key(digest))


def bring_up_to_date(service: redis.Redis) -> None:
    """Make exactly the users that the database knows, with today's rights; and the script of `redis.lock.Lock`."""
    service.script_load(Lock.LUA_RELEASE_SCRIPT)
    nodes = Node.objects.exclude(access_digest="").values_list("name", "access_digest")
    wanted = {user_of(name): rules_of(name, digest) for name, digest in nodes}
    unused = JoinToken.objects.filter(used_at=None).values_list("digest", flat=True)
    wanted |= {guest_of(digest): guest_rules(digest) for digest in unused}
    found = {name.decode() for name in command(service, "ACL", "USERS")} - {CONSOLE_USER, "default"}
    for surplus in sorted(found - wanted.keys()):
        command(service, "ACL", "DELUSER", surplus)
    for name in sorted(wanted):
        _set_user(service, name, wanted[name])


def _set_user(service: redis.Redis, name: str, rules: Rules) -> None:
    command(service, "ACL", "SETUSER", name, *rules)
