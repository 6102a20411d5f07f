"""How a device of a pool is replaced: which disk, whether it may go now, and what to type; nothing is run."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.health.alerts.survey import survey
from nasadvisor.domain.health.replacement.advice import errors_during, progress_of, replacement_of
from nasadvisor.domain.health.replacement.evidence import troubled
from nasadvisor.domain.health.replacement.member import member_with
from plugins.replacing import ways_to_replace


def replace(request: HttpRequest, guid: str) -> HttpResponse:
    """Everything about one device of the host that is shown.

    Raises:
        Http404: no imported pool has one with this guid.
    """
    node = current_node(request)
    seen = survey(node) if node else None
    member = member_with(guid, seen.members) if seen else None
    if node is None or seen is None or member is None:
        raise Http404
    found = replacement_of(member, seen)
    ways = ways_to_replace([each.name for each in node.platform.platforms], found)
    context = {
        "node": node,
        "found": found,
        "member": member,
        "ways": ways,
        "commands": () if any(way.is_only for way in ways) else found.commands,
        "progress": progress_of(member.pool, timezone.now()),
        "errors": list(errors_during(member)) if member.pool.scan == "resilver" else [],
        "others": [each for each in troubled(seen) if each.leaf.guid != guid],
        "section": "disks",
    }
    return render(request, "health/disks/replace.html", context)
