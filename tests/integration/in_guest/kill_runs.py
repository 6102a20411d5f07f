"""Runs inside the lab guest, as root: kill a run at every point that its plan has, and look what is left each time.

For each point a child process applies (or undoes) the plan on the real machine and kills itself with SIGKILL there. The
parent reads the run as any later process would, sees that nothing moves by itself, and takes it to its end the way it
is told. One JSON line a point goes to standard output.

    kill_runs finish|undo POOL_GUID DISK_KEY…
"""

import json
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.units import MIB
from nasadvisor.host.build import machine_of, run_host_of
from nasadvisor.host.change.runs import apply_plan, finish_run, show_run, undo_run
from nasadvisor.host.config import config_from
from nasadvisor.host.storage.machine import read_inventory
from tests.integration.in_guest.points import Point, apply_points, undo_points

CONFIG = config_from({**os.environ, "NASADVISOR_HOST_STATE": tempfile.mkdtemp(prefix="kill-runs-")})
HOST = run_host_of(CONFIG)
MACHINE = machine_of(CONFIG)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ignore(run: Run) -> None:
    del run


def fingerprint() -> str:
    return read_inventory(MACHINE).fingerprint


def plan_for(pool_guid: str, disks: tuple[str, ...]) -> Plan:
    request = PlanRequest(pool_guid, disks, 256 * MIB, disks, 256 * MIB)
    ids = PlanIds(str(uuid.uuid4()), "2026-08-25T20:00:00+00:00", tuple(str(uuid.uuid4()) for _ in range(20)))
    plan = make_plan(request, read_inventory(MACHINE), ids)
    if not isinstance(plan, Plan):
        raise SystemExit(f"No plan: {plan}")
    return plan


def killed(work: Callable[[], object]) -> bool:
    """Run in a child; whether it died by SIGKILL."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def by_undoing(plan: Plan, point: Point) -> dict[str, object]:
    died = killed(lambda: apply_plan(point.host(HOST, die), plan, "lab", point.observer(die)))
    left = left_behind(plan.id)
    run = undo_run(HOST, plan.id, "lab", ignore)
    return {"died": died, "left": left, "undone": run.state, "notes": notes_of(run)}


def by_finishing(plan: Plan, point: Point, number: int, undo_steps: int) -> dict[str, object]:
    died = killed(lambda: apply_plan(point.host(HOST, die), plan, "lab", point.observer(die)))
    left = left_behind(plan.id)
    finished = finish_run(HOST, plan.id, "lab", ignore)
    undoing = undo_points(finished.seq, undo_steps)
    back = undoing[number % len(undoing)]
    died_again = killed(lambda: undo_run(back.host(HOST, die), plan.id, "lab", back.observer(die)))
    left_again = left_behind(plan.id)
    run = undo_run(HOST, plan.id, "lab", ignore)
    return {
        "died": died,
        "left": left,
        "finished": finished.state,
        "undo_point": back.name,
        "died_again": died_again,
        "left_again": left_again,
        "undone": run.state,
        "notes": notes_of(finished) + notes_of(run),
    }


def left_behind(run_id: str) -> list[object]:
    """The run as the next process finds it: its state, whether it offers Finish and Undo, whether the host rests."""
    run = show_run(HOST, run_id)
    before = fingerprint()
    time.sleep(0.2)
    return [run.state, run.can_finish, run.can_undo, fingerprint() == before]


def notes_of(run: Run) -> list[str]:
    return [str(step.note) for step in (*run.steps, *run.undo_steps) if step.note] + [
        str(each) for each in run.refusals
    ]


def main() -> None:
    way, pool_guid, *disks = sys.argv[1:]
    before = fingerprint()
    plan = plan_for(pool_guid, tuple(disks))
    apply_plan(HOST, plan, "lab", ignore)
    undo_steps = len(undo_run(HOST, plan.id, "lab", ignore).undo_steps)
    points = apply_points(plan)
    print(json.dumps({"points": len(points), "undo_points": len(undo_points(0, undo_steps))}), flush=True)
    for number, point in enumerate(points):
        began = time.monotonic()
        plan = plan_for(pool_guid, tuple(disks))
        kill = by_undoing(plan, point) if way == "undo" else by_finishing(plan, point, number, undo_steps)
        seconds = round(time.monotonic() - began, 1)
        same = fingerprint() == before
        print(json.dumps({"point": point.name, "same": same, "seconds": seconds, **kill}), flush=True)


main()
