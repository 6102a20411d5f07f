"""What is worth doing in the first hour: a short list on Home, each line read off what is really there."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Final

from django.db.models import F, Max
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from nasadvisor.console.accounts import platforms
from nasadvisor.console.evidence.verdict_badges import series_on, verdict_badges_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, FirstHour, is_somebody_told
from nasadvisor.console.health.models import DiskOutcome, StoredDisk
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.health.limits import SCRUB_DAYS
from nasadvisor.domain.storage.inventory import Inventory, Pool

TESTED_WITHIN: Final = timedelta(days=40)
"""A monthly self-test, some days late."""

HOUR: Final = timedelta(hours=1)

ANY_SCRUB_ADVICE: Final = gettext_lazy(
    "OpenZFS includes a timer for this: `systemctl enable --now zfs-scrub-monthly@{pool}.timer`. Debian and Ubuntu "
    "scrub on the second Sunday of each month if /etc/cron.d/zfsutils-linux exists."
)


class ChecklistState(StrEnum):
    """How far a step is: what can only be waited for is not open."""

    DONE = "done"
    WAITING = "waiting"
    OPEN = "open"


@dataclass(frozen=True)
class ChecklistItem:
    """A line of the list: what, how it stands, what to do, and on which page that is done (`of` a pool), "" if none."""

    title: str
    state: ChecklistState
    words: str
    advice: str = ""
    page: str = ""
    of: str = ""
    link: str = ""
    is_for_admins: bool = False

    @property
    def url(self) -> str:
        """Looked up only where it is shown: an address loads every page, and the worker has use for none."""
        return reverse(self.page, args=[self.of] if self.of else None) if self.page else ""


def is_closed() -> bool:
    """Whether the list was put away on this installation."""
    return FirstHour.objects.exists()


def close_if_done(now: datetime) -> None:
    """Put the list away once all of it is done on every host, so that it does not come back later."""
    nodes = list(Node.objects.defer("inventory_document"))
    if nodes and not is_closed() and all(is_done(first_steps(node, now)) for node in nodes):
        FirstHour.close(now, "")


def is_done(steps: tuple[ChecklistItem, ...]) -> bool:
    """Whether nothing is left to do."""
    return bool(steps) and all(step.state is ChecklistState.DONE for step in steps)


def first_steps(node: Node, now: datetime) -> tuple[ChecklistItem, ...]:
    """The list for one host; nothing before it was read."""
    inventory = node.inventory
    if inventory is None:
        return ()
    if not inventory.pools:
        return (_telling(), _testing(node))
    return (_watching(node, inventory, now), _telling(), _scrubbing(node, inventory), _testing(node))


def _watching(node: Node, inventory: Inventory, now: datetime) -> ChecklistItem:
    series = series_on(node)
    of_pools = ((pool, verdict_badges_of(series.get(pool.guid), now)) for pool in inventory.pools)
    missing = {pool: badge for pool, badges in of_pools for badge in badges if badge.is_waiting}
    first = next(iter(missing), inventory.pools[0]).guid
    title, link = _("Collecting evidence"), _("Evidence")
    if not missing:
        return ChecklistItem(
            title, ChecklistState.DONE, _("Results are available for every pool."), "", "evidence-pool", first, link
        )
    words = (f"{pool.name}: {badge.look.word}" for pool, badge in islice(missing.items(), 3))
    return ChecklistItem(title, ChecklistState.WAITING, "; ".join(words), "", "evidence-pool", first, link)


def _telling() -> ChecklistItem:
    title = _("Set up notifications")
    if is_somebody_told():
        was_sent = Channel.objects.filter(is_enabled=True, last_sent_at__isnull=False).exists()
        words = (
            _("A notification channel has accepted a message.")
            if was_sent
            else _("A notification channel was deliberately saved without a test.")
        )
        return ChecklistItem(title, ChecklistState.DONE, words)
    if Channel.objects.filter(is_enabled=True).exists():
        words = _("Alerts appear only in the web interface: no notification channel has accepted a message yet.")
        return ChecklistItem(
            title, ChecklistState.OPEN, words, "", "channels", link=_("Notifications"), is_for_admins=True
        )
    words = _("Alerts appear only in the web interface. Add a notification channel.")
    return ChecklistItem(
        title,
        ChecklistState.OPEN,
        words,
        _("E-mail, ntfy, Telegram and others. The form is short, and a test message is sent before it is saved."),
        "channel-add",
        link=_("Add a channel"),
        is_for_admins=True,
    )


def _scrubbing(node: Node, inventory: Inventory) -> ChecklistItem:
    title = _("Schedule a monthly scrub")
    late = [pool for pool in inventory.pools if not _is_scrubbed(pool, inventory.read_at)]
    if not late:
        return ChecklistItem(
            title,
            ChecklistState.DONE,
            _("Every pool was scrubbed in the last %(days)s days.") % {"days": SCRUB_DAYS},
        )
    words = _("No scrub recorded in the last %(days)s days: %(pools)s.") % {
        "pools": ", ".join(pool.name for pool in late),
        "days": SCRUB_DAYS,
    }
    return ChecklistItem(
        title, ChecklistState.OPEN, words, scrub_advice(node, late[0]), "pool", late[0].guid, _("View pool")
    )


def scrub_advice(node: Node, pool: Pool) -> str:
    """Who plans scrubs on a node's platform, and where to look: when the next one is cannot be seen from here."""
    advice = platforms.scrub_advice(node.platform)
    return said(advice) if advice else str(ANY_SCRUB_ADVICE).format(pool=pool.name)


def _is_scrubbed(pool: Pool, read_at: str) -> bool:
    last = pool.last_scan
    if last is None or last.kind.lower() != "scrub":
        return False
    age = datetime.fromisoformat(read_at) - datetime.fromisoformat(last.ended_at)
    return age <= timedelta(days=SCRUB_DAYS)


def _testing(node: Node) -> ChecklistItem:
    title = _("Schedule disk self-tests")
    present = StoredDisk.objects.filter(node=node, is_present=True, is_removable=False, is_forgotten=False)
    asked = present.filter(outcome=DiskOutcome.READ)
    count = asked.count()
    if not count:
        waits = _("No disk has reported its health yet. The first check takes a few minutes.")
        words = waits if present.exists() else _("No disks found on this host.")
        return ChecklistItem(title, ChecklistState.WAITING, words, page="disks", link=_("Disks"))
    hours = TESTED_WITHIN // HOUR
    tested = asked.filter(self_tests__passed=True).annotate(last=Max("self_tests__hours"))
    recent = tested.filter(power_on_hours__lte=F("last") + hours).count()
    words = ngettext(
        "%(recent)s of %(count)s disk passed a self-test in its last %(days)s days of operation.",
        "%(recent)s of %(count)s disks passed a self-test in their last %(days)s days of operation.",
        count,
    ) % {"recent": recent, "count": count, "days": TESTED_WITHIN.days}
    state = ChecklistState.DONE if recent == count else ChecklistState.OPEN
    advice = "" if recent == count else _("Enable a self-test schedule for all disks.")
    return ChecklistItem(title, state, words, advice, "schedules", link=_("Schedules"))
