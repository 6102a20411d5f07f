"""What waits to be sent: claimed by one worker only, tried again later where it was not accepted, given up at last."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import F, QuerySet

from nasadvisor.console.health.alerts.models import DeliveryState, Outgoing

Sent = TypeVar("Sent", bound=Outgoing)

LEASE = timedelta(minutes=10)
"""A claim older than this was left behind by a process that died."""

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(minutes=15)
GIVE_UP_AFTER = timedelta(days=7)


def message_id(claimed: Sequence[Outgoing]) -> str:
    """The same for the same rows, so that a mail system knows a message that reaches it again."""
    digest = hashlib.sha256(",".join(str(pk) for pk in sorted(each.pk for each in claimed)).encode()).hexdigest()[:32]
    return f"<{digest}@nasadvisor>"


def take_back(rows: QuerySet[Any], now: datetime) -> None:
    """Free what a process that died had claimed."""
    stale = rows.filter(state=DeliveryState.SENDING, claimed_at__lt=now - LEASE)
    stale.update(state=DeliveryState.WAITING, due_at=now)


def give_up(rows: QuerySet[Any]) -> None:
    """Try these no more, as far as they still wait."""
    rows.filter(state=DeliveryState.WAITING).update(state=DeliveryState.GAVE_UP)


def claim(rows: QuerySet[Any], order: str, now: datetime, at_most: int) -> list[int]:
    """Take what is due, so that nobody else sends it: whoever changes a row from waiting has it. Their numbers."""
    due = rows.filter(state=DeliveryState.WAITING, due_at__lte=now)
    waiting = rows.model._default_manager.filter(state=DeliveryState.WAITING)  # noqa: SLF001 - Django's public name
    return [
        pk
        for pk in list(due.order_by(order).values_list("pk", flat=True)[:at_most])
        if waiting.filter(pk=pk).update(state=DeliveryState.SENDING, claimed_at=now, attempts=F("attempts") + 1)
    ]


def put_off(row: Outgoing, error: str, now: datetime) -> None:
    """It was not accepted: try again, ever more seldom."""
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(row.attempts - 1, 10))
    row.state, row.due_at, row.error, row.claimed_at = DeliveryState.WAITING, now + wait, error, None
    row.save(update_fields=["state", "due_at", "error", "claimed_at"])


def done(rows: QuerySet[Any], now: datetime) -> None:
    """It was accepted."""
    rows.update(state=DeliveryState.SENT, sent_at=now, error="", claimed_at=None)
