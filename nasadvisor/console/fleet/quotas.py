"""How much is stored of one host, so that none fills the database, the pages or the mailboxes of all.

Each figure is far above what a host in order tells: one with 1,000 disks, or ten years of work, reaches none of them.
What is beyond is left out, what was stored before stays, and the host has a finding until it has kept to it for a day.
"""

import json
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.stored.documents import Json

MOST_RUNS: Final = 2_000
"""Of one host. Runs that were asked for on a page count, and are stored beyond it."""

LARGEST_RUN: Final = 2**18
"""Bytes of JSON; a run over two SSDs has 17 KiB (tests/golden/run)."""

MOST_DISKS: Final = 5_000
"""Of one host, those that are gone included: the shelves of a large one twice over."""

MOST_POOLS: Final = 200
"""Of one host, those that are gone included."""

MOST_MESSAGES: Final = 500
"""About alerts of one host within a day, each to everybody who wants some. That an alert is over is always told."""

NOTED_AGAIN_AFTER: Final = timedelta(minutes=1)
"""A host that sends too much all the time is not written down every time."""

WITHIN: Final = timedelta(days=1)
"""In which alerts are counted, and for which it is told that a quota was reached."""


class Quota(StrEnum):
    """What there is only so much of for one host."""

    RUNS = "runs"
    RUN_SIZE = "run-size"
    DISKS = "disks"
    POOLS = "pools"
    ALERTS = "alerts"
    CLOCK = "clock"
    QUEUE = "queue"
    MESSAGE_SIZE = "message-size"


class QuotaReached(ValueError):  # noqa: N818 - named for what happened
    """It was not stored."""

    def __init__(self, node_name: str, quota: Quota) -> None:
        super().__init__(f"{node_name} has reached its quota of {quota}. This was not stored.")


def note(node_name: str, quota: Quota) -> None:
    """Write down that a host has reached a quota, for the finding that says so."""
    now = timezone.now()
    node = Node.objects.only("quotas_reached").filter(name=node_name).first()
    if node is None or _reached_at(node, quota) > now - NOTED_AGAIN_AFTER:
        return
    reached = {**node.quotas_reached, quota.value: now.isoformat()}
    Node.objects.filter(pk=node.pk).update(quotas_reached=reached)


def refuse(node_name: str, quota: Quota) -> None:
    """Store nothing of this.

    Raises:
        QuotaReached: always.
    """
    note(node_name, quota)
    raise QuotaReached(node_name, quota)


def reached_by(node: Node, now: datetime) -> tuple[Quota, ...]:
    """The quotas that a host has reached lately."""
    if not node.quotas_reached:
        return ()
    return tuple(quota for quota in Quota if _reached_at(node, quota) > now - WITHIN)


def size_of(document: Json) -> int:
    """Bytes of JSON."""
    return len(json.dumps(document, separators=(",", ":")))


def _reached_at(node: Node, quota: Quota) -> datetime:
    said = node.quotas_reached.get(quota.value)
    return datetime.fromisoformat(said) if said else datetime.min.replace(tzinfo=timezone.get_default_timezone())
