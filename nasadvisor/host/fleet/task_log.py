"""Showing runs in the platform's own list of tasks: a file that grows while a run goes on, and who is told of it."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.runs import Goal, Run, RunState, StepState
from plugins.contract.host import Task

log = logging.getLogger(__name__)

WELL: Final = frozenset({RunState.APPLIED, RunState.UNDONE})
KEPT: Final = 20
"""Files of earlier runs that stay; the platform has its own copy."""


@dataclass
class TaskLog:
    """An observer of one stretch of a run. A file that cannot be written does not stop it."""

    folder: Path
    goal: Goal
    by: str
    announce: Callable[[Task], None]
    said: set[str] = field(default_factory=set)

    def __call__(self, run: Run) -> None:
        """See `Observer`."""
        try:
            path = self.folder / f"{run.id}-{self.goal}.log"
            is_new = not self.said
            if is_new:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                for earlier in sorted(self.folder.glob("*.log"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
                    earlier.unlink(missing_ok=True)
                path.unlink(missing_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self._news(run))
            if is_new:
                self.announce(Task(run.id, self.goal, run.plan.pool_name, self.by, path, os.getpid()))
        except OSError as error:
            log.warning("the task of run %s cannot be shown: %s", run.id, error)

    def _news(self, run: Run) -> list[str]:
        lines = [f"NAS Advisor: {self.goal} run {run.id} on pool {run.plan.pool_name}, asked for by {self.by}"]
        for steps in (run.steps, run.undo_steps):
            for step in steps:
                place = f"{step.number + 1}/{len(steps)} {step.what}"
                if step.state is not StepState.PENDING:
                    lines.append(place)
                if step.state in (StepState.DONE, StepState.SKIPPED, StepState.FAILED):
                    lines.append(f"{place}: {step.state}{f': {step.note}' if step.note else ''}")
        if not run.is_active and run.state in WELL and not run.refusals:
            lines.append("END OK")
        elif not run.is_active:
            otherwise = f"the run is {run.state}; its page in NAS Advisor says what to do"
            lines.append(f"END ERROR {' '.join(map(str, run.refusals)) or otherwise}")
        news = [" ".join(line.split()) for line in lines]
        news = [line for line in news if line not in self.said]
        self.said.update(news)
        return news
