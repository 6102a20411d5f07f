"""A plan for people to read before it is applied, and the same as a document."""

from collections import Counter
from collections.abc import Iterator

import click

from nasadvisor.cli.tables import command_line, heading, paragraph
from nasadvisor.domain.change.actions import Argv, Category, Role
from nasadvisor.domain.change.consequences import losses_of
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import cannot_be_undone, undo_preview
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import size_text
from nasadvisor.stored.documents import Json, to_document

LEADS = {Level.CRITICAL: "  Danger: ", Level.WARNING: "  Warning: ", Level.INFO: "  Note: "}


def plan_commands(plan: Plan) -> tuple[Argv, ...]:
    """Every command of a plan, in order."""
    return tuple(argv for action in plan.actions for argv in action.commands())


def preview_document(plan: Plan, inventory: Inventory, warnings: tuple[Finding, ...]) -> Json:
    """Everything that the preview says, and the plan itself."""
    after = plan.after(inventory).pool(plan.request.pool_guid)
    return {
        "plan": to_document(plan),
        "commands": [list(argv) for argv in plan_commands(plan)],
        "undo_commands": [list(argv) for argv in undo_preview(plan)],
        "warnings": [{"code": finding.code, "level": finding.level, "sentence": str(finding)} for finding in warnings],
        "if_a_device_dies": [
            {"device": loss.device, "path": loss.path, "sentences": [str(finding) for finding in loss.findings]}
            for loss in losses_of(plan, inventory)
        ],
        "cannot_be_undone": [str(finding) for finding in cannot_be_undone(plan)],
        "pool_after": to_document(after) if after else None,
    }


def print_preview(plan: Plan, inventory: Inventory, warnings: tuple[Finding, ...]) -> None:
    """Print a plan in five lines, then what to know before, and the commands."""
    click.secho(f"Plan {plan.id} for pool {plan.pool_name} on {inventory.host.node}", bold=True)
    for lead, text in _in_short(plan, inventory):
        paragraph(text, f"  {lead:8}")
    if warnings:
        heading("What to know before")
    for finding in warnings:
        paragraph(str(finding), LEADS[finding.level], finding.level)
    heading("Commands")
    _print_commands(plan_commands(plan))


def print_details(plan: Plan, inventory: Inventory) -> None:
    """Print each step in words, what happens if a device dies, and all of the undo."""
    heading("Steps")
    for number, action in enumerate(plan.actions, 1):
        paragraph(str(action.describe()), f"{number:>3}. ")
    heading("If a device dies")
    for loss in losses_of(plan, inventory):
        click.echo(f"  {loss.device}")
        for finding in loss.findings:
            paragraph(str(finding), "    ")
    heading("Commands of an undo")
    _print_commands(undo_preview(plan))
    heading("What an undo cannot restore")
    for finding in cannot_be_undone(plan):
        paragraph(str(finding), "  - ")


def _in_short(plan: Plan, inventory: Inventory) -> Iterator[tuple[str, str]]:
    """What is added, where, what is erased for it, and whether it can be undone."""
    for role, name in ((Role.LOG, "Log"), (Role.CACHE, "Cache")):
        pieces = [piece for piece in plan.slices if piece.role is role]
        if pieces:
            sizes = Counter(size_text(piece.size_bytes) for piece in pieces)
            words = " + ".join(f"{count} x {size}" if count > 1 else size for size, count in sizes.items())
            mirrored = " mirrored" if role is Role.LOG and len(pieces) > 1 else ""
            disks = (inventory.disk(key) for key in dict.fromkeys(piece.disk_key for piece in pieces))
            yield name, f"{words}{mirrored} on {', '.join(disk.label for disk in disks if disk)}"
    for action in plan.actions:
        if not plan.slices or action.category is Category.REMOVAL:
            yield "Does", str(action.describe())
    erased = [disk.label for step in plan.erasures if (disk := inventory.disk(step.disk_key))]
    shared = [disk.label for key in plan.request.disks if (disk := inventory.disk(key)) and disk.partitions]
    if erased:
        yield "Erases", f"unrecognised data on {', '.join(erased)}"
    elif plan.slices:
        yield (
            "Erases",
            f"nothing; the partitions of {', '.join(shared)} stay" if shared else "nothing; the SSDs are blank",
        )
    stays = len(cannot_be_undone(plan))
    rest = f" but {stays} thing{'s' * (stays > 1)}, which --verbose shows" if stays else ""
    yield "Undo", f"restores everything{rest}" if plan.has_way_back else "not possible"


def _print_commands(argvs: tuple[Argv, ...]) -> None:
    for argv in argvs:
        click.echo(f"  {command_line(argv)}")
