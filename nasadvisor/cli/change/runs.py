"""`nasadvisor apply`, `undo`, `finish`, `keep` change the host, or what becomes of it; `runs` and `show` tell of it."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from nasadvisor.cli.change.preview import plan_commands
from nasadvisor.cli.errors import Attention, ExitCode, Misuse, Refusal, json_option
from nasadvisor.cli.options import TrialLength
from nasadvisor.cli.services import Services, services_for, who
from nasadvisor.cli.tables import columns_option, command_line, heading, minute_of, paragraph, table
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState, Step, StepState
from nasadvisor.domain.change.trial import AFTER_START_S
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.figures import duration
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.host.change.journal import JournalUnwritable
from nasadvisor.host.change.runs import apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.change.trials import keep_run
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.switching import end_before_undo
from nasadvisor.stored.documents import DocumentError, from_json, to_document

TITLES: Final = {
    RunState.UNDOING: "Taking it back:",
    RunState.PUTTING_BACK: "A step failed. Reverting the completed steps:",
}


@dataclass
class Progress:
    """An observer of a run: prints each step once as it starts, and once as it ends.

    `report` is told the run's id as soon as there is something to see, and at the end.
    """

    report: Callable[[str], None]
    said: set[str] = field(default_factory=set)

    def __call__(self, run: Run) -> None:
        """See `Observer`. A terminal that is gone does not stop a run."""
        if not self.said or not run.is_active:
            self.report(run.id)
        with suppress(OSError):
            self._once("begin", f"Run {run.id}")
            for step in run.steps:
                self._tell_step("do", step, len(run.steps))
            if run.state in TITLES:
                self._once(TITLES[run.state], TITLES[run.state])
            for step in run.undo_steps:
                self._tell_step("undo", step, len(run.undo_steps))

    def _tell_step(self, list_name: str, step: Step, count: int) -> None:
        key = f"{list_name} {step.number}"
        if step.state is not StepState.PENDING:
            self._once(key, f"{step.number + 1:>3}/{count}  {step.what}")
        if step.state is StepState.DONE:
            self._once(f"{key} end", f"        {step.note or 'done'}{_duration(step)}")
        if step.state is StepState.SKIPPED:
            self._once(f"{key} end", f"        skipped: {step.note}")
        if step.state is StepState.FAILED:
            self._once(f"{key} end", f"        failed: {step.note}")

    def _once(self, key: str, line: str) -> None:
        if key not in self.said:
            self.said.add(key)
            click.echo(line, err=True)


def _duration(step: Step) -> str:
    if not step.started_at or not step.ended_at:
        return ""
    seconds = (datetime.fromisoformat(step.ended_at) - datetime.fromisoformat(step.started_at)).total_seconds()
    return f" ({seconds:.1f} s)"


AFTER_APPLY: Final = {
    RunState.APPLIED: (ExitCode.DONE, "Applied. To undo it: nasadvisor undo {id}"),
    RunState.REFUSED: (ExitCode.REFUSED, "Refused. Nothing was changed."),
    RunState.PUT_BACK: (ExitCode.PUT_BACK, "A step failed. The completed steps were reverted."),
}
AFTER_UNDO: Final = {
    RunState.UNDONE: (ExitCode.DONE, "Undone."),
    RunState.APPLIED: (ExitCode.REFUSED, "The undo was refused. Nothing was changed."),
}
AFTER_KEEP: Final = {
    RunState.APPLIED: (ExitCode.DONE, "Kept. It stays until you undo it: nasadvisor undo {id}"),
}
UNCLEAR: Final = (ExitCode.ATTENTION, "This needs attention. Details: nasadvisor show {id}")

yes_option = click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
run_argument = click.argument("run_id", metavar="RUN")


@click.command()
@click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@yes_option
@click.option("--erase-unrecognised", is_flag=True, help="Agree to erase unrecognised data that the plan names.")
@click.option(
    "--trial",
    "trial_s",
    type=TrialLength(),
    default=0,
    metavar="TIME",
    help="Revert automatically after this time (e.g. 24h, 3d) unless kept.",
)
@json_option
@click.pass_context
def apply(
    ctx: click.Context, plan_file: Path, yes: bool, erase_unrecognised: bool, trial_s: int, as_json: bool
) -> None:
    """Apply a plan file. Each step is checked again, journalled, run and verified."""
    plan = read_plan(plan_file)
    services = services_for(ctx)
    erasures = tuple(
        f"{step.disk_path} holds data that no tool here recognises, first at byte {step.unrecognised_at}."
        for step in plan.erasures
        if not erase_unrecognised
    )
    if erasures and yes:
        raise Refusal("\n".join((*erasures, "Nothing was changed. If they are not needed, add --erase-unrecognised.")))
    for told in erasures:
        ask_first("Erase them?", told)
    if not yes:
        click.echo(f"This runs on pool {plan.pool_name}:", err=True)
        for argv in plan_commands(plan):
            click.echo(f"  {command_line(argv)}", err=True)
        back = f" and revert it after {duration(trial_s)} unless it is kept" if trial_s else ""
        stays = cannot_be_undone(plan) if trial_s else ()
        ask_first(f"Apply it to pool {plan.pool_name}{back}?", *map(str, stays))
    with _uninterrupted(), _attention_if_begun(services, plan.id):
        run = apply_plan(services.run_host(), plan, who(), Progress(services.report), trial_s)
    _end(run, AFTER_APPLY, as_json)


@click.command()
@run_argument
@yes_option
@json_option
@click.pass_context
def undo(ctx: click.Context, run_id: str, yes: bool, as_json: bool) -> None:
    """Undo a run: remove what it added, delete its slices, restore the partition tables."""
    services = services_for(ctx)
    if not yes:
        run = show_run(services.run_host(), run_id)
        ask_first(f"Undo run {run.id} on pool {run.plan.pool_name}?")
    with _uninterrupted(), _attention_if_begun(services, run_id):
        end_before_undo(services.switch_host(), run_id, Progress(services.report))
        run = undo_run(services.run_host(), run_id, who(), Progress(services.report))
    _end(run, AFTER_UNDO, as_json)


@click.command()
@run_argument
@yes_option
@json_option
@click.pass_context
def finish(ctx: click.Context, run_id: str, yes: bool, as_json: bool) -> None:
    """Finish a run that a crash interrupted."""
    services = services_for(ctx)
    if not yes:
        run = show_run(services.run_host(), run_id)
        ask_first(f"Finish run {run.id} on pool {run.plan.pool_name}?")
    with _uninterrupted(), _attention_if_begun(services, run_id):
        run = finish_run(services.run_host(), run_id, who(), Progress(services.report))
    _end(run, AFTER_APPLY, as_json)


@click.command()
@run_argument
@json_option
@click.pass_context
def keep(ctx: click.Context, run_id: str, as_json: bool) -> None:
    """Keep a trial permanently. `undo` still works at any time."""
    services = services_for(ctx)
    run = keep_run(services.run_host(), run_id, who())
    services.report(run.id)
    _end(run, AFTER_KEEP, as_json)


def read_plan(path: Path) -> Plan:
    """The plan in a file; "-" is standard input.

    Raises:
        Misuse: it cannot be read or is not a plan.
    """
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        return from_json(Plan, text)
    except OSError as error:
        raise Misuse(f"The plan {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise Misuse(f"{path} is not a plan: it is not text.") from error
    except DocumentError as error:
        raise Misuse(f"{path} is not a plan. {error}") from error


def ask_first(question: str, *told: str) -> None:
    """Go on only if somebody says yes, who is told these lines before.

    Raises:
        Misuse: there is nobody to ask.
        Refusal: somebody said no.
    """
    if not sys.stdin.isatty():
        raise Misuse("There is no terminal for the confirmation. To confirm, add --yes.")
    for line in told:
        click.echo(line, err=True)
    if not click.confirm(question, err=True):
        raise Refusal("Nothing was changed.")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A key press or a closed terminal does not cut a run in two; it can be undone when it is through."""
    numbers = (signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _attention_if_begun(services: Services, run_id: str) -> Iterator[None]:
    """A journal that fails in the middle of a run leaves an interrupted run; before the run it leaves none."""
    try:
        yield
    except JournalUnwritable as error:
        try:
            run = show_run(services.run_host(), run_id)
        except HostError:
            raise error from None
        if run.state is not RunState.INTERRUPTED:
            raise
        raise Attention(f"{error}\nRun {run_id} is interrupted: finish or undo it.") from error


def _end(run: Run, endings: dict[RunState, tuple[ExitCode, str]], as_json: bool) -> None:
    """Say how a run ended, and end with the code for it."""
    code, sentence = endings.get(run.state, UNCLEAR)
    reasons = [str(refusal) for refusal in run.refusals] or [
        str(step.note) for step in (*run.steps, *run.undo_steps) if step.note
    ]
    if as_json:
        notes = [str(finding) for finding in run.findings]
        click.echo(
            json.dumps(
                {
                    "run": run.id,
                    "state": run.state,
                    "reasons": reasons,
                    "notes": notes,
                    "trial_until": run.trial.until if run.trial and run.is_on_trial else "",
                },
                ensure_ascii=False,
            )
        )
    else:
        for reason in reasons:
            paragraph(reason, "")
        click.echo(sentence.format(id=run.id))
        if trial := said_of_trial(run):
            paragraph(trial, "")
        for finding in run.findings:
            paragraph(str(finding), "")
    click.get_current_context().exit(code)


RUN_HEADS: Final = ("RUN", "STARTED", "POOL", "STATE", "BY")


@click.command()
@click.option("--in-place", is_flag=True, help="List only runs that have left something on this host.")
@columns_option(*RUN_HEADS)
@json_option
@click.pass_context
def runs(ctx: click.Context, in_place: bool, columns: str, as_json: bool) -> None:
    """List the runs on this host, newest first. Exit code 5 if the journal of one cannot be read."""
    services = services_for(ctx)
    found = list_runs(services.run_host(), services.inventory)
    if in_place:
        found = replace(found, runs=tuple(run for run in found.runs if run.is_in_place))
    if as_json:
        click.echo(json.dumps([to_document(run) for run in (*found.runs, *found.unreadable)], ensure_ascii=False))
    elif found.runs or found.unreadable:
        unreadable = (
            (
                run.id,
                f"{minute_of(run.started_at)} UTC" if run.started_at else "?",
                run.pool_name or "?",
                run.state,
                run.by or "?",
            )
            for run in found.unreadable
        )
        table(RUN_HEADS, (*map(_row, found.runs), *unreadable), columns=columns)
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
    statements = (*run.refusals, *run.findings)
    if statements:
        click.echo()
    for statement in statements:
        paragraph(str(statement), "")
    if run.can_finish or run.can_undo:
        click.echo()
    if run.can_finish:
        click.echo(f"To do the rest: nasadvisor finish {run.id}")
    if run.can_undo:
        click.echo(f"To undo it: nasadvisor undo {run.id}")


def said_of_trial(run: Run) -> str:
    """What becomes of a run on trial, or became of it; "" for one that is not tried."""
    if run.trial is None:
        return ""
    if run.trial.kept_at:
        return f"Kept after its trial by {run.trial.kept_by} at {minute_of(run.trial.kept_at)} UTC."
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
        return f"Its trial ended at {minute_of(run.trial.ended_at)} UTC, and it was reverted automatically."
    if run.state is RunState.INTERRUPTED and not run.trial.until:
        return "Its trial begins when it is finished. Until then, nothing happens automatically."
    return ""


def _row(run: Run) -> tuple[str, ...]:
    state = f"{run.state}, on trial until {minute_of(run.trial.until)}" if run.trial and run.is_on_trial else run.state
    began = f"{run.started_at[:19].replace('T', ' ')} UTC" if run.started_at else "?"
    return (run.id, began, run.plan.pool_name, state, run.by)


def _print_steps(steps: tuple[Step, ...]) -> None:
    for step in steps:
        paragraph(f"{step.what}: {step.state}", f"{step.number + 1:>3}. ")
        if step.note:
            paragraph(str(step.note), "     ")
        for ran in step.ran:
            click.echo(f"     $ {command_line(ran.argv)}  (exit code {ran.code}, {ran.seconds:.1f} s)")
            for line in (*ran.stdout.splitlines(), *ran.stderr.splitlines()):
                click.echo(f"       {line}")
