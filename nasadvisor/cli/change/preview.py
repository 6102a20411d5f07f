"""A plan for people to read before it is applied, and the same as a document."""

import click

from nasadvisor.cli.tables import command_line, heading, paragraph
from nasadvisor.domain.change.actions import Argv
from nasadvisor.domain.change.consequences import losses_of
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import cannot_be_undone, undo_preview
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory
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


def print_preview(plan: Plan, inventory: Inventory, warnings: tuple[Finding, ...], file_name: str) -> None:
    """Print what a plan does, how it is undone, and what to know before."""
    click.echo(f"Plan {plan.id} for pool {plan.pool_name} on {inventory.host.node}")
    heading("What it does")
    for number, action in enumerate(plan.actions, 1):
        paragraph(str(action.describe()), f"{number:>3}. ")
    heading("Commands")
    _print_commands(plan_commands(plan))
    heading("What to know before")
    for finding in warnings:
        paragraph(str(finding), LEADS[finding.level])
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
    heading("Nothing was changed.")
    if file_name:
        click.echo(f"To apply it: nasadvisor apply {file_name}")
    else:
        click.echo("To apply it, write the plan to a file with --output plan.json.")


def _print_commands(argvs: tuple[Argv, ...]) -> None:
    for argv in argvs:
        click.echo(f"  {command_line(argv)}")
