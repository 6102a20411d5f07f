"""How disks are, for pages of rooms that know nothing of health: {% load health_marks %}."""

from django import template
from django.template import Context
from django.urls import reverse

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.marks import Mark, Marks, mark_of, marks_on
from nasadvisor.console.health.models import StoredDisk

register = template.Library()


@register.simple_tag(takes_context=True)
def disk_marks(context: Context) -> Marks:
    """The marks of the node that the page shows: {% disk_marks as marks %}."""
    node = context.get("node")
    return marks_on(node) if isinstance(node, Node) else Marks({}, frozenset())


@register.filter
def disk_mark(disk: StoredDisk) -> Mark | None:
    """The mark of a disk whose record is at hand: {% with mark=disk|disk_mark %}."""
    return mark_of(disk)


@register.simple_tag(takes_context=True)
def drive_address(context: Context, disk_key: str) -> str:
    """The page about the health and wear of a disk of the node that the page shows; "" before it was noted."""
    node = context.get("node")
    found = StoredDisk.objects.filter(node=node, key=disk_key).values_list("pk", flat=True).first()
    return reverse("drive", args=[found]) if found else ""
