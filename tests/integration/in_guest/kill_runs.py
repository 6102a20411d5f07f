"""Runs inside the lab guest, as root: kill a run at every point that its plan has, and look what is left each time.

For each point a child process applies (or undoes) the plan on the real machine and kills itself with SIGKILL there. The
parent reads the run as any later process would, sees that nothing moves by itself, and takes it to its end the way it
is told. One JSON line a point goes to standard output.

    kill_runs finish|undo|undoing PART/PARTS POOL_GUID DISK_KEY…
"""

import json
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable

from nasadvisor.domain.lifecycle import Run
from nasadvisor.domain.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.units import MIB
from nasadvisor.host.build import machine_of, run_host_of
from nasadvisor.host.config import config_from
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.runs import apply_plan, finish_run, show_run, undo_run
from tests.integration.in_guest.points import Point, apply_points, undo_points

CONFIG = config_from({**os.environ, "NASADVISOR_STATE": tempfile.mkdtemp(prefix="kill-runs-")})
HOST = run_host_of(CONFIG)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ignore(run: Run) -> None:
    del run


def fingerprint() -> str:
    return read_inventory(machine_of(CONFIG)).fingerprint


def plan_for(pool_guid: str, disks: tuple[str, ...]) -> Plan:
    request = PlanRequest(pool_guid, disks, 256 * MIB, disks, 256 * MIB)
    ids = PlanIds(str(uuid.uuid4()), "2026-08-25T20:00:00+00:00", tuple(str(uuid.uuid4()) for _ in range(20)))
    plan = make_plan(request, read_inventory(machine_of(CONFIG)), ids)
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


def kill_at(point: Point, plan: Plan, way: str) -> dict[str, object]:
    if way == "undoing":
        apply_plan(HOST, plan, "lab", ignore)
        died = killed(lambda: undo_run(point.host(HOST, die), plan.id, "lab", point.observer(die)))
    else:
        died = killed(lambda: apply_plan(point.host(HOST, die), plan, "lab", point.observer(die)))
    return {"died": died, **left_behind(plan.id), **ended(plan.id, way)}


def left_behind(run_id: str) -> dict[str, object]:
    """The run as the next process finds it, and whether the host rests."""
    run = show_run(HOST, run_id)
    before = fingerprint()
    time.sleep(0.2)
    return {"state": run.state, "finish": run.can_finish, "undo": run.can_undo, "rests": fingerprint() == before}


def ended(run_id: str, way: str) -> dict[str, object]:
    finished = finish_run(HOST, run_id, "lab", ignore) if way == "finish" else None
    run = undo_run(HOST, run_id, "lab", ignore)
    notes = [step.note for step in (*run.steps, *run.undo_steps) if step.note]
    notes += [str(refusal) for refusal in run.refusals]
    return {"finished": finished.state if finished else None, "undone": run.state, "notes": notes}


def points_of(plan: Plan, way: str) -> list[Point]:
    if way != "undoing":
        return apply_points(plan)
    applied = apply_plan(HOST, plan, "lab", ignore)
    return undo_points(applied, undo_run(HOST, plan.id, "lab", ignore))


def main() -> None:
    way, share, pool_guid, *disks = sys.argv[1:]
    part, parts = (int(number) for number in share.split("/"))
    before = fingerprint()
    points = points_of(plan_for(pool_guid, tuple(disks)), way)
    print(json.dumps({"points": len(points)}), flush=True)
    for point in points[part::parts]:
        began = time.monotonic()
        kill = kill_at(point, plan_for(pool_guid, tuple(disks)), way)
        seconds = round(time.monotonic() - began, 1)
        same = fingerprint() == before
        print(json.dumps({"point": point.name, "same": same, "seconds": seconds, **kill}), flush=True)


main()
