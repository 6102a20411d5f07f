"""Runs inside the lab guest, as root: the host's services behind JSON lines, so that Python starts only once.

One request a line on standard input, `{"do": NAME, …}`; one answer a line on standard output, `{"ok": …}` or
`{"error": sentence}`. The services are those that the worker and the command line call. Up to `end` a process of their
own answers, forked from one that only waits, and each command of the command line has one too: what one test leaves in
memory no other finds.
"""

import json
import os
import signal
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import nasadvisor.cli.change.planning
import nasadvisor.cli.change.runs
import nasadvisor.cli.doctor
import nasadvisor.cli.storage.look  # noqa: F401 - else each command would read them anew
from nasadvisor.cli.main import main as command_line
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.host.build import machine_of, run_host_of
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, show_run, undo_run
from nasadvisor.host.config import config_from
from nasadvisor.host.errors import HostError
from nasadvisor.host.storage.machine import Machine, read_inventory
from nasadvisor.stored.documents import from_document, to_document

COMMAND_S = 600


def ignore(run: Run) -> None:
    del run


def command(arguments: list[str], environment: dict[str, str]) -> dict[str, object]:
    """What `nasadvisor …` prints and how it ends, in a process of its own."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, Path(os.devnull).open() as nothing:
        child = os.fork()
        if child == 0:
            os.environ.update(environment)
            for number, file in enumerate((nothing, output, errors)):
                os.dup2(file.fileno(), number)
            signal.alarm(COMMAND_S)
            command_line(arguments, prog_name="nasadvisor")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = (os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (output, errors))
        return dict(zip(("stdout", "stderr", "code"), (*texts, code), strict=True))


def answer(state: str, host: RunHost, machine: Machine, do: str, given: dict[str, Any]) -> object:
    match do:
        case "state":
            return state
        case "command":
            return command(given["arguments"], given["environment"])
        case "inventory":
            return to_document(read_inventory(machine))
        case "plan":
            request = from_document(PlanRequest, given["request"])
            ids = PlanIds(str(uuid.uuid4()), "2026-08-25T20:00:00+00:00", tuple(str(uuid.uuid4()) for _ in range(20)))
            plan = make_plan(request, read_inventory(machine), ids)
            if isinstance(plan, Plan):
                return {"plan": to_document(plan)}
            return {"refusals": [[refusal.code, str(refusal)] for refusal in plan.refusals]}
        case "apply":
            return to_document(apply_plan(host, from_document(Plan, given["plan"]), "lab", ignore))
        case "finish":
            return to_document(finish_run(host, given["run"], "lab", ignore))
        case "undo":
            return to_document(undo_run(host, given["run"], "lab", ignore))
        case "show":
            return to_document(show_run(host, given["run"]))
    raise ValueError(do)


def serve(line: str) -> None:
    """Answer this request and all that follow, to the end."""
    state = os.environ.get("NASADVISOR_AGENT_STATE") or tempfile.mkdtemp(prefix="agent-", dir="/var/lib")
    config = config_from({**os.environ, "NASADVISOR_HOST_STATE": state})
    host, machine = run_host_of(config), machine_of(config)
    while line:
        given = json.loads(line)
        do = given.pop("do")
        if do == "end":
            print(json.dumps({"ok": None}), flush=True)
            return
        try:
            said: dict[str, object] = {"ok": answer(state, host, machine, do, given)}
        except HostError as error:
            said = {"error": str(error), "kind": type(error).__name__}
        print(json.dumps(said), flush=True)
        line = sys.stdin.readline()


def main() -> None:
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            serve(line)
            return
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(code)


main()
