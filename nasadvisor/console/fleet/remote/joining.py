"""Tokens for hosts that shall join, and what happens when one does."""

import logging
import re
import secrets
from datetime import datetime, timedelta
from typing import Final

import redis
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote.access import disinvite, invite, let_in, serve
from nasadvisor.console.fleet.remote.listening import authority, client, server_fingerprint
from nasadvisor.domain.fleet.joining import JoinAnswer, JoinRequest, Token, digest_of, request_key
from nasadvisor.stored.documents import DocumentError, from_json, to_json

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
        invite(service, digest)
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
