"""The command line in the lab guest, out of this source tree: nothing is installed, each test has its own journals."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from nasadvisor.domain.change.runs import Run
from nasadvisor.stored.documents import from_document
from tests.integration.agent import Agent, Standby
from tests.lab.guest import Guest
from tests.lab.shell import Completed

PLAN = "/root/plan.json"


@dataclass(frozen=True)
class Ending:
    """How a command that changes the host ended: its exit code, and what it said in its JSON answer."""

    code: int
    run: str
    state: str
    reasons: str
    notes: str


@dataclass(frozen=True)
class CommandLine:
    """`nasadvisor …` with its state in a directory of the guest; `agent` runs it."""

    agent: Agent
    state: str

    @property
    def guest(self) -> Guest:
        """Where it runs."""
        return self.agent.guest

    def __call__(self, *args: str) -> Completed:
        """Run a command, whatever its exit code."""
        environment = {"NASADVISOR_HOST_STATE": self.state, "NASADVISOR_RUN_DIR": f"{self.state}/run"}
        return self.agent.command(*args, **environment)

    def apply(self, *options: str, pool: str = "tank") -> str:
        """Plan, which must not be refused, and apply, which must end with 0; the run."""
        planned = self("plan", "--pool", pool, *options, "--output", PLAN)
        assert planned.code == 0, planned.stderr
        ending = self.ending("apply", PLAN)
        assert (ending.code, ending.state) == (0, "applied"), ending
        return ending.run

    def ending(self, *args: str) -> Ending:
        """How `apply PLAN`, `finish RUN` or `undo RUN` ends."""
        done = self(*args, "--yes", "--json")
        answer = json.loads(done.stdout)
        assert "error" not in answer, answer
        reasons, notes = ("\n".join(answer[name]) for name in ("reasons", "notes"))
        return Ending(done.code, answer["run"], answer["state"], reasons, notes)

    def shown(self, run: str) -> Run:
        """What `show RUN --json` tells."""
        return from_document(Run, json.loads(self("show", run, "--json").stdout))

    def listed(self) -> list[Any]:
        """What `runs --json` tells."""
        listed: list[Any] = json.loads(self("runs", "--json").stdout)
        return listed

    def journal(self, run: str) -> str:
        """The path of a run's journal in the guest."""
        return f"{self.state}/runs/{run}/journal.jsonl"


@pytest.fixture
def cli(standby: Standby, clean_guest: Guest) -> Iterator[CommandLine]:
    """The command line in a clean guest."""
    state = clean_guest.run("mktemp --directory /var/lib/endings-XXXXXX").stdout.strip()
    clean_guest.run(f"mkdir {state}/run")
    yield CommandLine(standby.agent(), state)
    standby.rest()
    clean_guest.run(f"rm -r {state}")
