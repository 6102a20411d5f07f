"""`nasadvisor runs` and `nasadvisor show`: what was done on this host."""

import json
from dataclasses import replace

import click

from nasadvisor.cli.errors import ExitCode, json_option
from nasadvisor.cli.services import services_for
from nasadvisor.cli.tables import command_line, heading, minute_of, paragraph, table
from nasadvisor.domain.change.runs import CommandRan, Run, RunState, Step
from nasadvisor.domain.change.trial import AFTER_START_S
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.host.change.runs import list_runs, show_run
from nasadvisor.stored.documents import to_document


@click.command()
@click.option("--in-place", is_flag=True, help="Only those that have left something here, by their records.")
@json_option
@click.pass_context
def runs(ctx: click.Context, in_place: bool, as_json: bool) -> None:
    """List the runs on this host, newest first. Exit code 5 if the journal of one cannot be read."""
    services = services_for(ctx)
    found = list_runs(services.run_host(), services.inventory)
    if in_place:
        found = replace(found, runs=tuple(run for run in found.runs if run.is_in_place))
    if as_json:
        click.echo(json.dumps([to_document(run) for run in (*found.runs, *found.unreadable)], ensure_ascii=False))
    elif found.runs or found.unreadable:
        rows = (*map(_row, found.runs), *map(_unreadable_row, found.unreadable))
        table(("RUN", "STARTED (UTC)", "POOL", "STATE", "BY"), rows)
    else:
        click.echo("No run has left anything on this host." if in_place else "No changes on this host yet.")
    for run in found.unreadable:
        click.echo(f"{run.id}: {run.said}", err=True)
    if found.unreadable:
        ctx.exit(ExitCode.ATTENTION)


@click.command()
@click.argument("run_id", metavar="RUN")
@json_option
@click.pass_context
def show(ctx: click.Context, run_id: str, as_json: bool) -> None:
    """Show one run with its steps, commands and answers."""
    run = show_run(services_for(ctx).run_host(), run_id)
    if as_json:
        click.echo(json.dumps(to_document(run), ensure_ascii=False))
        return
    click.echo(f"Run {run.id} on pool {run.plan.pool_name} of {run.node}: {run.state}")
    click.echo(f"Started {run.started_at} by {run.by}" + (f", ended {run.ended_at}" if run.ended_at else ""))
    if trial := said_of_trial(run):
        paragraph(trial, "")
    heading("Steps")
    _print_steps(run.steps)
    if run.undo_steps:
        heading("Steps back")
        _print_steps(run.undo_steps)
    _print_statements(run)
    _print_next(run)


def said_of_trial(run: Run) -> str:
    """What becomes of a run on trial, or became of it; "" for one that is not tried."""
    if run.trial is None:
        return ""
    if run.trial.kept_at:
        return f"On trial it was kept by {run.trial.kept_by} at {minute_of(run.trial.kept_at)} UTC."
    if run.is_on_trial:
        return (
            f"On trial until {minute_of(run.trial.until)} UTC: then the service nasadvisor-host takes it back; if the "
            f"host is off then, {AFTER_START_S // MINUTE_S} minutes after its next start, or later where no time "
            f"source proves how long it was off. To keep it: "
            f"nasadvisor keep {run.id}"
        )
    if run.state is RunState.APPLIED:
        return (
            f"Its trial ended at {minute_of(run.trial.ended_at)} UTC, but it could not be taken back and nothing was "
            f"changed. It is not tried again by itself: undo it, or keep it with: nasadvisor keep {run.id}"
        )
    if run.trial.ended_at:
        return f"Its trial ended at {minute_of(run.trial.ended_at)} UTC, and it was taken back by itself from then on."
    if run.state is RunState.INTERRUPTED and not run.trial.until:
        return "Its trial begins when it is finished. Until then nothing happens by itself."
    return ""


def _row(run: Run) -> tuple[str, ...]:
    state = f"{run.state}, on trial until {minute_of(run.trial.until)}" if run.trial and run.is_on_trial else run.state
    return (run.id, run.started_at[:19].replace("T", " "), run.plan.pool_name, state, run.by)


def _unreadable_row(run: UnreadableRun) -> tuple[str, ...]:
    return (run.id, minute_of(run.started_at) or "?", run.pool_name or "?", run.state, run.by or "?")


def _print_steps(steps: tuple[Step, ...]) -> None:
    for step in steps:
        paragraph(f"{step.what}: {step.state}", f"{step.number + 1:>3}. ")
        if step.note:
            paragraph(str(step.note), "     ")
        for ran in step.ran:
            _print_command(ran)


def _print_command(ran: CommandRan) -> None:
    click.echo(f"     $ {command_line(ran.argv)}  (exit code {ran.code}, {ran.seconds:.1f} s)")
    for line in (*ran.stdout.splitlines(), *ran.stderr.splitlines()):
        click.echo(f"       {line}")


def _print_statements(run: Run) -> None:
    statements = (*run.refusals, *run.findings)
    if statements:
        click.echo()
    for statement in statements:
        paragraph(str(statement), "")


def _print_next(run: Run) -> None:
    if run.can_finish or run.can_undo:
        click.echo()
    if run.can_finish:
        click.echo(f"To do the rest: nasadvisor finish {run.id}")
    if run.can_undo:
        click.echo(f"To take it back: nasadvisor undo {run.id}")
