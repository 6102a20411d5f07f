"""What to do step by step, with the values of the finding from which somebody comes."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import disk_findings
from nasadvisor.console.health.alerts.open_issues import host_findings_about
from nasadvisor.console.health.alerts.survey import survey
from nasadvisor.domain.health.pool_findings import member_finding, name_of
from nasadvisor.domain.health.replacement.evidence import troubled
from nasadvisor.domain.health.replacement.member import Member
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory, Vdev
from nasadvisor.explain.procedures import PROCEDURES, ProcedureStep, command_for, filled
from nasadvisor.explain.procedures.which_disk import WHICH_DISK


@dataclass(frozen=True)
class ShownStep:
    """A step in the reader's language, with all values that are known."""

    do: str
    stake: str
    commands: tuple[str, ...]
    done: str
    otherwise: str


def procedure(request: HttpRequest, name: str) -> HttpResponse:
    """One procedure: for a code the steps of that code, with the values of the finding `about` of the chosen host.

    Raises:
        Http404: there is none of that name.
    """
    found = PROCEDURES.get(name)
    if found is None:
        raise Http404
    code = request.GET.get("code", "")
    code = code if code in found.codes else ""
    node = current_node(request)
    finding = _finding(node, code, request.GET.get("about", "")) if node and code else None
    values = _values(finding, node.inventory if node else None) if finding else {}
    context = {
        "procedure": found,
        "code": code,
        "finding": finding,
        "lead": filled(_(found.lead), values),
        "steps": [_shown(step, values) for step in found.steps_for(code)],
        "members": _members(finding, node) if node and finding and found is WHICH_DISK else [],
        "has_more": len(found.steps_for(code)) < len(found.steps),
    }
    return render(request, "health/alerts/procedure.html", context)


def _members(finding: Finding, node: Node) -> list[Member]:
    """The devices that a finding can be about: those against which something speaks, of its pool or on its disk."""
    seen = survey(node)
    about = {finding.place, finding.subject}
    return [
        each
        for each in (troubled(seen) if seen else ())
        if about & {each.pool.guid, each.leaf.guid, each.disk.key if each.disk else ""}
    ]


def _shown(step: ProcedureStep, values: dict[str, str]) -> ShownStep:
    do, stake, done, otherwise = (
        filled(_(text), values) if text else "" for text in (step.do, step.stake, step.done, step.otherwise)
    )
    return ShownStep(do, stake, tuple(command_for(each, values) for each in step.commands), done, otherwise)


def _finding(node: Node, code: str, subject: str) -> Finding | None:
    """What is said on this host now with this code about this; nothing is taken from the address but the choice."""
    return next((each for each in _findings_on(node) if (each.code, each.subject) == (code, subject)), None)


def _findings_on(node: Node) -> Iterator[Finding]:
    yield from (each.finding for each in host_findings_about(node, timezone.now()))
    yield from disk_findings(node)
    inventory = node.inventory
    for pool in inventory.pools if inventory else ():
        for kind, tops in pool.by_class().items():
            for leaf in (leaf for top in tops for leaf in top.leaves()):
                said = member_finding(pool, kind, leaf, name_of(leaf, inventory)) if inventory else None
                if said:
                    yield said


def _values(finding: Finding, inventory: Inventory | None) -> dict[str, str]:
    """The values of its sentence, the run that it is about, and the name of its disk."""
    values = {name: str(value) for name, value in finding.values.items()}
    values.setdefault("guids", values.get("guid", ""))
    values.setdefault("run", finding.subject if finding.code.startswith("run-") else "")
    values.setdefault("path", _path(finding, inventory) if inventory else "")
    return values


def _path(finding: Finding, inventory: Inventory) -> str:
    """The persistent name of the disk that a finding is about; "" where it is about none, or one that is not there."""
    disk = inventory.disk(finding.place)
    leaves: Iterator[Vdev] = (vdev for pool in inventory.pools for vdev in pool.vdevs() if vdev.guid == finding.subject)
    place = next((place for leaf in leaves if (place := inventory.place_of(leaf))), None)
    disk = disk or (place[0] if place else None)
    return disk.path if disk else ""
