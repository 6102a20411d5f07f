"""Which hosts on other machines are let in, by tokens, and what they may do at the message service: rights of Redis
users (ACL), one user a node.

The truth is the database: `Node.access_digest` and `JoinToken`. The users are made from it whenever the message service
has started. What kombu needs of Redis was found out with a real one; `tests/remote` holds it to that.
"""

import logging
import re
import secrets
from datetime import datetime, timedelta
from typing import Final

import redis
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from redis.lock import Lock

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote.listening import CONSOLE_USER, authority, client, command, server_fingerprint
from nasadvisor.domain.fleet.joining import (
    JoinAnswer,
    JoinRequest,
    Token,
    answer_key,
    binding_of,
    console_queue,
    digest_of,
    guest_of,
    host_queue,
    permanent_binding_of,
    request_key,
    unacknowledged,
    user_of,
)
from nasadvisor.stored.documents import DocumentError, from_json, to_json

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


log = logging.getLogger(__name__)

VALID_FOR: Final = timedelta(hours=1)
ANSWER_KEPT: Final = timedelta(minutes=2)
_DIGEST: Final = re.compile("[0-9a-f]{64}")


def new_token(node_name: str, by: User, now: datetime) -> Token:
    """A fresh token for a host of this name; one made before for the same name stops working.

    Raises:
        NotListening
        redis.exceptions.RedisError: the message service for other hosts does not answer; no token was made.
    """
    token = Token(secrets.token_urlsafe(32), server_fingerprint())
    digest = digest_of(token.secret)
    with client() as service, transaction.atomic():
        for old in JoinToken.objects.filter(node_name=node_name):
            disinvite(service, old.digest)
            old.delete()
        JoinToken.objects.create(node_name=node_name, digest=digest, expires_at=now + VALID_FOR, created_by=by)
        _set_user(service, guest_of(digest), guest_rules(digest))
    return token


def drop_token(token: JoinToken) -> None:
    """A token that is good no more.

    Raises:
        NotListening
        redis.exceptions.RedisError: the message service for other hosts does not answer; the token is as it was.
    """
    with client() as service, transaction.atomic():
        token.delete()
        disinvite(service, token.digest)


def admit_waiting(service: redis.Redis, now: datetime) -> None:
    """Let in every host that asks with a token that is good, and forget tokens that are not."""
    for token in JoinToken.objects.filter(Q(expires_at__lte=now) | Q(used_at__lte=now - ANSWER_KEPT)):
        disinvite(service, token.digest)
        token.delete()
    for token in JoinToken.objects.filter(used_at=None):
        raw = service.rpop(request_key(token.digest))
        if isinstance(raw, bytes):
            _admit(service, token, raw, now)


def _admit(service: redis.Redis, token: JoinToken, raw: bytes, now: datetime) -> None:
    try:
        request = from_json(JoinRequest, raw.decode("utf-8", "replace"))
    except DocumentError as error:
        log.warning("a host that wants to join as %s: %s", token.node_name, error)
        return
    if not _DIGEST.fullmatch(request.password_digest):
        log.warning("a host that wants to join as %s has no password", token.node_name)
        return
    with transaction.atomic():
        if not JoinToken.objects.filter(pk=token.pk, used_at=None).update(used_at=now):
            return
        Node.objects.update_or_create(name=token.node_name, defaults={"access_digest": request.password_digest})
        let_in(service, token.node_name, request.password_digest)
    answer = JoinAnswer(token.node_name, authority())
    serve(service, token.digest, to_json(answer))
    audit.record_without_browser(Act.HOST_JOINED, f"{token.node_name} ({request.host_name[:100]})")
    log.warning("%r joined as %s", request.host_name[:253], token.node_name)
