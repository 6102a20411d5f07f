"""What needs a look on the overview: findings about the host, its contact with us, and its runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.frame import Contact
from nasadvisor.console.models import Node, StoredRun, StoredRunState
from nasadvisor.domain.findings import findings_of
from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.statements import Finding, Level, gettext_noop

_ORDER = {Level.CRITICAL: 0, Level.WARNING: 1, Level.INFO: 2}


@dataclass(frozen=True)
class Notice:
    """A finding and where to go about it, where that is not the finding's own next step."""

    finding: Finding
    url: str = ""
    link: str | Promise = ""


def notices_for(node: Node, inventory: Inventory | None, contact: Contact) -> tuple[Notice, ...]:
    """Everything that needs a look, the most important first."""
    notices = [*about_contact(node, contact), *about_runs(node)]
    if inventory:
        notices.extend(Notice(finding) for finding in findings_of(inventory))
    return tuple(sorted(notices, key=lambda notice: _ORDER[notice.finding.level]))


def about_contact(node: Node, contact: Contact) -> Iterator[Notice]:
    """How a host stands with us, where that is not well."""
    if contact is Contact.SILENT:
        template = gettext_noop(
            "{node} has not been heard from for a while, so what you see here may be out of date. Look at its host "
            "part with `systemctl status nasadvisor-host`."
        )
        yield Notice(Finding("host-silent", template, {"node": node.name}, Level.CRITICAL))
    if contact is Contact.OUTDATED:
        template = gettext_noop(
            "{node} answers, but its last reading is old, so what you see here may be out of date. Check that its "
            "clock is right (`timedatectl`), and look at its host part with `journalctl -u nasadvisor-host`."
        )
        yield Notice(Finding("inventory-outdated", template, {"node": node.name}, Level.WARNING))
    if contact is Contact.FAILED and node.inventory_error:
        failed = Finding(
            "inventory-failed",
            gettext_noop("{node} could not read itself: {reason}"),
            {"node": node.name, "reason": node.inventory_error},
            Level.WARNING,
        )
        yield Notice(failed)


def about_runs(node: Node) -> Iterator[Notice]:
    """Runs that wait for somebody."""
    stuck = StoredRun.objects.filter(node=node, state__in=[StoredRunState.INTERRUPTED, StoredRunState.ATTENTION])
    for run in stuck.defer("document"):
        values = {"pool": run.pool_name}
        if run.state == StoredRunState.INTERRUPTED:
            template = gettext_noop(
                "A run on pool {pool} was interrupted. Nothing goes on by itself: finish it or undo it."
            )
            finding = Finding("run-interrupted", template, values, Level.WARNING, subject=str(run.pk))
        else:
            template = gettext_noop("A run on pool {pool} needs attention: it could neither go on nor back.")
            finding = Finding("run-attention", template, values, Level.CRITICAL, subject=str(run.pk))
        yield Notice(finding, reverse("run-detail", args=[run.pk]), _("Look at the run"))
