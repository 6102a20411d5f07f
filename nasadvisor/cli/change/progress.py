"""Live progress of a run on standard error."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import click

from nasadvisor.domain.change.runs import Run, RunState, Step, StepState

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
        with contextlib.suppress(OSError):
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
