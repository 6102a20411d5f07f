"""The host's services in the lab guest, called from a test as if they were here."""

import json
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import from_document, to_document
from tests.lab.guest import Guest
from tests.lab.paths import GUEST_VENV
from tests.lab.shell import Completed

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCE = "/root/source"
PYTHON = f"{GUEST_VENV}/bin/python"


class HostSaid(Exception):  # noqa: N818 - what the host answered instead of a result
    """The host raised an error of its own; the text is its sentence."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def push_source(guest: Guest) -> None:
    """Copy what the host part needs of this source tree into the guest."""
    for name in ("nasadvisor", "plugins"):
        guest.push_tree(ROOT / name, f"{SOURCE}/{name}")
    guest.push_tree(HERE / "in_guest", f"{SOURCE}/tests/integration/in_guest")


def python_in_guest(module: str, *arguments: str) -> str:
    """The shell command that runs one of the modules in `in_guest`."""
    command = (PYTHON, "-m", f"tests.integration.in_guest.{module}", *arguments)
    return f"cd {SOURCE} && exec {shlex.join(command)}"


class Agent:
    """One Python process in the guest that answers requests until it is closed."""

    def __init__(self, guest: Guest, environment: str = "") -> None:
        self.guest = guest
        command = f"export {environment}; " if environment else ""
        self._process = subprocess.Popen(
            guest.argv(command + python_in_guest("agent")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def renew(self) -> bool:
        """From now on it is as one just started, its journals included; False if it ended, as with a restart."""
        assert self._process.stdin
        if self._process.stdin.closed:
            return False
        try:
            return self._answer({"do": "end"}) != ""
        except BrokenPipeError:
            return False

    def command(self, *arguments: str, **environment: str) -> Completed:
        """Run `nasadvisor …` to its end, whatever its exit code."""
        return Completed(**self.ask("command", arguments=arguments, environment=environment))

    def close(self) -> None:
        """End the process in the guest."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):  # of what it was still to be told when the guest's power was cut
                if stream:
                    stream.close()
        self._process.wait(timeout=60)

    def inventory(self) -> Inventory:
        """The guest as it is now."""
        return from_document(Inventory, self.ask("inventory"))

    def plan(self, request: PlanRequest) -> Plan:
        """A plan that must not be refused."""
        answer = self.ask("plan", request=to_document(request))
        assert "plan" in answer, answer
        return from_document(Plan, answer["plan"])

    def refusals(self, request: PlanRequest) -> dict[str, str]:
        """Why there is no plan: sentences by code. Empty if there is one."""
        answer = self.ask("plan", request=to_document(request))
        return dict(answer.get("refusals", []))

    def apply(self, plan: Plan) -> Run:
        """Apply a plan in the guest."""
        return from_document(Run, self.ask("apply", plan=to_document(plan)))

    def undo(self, run_id: str) -> Run:
        """Undo a run in the guest."""
        return from_document(Run, self.ask("undo", run=run_id))

    def finish(self, run_id: str) -> Run:
        """Finish a run in the guest."""
        return from_document(Run, self.ask("finish", run=run_id))

    def show(self, run_id: str) -> Run:
        """The run as its journal tells it."""
        return from_document(Run, self.ask("show", run=run_id))

    def ask(self, do: str, **given: object) -> Any:
        """One request and its answer.

        Raises:
            HostSaid: the host answered with an error of its own.
        """
        line = self._answer({"do": do, **given})
        assert line, "The agent in the guest ended; its error is above."
        answer = json.loads(line)
        if "error" in answer:
            raise HostSaid(answer["kind"], answer["error"])
        return answer["ok"]

    def _answer(self, request: dict[str, object]) -> str:
        """The line it answers with, empty if it ended."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


class Standby:
    """An agent for one test after the other: Python takes ten seconds to start under emulation."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self._agent: Agent | None = None

    def agent(self) -> Agent:
        """The one that stands by, or one that is started now: a guest that was cleaned by a power cut has none."""
        self.rest()
        if self._agent is None:
            self._agent = Agent(self.guest)
        return self._agent

    def rest(self) -> None:
        """After a test: nothing of it is left in memory."""
        if self._agent and not self._agent.renew():
            self.close()

    def close(self) -> None:
        """End it."""
        if self._agent:
            self._agent.close()
        self._agent = None
