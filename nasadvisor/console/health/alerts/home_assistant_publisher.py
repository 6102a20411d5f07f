"""Publishing for Home Assistant: what is stored now, as far as the broker does not have it yet."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import F
from django.utils import timezone, translation

from nasadvisor.console.evidence.verdict_badges import series_on
from nasadvisor.console.fleet.current_host import Contact, contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.deliver import FIRST_WAIT, LONGEST_WAIT, fault_of
from nasadvisor.console.health.alerts.home_assistant import (
    REPEAT_AFTER,
    DiskStatus,
    HostStatus,
    PoolStatus,
    digest_of,
    disk_device,
    empty_messages,
    host_device,
    messages_about,
    pool_device,
)
from nasadvisor.console.health.alerts.models import AlertStates, HomeAssistantSettings, StoredAlert, WatchSettings
from nasadvisor.console.health.alerts.mqtt import publish
from nasadvisor.console.health.alerts.open_issues import (
    IssueKind,
    OpenIssue,
    host_findings_about,
    issues_on,
    place_of,
    words_of,
)
from nasadvisor.console.health.alerts.senders import plain
from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Pool

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Now:
    """What there is to publish. `is_complete` is whether every host could be read: else nobody knows what has left."""

    messages: Mapping[str, str]
    is_complete: bool = True


def publish_changes(now: datetime) -> None:
    """Publish what changed, or all of it once `REPEAT_AFTER` has passed; a broker that is away is tried again later."""
    settings = HomeAssistantSettings.load()
    if settings.due_at > now or not (settings.published or (settings.host and settings.is_enabled)):
        return
    with translation.override(settings.language):
        fault = fault_of(partial(_publish, settings, now))
    kept = HomeAssistantSettings.objects.filter(pk=settings.pk, host=settings.host, port=settings.port)
    if fault is None:
        sent = {"all_sent_at": settings.all_sent_at, "last_sent_at": settings.last_sent_at}
        kept.update(last_error="", failures=0, published=settings.published, **sent)
        return
    log.warning("Home Assistant: %s", fault)
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(settings.failures, 10))
    kept.update(last_error=fault, failures=F("failures") + 1, due_at=now + wait)


def withdraw(settings: HomeAssistantSettings) -> None:
    """Take away all that a broker keeps of us.

    Raises:
        NotSent: it could not be reached or did not accept that.
        SecretUnreadable: its password cannot be decrypted.
    """
    if settings.published:
        publish(settings, empty_messages(settings.published))
        settings.published = {}


def _publish(settings: HomeAssistantSettings, now: datetime) -> None:
    if not settings.is_enabled:
        withdraw(settings)
        return
    found = messages_now(settings.prefix, now)
    digests = {topic: digest_of(payload) for topic, payload in found.messages.items()}
    gone = settings.published.keys() - digests.keys() if found.is_complete else set[str]()
    is_due = settings.all_sent_at is None or now - settings.all_sent_at >= REPEAT_AFTER
    changed = {
        topic: payload
        for topic, payload in found.messages.items()
        if is_due or settings.published.get(topic) != digests[topic]
    }
    if not changed and not gone:
        return
    publish(settings, empty_messages(gone) | changed)
    kept = {topic: digest for topic, digest in settings.published.items() if topic not in gone}
    settings.published = kept | digests
    settings.last_sent_at = now
    settings.all_sent_at = now if is_due else settings.all_sent_at


def messages_now(prefix: str, now: datetime) -> Now:
    """The payload of each topic, in the language that is on."""
    # A pool that moved is in the inventories of two hosts: the one that was read last has it.
    nodes = list(Node.objects.defer("inventory_document").order_by(F("inventory_read_at").asc(nulls_first=True), "pk"))
    console = WatchSettings.load().console_address
    issues: defaultdict[int, list[OpenIssue]] = defaultdict(list)
    for issue in issues_on(nodes, now):
        issues[issue.node.pk].append(issue)
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).values_list("node", flat=True)
    counts = Counter(opened)
    hosts = [_host(node, issues[node.pk], counts[node.pk], now) for node in nodes]
    pools = {pool.guid: pool for node in nodes for pool in _pools(node, issues[node.pk])}
    disks = [disk for node in nodes for disk in _disks(node, issues[node.pk])]
    devices = (
        *(host_device(host, console) for host in hosts),
        *(pool_device(pool, console) for pool in pools.values()),
        *(disk_device(disk, console) for disk in disks),
    )
    is_complete = all(node.inventory for node in nodes if node.inventory_version)
    return Now(messages_about(devices, hosts, prefix), is_complete)


def _host(node: Node, issues: Iterable[OpenIssue], open_alerts: int, now: datetime) -> HostStatus:
    """As on the first page: what somebody has acknowledged does not count, and notes are less than issues."""
    open_ones = [issue for issue in issues if not issue.is_known]
    level: Level | None = None
    headline = ""
    if open_ones:
        level, headline = open_ones[0].level, words_of(open_ones, place_of(open_ones[0], has_others=False))
    else:
        notes = [notice.finding for notice in host_findings_about(node, now) if notice.finding.level is Level.INFO]
        level, headline = (Level.INFO, plain(notes[0].template, notes[0])) if notes else (None, "")
    release = node.schema_versions.release if node.schema_versions else ""
    return HostStatus(node.name, contact_of(node, now) is Contact.FRESH, level, headline, open_alerts, release)


def _pools(node: Node, issues: Iterable[OpenIssue]) -> Iterator[PoolStatus]:
    inventory = node.inventory
    said = {issue.name: issue for issue in issues if issue.kind is IssueKind.POOL}
    series = series_on(node)
    for pool in inventory.pools if inventory else ():
        waiting = series[pool.guid].waiting if pool.guid in series else None
        yield PoolStatus(
            host=node.name,
            guid=pool.guid,
            name=pool.name,
            has_problem=pool.name in said,
            headline=_headline(said.get(pool.name)),
            used_percent=_used_percent(pool),
            waits_s=waiting.waits.total_s if waiting else None,
            is_scrubbed=pool.scan == "scrub",
        )


def _used_percent(pool: Pool) -> float | None:
    return None if pool.problem or not pool.size_bytes else 100 * pool.allocated_bytes / pool.size_bytes


def _disks(node: Node, issues: Iterable[OpenIssue]) -> Iterator[DiskStatus]:
    """All but those that were marked as removed, or plugged out where that is their way. One that is missing stays."""
    said = {issue.disk.pk: issue for issue in issues if issue.disk}
    disks = StoredDisk.objects.filter(node=node, is_forgotten=False).exclude(is_present=False, is_removable=True)
    for disk in disks.defer(*LARGE_FIELDS):
        is_ssd = not disk.is_rotational
        yield DiskStatus(
            host=node.name,
            key=disk.key,
            own_serial=disk.own_serial,
            label=disk.label,
            model=disk.model,
            serial=disk.serial,
            has_problem=disk.pk in said,
            headline=_headline(said.get(disk.pk)),
            temperature_c=disk.temperature_c,
            worn_percent=disk.percent_used if is_ssd else None,
            worn_out_on=timezone.localtime(disk.worn_out_at).date() if is_ssd and disk.worn_out_at else None,
        )


def _headline(issue: OpenIssue | None) -> str:
    return plain(issue.worst.finding.template, issue.worst.finding) if issue else ""
