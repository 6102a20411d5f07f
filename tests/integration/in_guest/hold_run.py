"""Runs inside the lab guest, as root: carry a run to one point, say "reached", and stay there until the power fails.

hold_run apply|undo POINT STATE_DIRECTORY < plan document
"""

import os
import sys
import time

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.host.build import run_host_of
from nasadvisor.host.change.runs import apply_plan, undo_run
from nasadvisor.host.config import config_from
from nasadvisor.stored.documents import from_json
from tests.integration.in_guest.points import Point, apply_points


def hold() -> None:
    print("reached", flush=True)
    time.sleep(600)


def ignore(run: Run) -> None:
    del run


def named(points: list[Point], name: str) -> Point:
    return next(point for point in points if point.name == name)


def main() -> None:
    phase, name, state = sys.argv[1:]
    host = run_host_of(config_from({**os.environ, "NASADVISOR_HOST_STATE": state}))
    plan = from_json(Plan, sys.stdin.read())
    if phase == "apply":
        point = named(apply_points(plan), name)
        apply_plan(point.host(host, hold), plan, "lab", point.observer(hold))
    else:
        applied = apply_plan(host, plan, "lab", ignore)
        point = Point(name, actions=int(name.rsplit("-", 1)[1]))
        undo_run(point.host(host, hold), applied.id, "lab", point.observer(hold))


main()
