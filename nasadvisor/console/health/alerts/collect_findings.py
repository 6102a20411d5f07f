"""What there is to watch: every finding of a node, with who can tell that it is over."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from nasadvisor.console.fleet.current_host import Contact, contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.host_findings import (
    about_contact,
    about_platform,
    about_quotas,
    about_room,
    about_runs,
    about_trials,
)
from nasadvisor.console.health.bytes_by_role import traffic_of
from nasadvisor.console.health.inventory import findings_on
from nasadvisor.console.health.models import LARGE_FIELDS, SAID_OF, DiskOutcome, NodeHealth, StoredDisk
from nasadvisor.console.health.sweeps import sweep_interval
from nasadvisor.domain.health.alerts import AlertKey, Observation
from nasadvisor.domain.health.disk_findings import Subject, unanswered
from nasadvisor.domain.statements import Finding, Level, Statement, gettext_noop
from nasadvisor.domain.storage.inventory import Inventory

CLAIMS_NAMED: Final = 8

SWEEP_GRACE = timedelta(minutes=30)
"""A sweep may take that long after its time, and the clock may be that late."""


@dataclass(frozen=True)
class ObservedFinding:
    """A finding of one node, and its observation."""

    node: Node
    finding: Finding
    observation: Observation


@dataclass(frozen=True)
class View:
    """All that was seen now, and the sources that looked. `unread` are the guids of pools that could not be read."""

    seen: tuple[ObservedFinding, ...]
    sources: frozenset[str]
    unread: frozenset[str] = frozenset()


def unwatchable(node: Node, error: Exception) -> View:
    """What there is to say of a node whose words nobody can work with; what is open about it stays as it is."""
    template = gettext_noop(
        "{node} sent data that could not be processed, so it is not being monitored. Other hosts are unaffected. "
        "Check `journalctl -u nasadvisor-host` there and `journalctl -u nasadvisor-console` here. ({problem})"
    )
    explanation = gettext_noop("Until this is fixed, you would not be notified of a failed disk or pool on {node}.")
    values: dict[str, str | Statement] = {"node": node.name, "problem": f"{type(error).__name__}: {error!s:.200}"}
    finding = Finding("node-unwatchable", template, values, Level.CRITICAL, explanation, subject=node.name)
    source = _watching(node)
    return View((_seen(node, source, finding),), frozenset({source}))


def disk_findings(node: Node) -> Iterator[Finding]:
    """What the sweeps and inventories say about the disks of a node."""
    for disk in StoredDisk.objects.filter(node=node, is_forgotten=False).only(*SAID_OF):
        yield from findings_about(disk)


def findings_about(disk: StoredDisk) -> Iterator[Finding]:
    """What the sweeps and inventories say about one disk."""
    if not disk.is_present:
        if not disk.is_removable:
            yield Finding(
                "disk-gone",
                gettext_noop(
                    "The disk {disk} is missing. If you removed it, mark it as removed on its page; otherwise check "
                    "its cable and slot."
                ),
                {"disk": disk.label},
                Level.WARNING,
                gettext_noop("{disk} is no longer detected."),
                subject=str(disk.pk),
            )
        return
    if disk.outcome == DiskOutcome.FAILED:
        yield unanswered(Subject(disk.label, disk.key, str(disk.pk), disk.role), disk.problem)
    yield from disk.findings


def claims(node: Node, inventory: Inventory) -> Iterator[Finding]:
    """Disks that another host still shows: they stay with that one, with their history (`inventory.note_disks`)."""
    keys = [disk.key for disk in inventory.disks]
    elsewhere = StoredDisk.objects.filter(key__in=keys, is_present=True).exclude(node=node)
    labels: dict[str, list[str]] = {}
    for other, disk in ((each.node.name, each) for each in elsewhere.select_related("node").defer(*LARGE_FIELDS)):
        labels.setdefault(other, []).append(disk.label)
    for other, found in sorted(labels.items()):
        yield Finding(
            "disks-claimed",
            gettext_noop(
                "{node} and {other} both report these disks ({disks}). They remain assigned to {other}; "
                "reports from {node} are ignored."
            ),
            {"node": node.name, "other": other, "disks": ", ".join(sorted(found)[:CLAIMS_NAMED])},
            Level.WARNING,
            gettext_noop(
                "If both hosts share a disk shelf, acknowledge this. Otherwise two disks have the same serial number "
                "and those of {node} are not monitored, or one of the hosts reports wrong data."
            ),
            subject=other,
        )


def sweep_findings(node: Node, now: datetime) -> Iterator[Finding]:
    """Whether the sweeps of a node happen as they should."""
    health = NodeHealth.objects.filter(node=node).first()
    interval = sweep_interval()
    if health is None or interval is None or node.is_simulated:
        return
    if health.error:
        template = gettext_noop("The disk health check on {node} failed: {reason}")
        yield Finding(
            "sweep-failed",
            template,
            {"node": node.name, "reason": health.error},
            Level.WARNING,
            subject=node.name,
            explanation=gettext_noop("Until this works again, a worn or failing disk would go unnoticed."),
        )
    began = health.sweep_ended_at or health.known_since
    if now - began > interval + SWEEP_GRACE:
        yield Finding(
            "sweep-missed",
            gettext_noop(
                "No disk health check has completed on {node} for {hours} h. Check `systemctl status nasadvisor-host` "
                "there."
            ),
            {"node": node.name, "hours": str(int((now - began).total_seconds()) // 3600)},
            Level.WARNING,
            gettext_noop("Without health checks, a failing disk would go unnoticed."),
            subject=node.name,
        )


def view(node: Node, now: datetime) -> View:
    """Look at one node."""
    contact = contact_of(node, now)
    own, disks, pools = f"console/{node.name}", f"disks/{node.name}", f"inventory/{node.name}"
    told = (*about_contact(node, contact), *about_runs(node), *about_trials(node, now), *about_platform(node))
    found = [(own, notice.finding) for notice in (*told, *about_room(node), *about_quotas(node, now))]
    found += [(own, finding) for finding in sweep_findings(node, now)]
    found += [(disks, finding) for finding in disk_findings(node)]
    sources = {own, disks, _watching(node)}
    inventory = node.inventory if contact is Contact.FRESH else None
    if inventory:
        sources.add(pools)
        found += [(pools, finding) for finding in (*findings_on(node, inventory), *claims(node, inventory))]
        for pool in inventory.pools:
            traffic = traffic_of(node, pool, now)
            if traffic is not None:
                sources.add(f"samples/{node.name}/{pool.guid}")
                found += [(f"samples/{node.name}/{pool.guid}", finding) for finding in traffic]
    seen = tuple(_seen(node, source, finding) for source, finding in found if finding.level is not Level.INFO)
    unread = frozenset(pool.guid for pool in inventory.pools if pool.problem) if inventory else frozenset[str]()
    return View(seen, frozenset(sources), unread)


def _watching(node: Node) -> str:
    return f"watch/{node.name}"


def _seen(node: Node, source: str, finding: Finding) -> ObservedFinding:
    key = AlertKey(source, finding.code, finding.subject)
    return ObservedFinding(node, finding, Observation(key, finding.level, finding.measure))
