"""Runs inside the lab guest, as root: the host's services behind JSON lines, so that Python starts only once.

One request a line on standard input, `{"do": NAME, …}`; one answer a line on standard output, `{"ok": …}` or
`{"error": sentence}`. The services are those that the worker and the command line call.
"""

import json
import os
import sys
import tempfile
import uuid
from typing import Any

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.host.build import machine_of, run_host_of
from nasadvisor.host.change.runs import apply_plan, finish_run, show_run, undo_run
from nasadvisor.host.config import config_from
from nasadvisor.host.errors import HostError
from nasadvisor.host.storage.inventory import read_inventory
from nasadvisor.stored.documents import from_document, to_document

STATE = os.environ.get("NASADVISOR_AGENT_STATE") or tempfile.mkdtemp(prefix="agent-", dir="/var/lib")
CONFIG = config_from({**os.environ, "NASADVISOR_HOST_STATE": STATE})
HOST = run_host_of(CONFIG)


def ignore(run: Run) -> None:
    del run


def answer(do: str, given: dict[str, Any]) -> object:
    match do:
        case "state":
            return STATE
        case "inventory":
            return to_document(read_inventory(machine_of(CONFIG)))
        case "plan":
            request = from_document(PlanRequest, given["request"])
            ids = PlanIds(str(uuid.uuid4()), "2026-08-25T20:00:00+00:00", tuple(str(uuid.uuid4()) for _ in range(20)))
            plan = make_plan(request, read_inventory(machine_of(CONFIG)), ids)
            if isinstance(plan, Plan):
                return {"plan": to_document(plan)}
            return {"refusals": [[refusal.code, str(refusal)] for refusal in plan.refusals]}
        case "apply":
            return to_document(apply_plan(HOST, from_document(Plan, given["plan"]), "lab", ignore))
        case "finish":
            return to_document(finish_run(HOST, given["run"], "lab", ignore))
        case "undo":
            return to_document(undo_run(HOST, given["run"], "lab", ignore))
        case "show":
            return to_document(show_run(HOST, given["run"]))
    raise ValueError(do)


def main() -> None:
    for line in sys.stdin:
        given = json.loads(line)
        try:
            said: dict[str, object] = {"ok": answer(given.pop("do"), given)}
        except HostError as error:
            said = {"error": str(error), "kind": type(error).__name__}
        print(json.dumps(said), flush=True)


main()
