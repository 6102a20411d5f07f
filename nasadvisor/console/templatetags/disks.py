"""Statements and commands with disks by model and serial, and how the disks of a pool are: {% load disks %}."""

import shlex
from collections.abc import Iterable

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from nasadvisor.console.change.names import named, named_text
from nasadvisor.console.change.wizard.preview import PlannedStep
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import DiskBadge, badges_in_pool
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory, Pool

register = template.Library()


@register.simple_tag(takes_context=True)
def said(context: Context, statement: Statement) -> SafeString:
    """A statement with the names that the page knows: {% said step.what %}."""
    return named(statement, context.get("names") or {})


@register.simple_tag(takes_context=True)
def captioned(context: Context, steps: Iterable[PlannedStep]) -> str:
    """Commands as one would type them, above those of each step what it does, as a comment of the shell."""
    names = context.get("names") or {}
    lines = (
        line
        for step in steps
        if step.commands
        for line in (f"# {named_text(step.action.describe(), names)}", *map(shlex.join, step.commands))
    )
    return "\n".join(lines)


@register.simple_tag
def unwell_disks(node: Node, inventory: Inventory, pool: Pool) -> list[DiskBadge]:
    """The badges of the disks of a pool, the worst first: {% unwell_disks node inventory pool as unwell %}."""
    return badges_in_pool(node, inventory, pool)
