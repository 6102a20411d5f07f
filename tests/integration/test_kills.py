"""A run that is cut off anywhere is told apart rightly, can be finished and undone, and nothing moves by itself."""

import json
import subprocess

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.stored.documents import to_json
from tests.integration.agent import Agent, python_in_guest
from tests.integration.test_stories import CHECK, PHOTOS
from tests.integration.wishes import SSDS, keys_of, pool_of, single_log

pytestmark = pytest.mark.lab


@pytest.mark.long  # tests/devices/test_kills.py tries them natively in each run of the tests
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_kill_9_at_every_point_leaves_a_run_that_can_be_ended_both_ways(agent: Agent, way: str) -> None:
    """Proves, for every record and every action of the plan (log and cache on one SSD) and of its undo: the process is
    killed there, the run reads as interrupted, the host rests, [Finish] and [Undo] work, the SSD is blank again."""
    guest = agent.guest
    blank = guest.digests(*SSDS)
    guest.run(PHOTOS)
    pool, key = pool_of(agent).guid, keys_of(agent, "nvme0")[0]
    output = guest.run(python_in_guest("kill_runs", way, pool, key), timeout=5400).stdout
    head, *kills = (json.loads(line) for line in output.splitlines())
    assert head["points"] >= head["undo_points"]
    assert len(kills) == head["points"]
    for kill in kills:
        print(kill)
        assert kill["died"], kill
        assert kill["left"] == [RunState.INTERRUPTED, True, True, True], kill
        if way == "finish":
            assert kill["finished"] == RunState.APPLIED, kill
            assert kill["died_again"], kill
            assert kill["left_again"] == [RunState.INTERRUPTED, False, True, True], kill
        assert kill["undone"] == RunState.UNDONE, kill
        assert kill["same"], kill
    assert guest.digests(*SSDS) == blank
    guest.run(CHECK)


@pytest.mark.long  # tests/devices/test_power_loss.py tries cuts natively in each run of the tests
@pytest.mark.parametrize(
    ("phase", "point", "way"),
    [
        ("apply", "apply-record-2", "undo"),  # the intent of the first write is durable, the write may not be
        ("apply", "apply-action-3", "finish"),  # both slices are there, and no record of the second
        ("apply", "apply-action-4", "finish"),  # OpenZFS has the log, and no record says so
        ("undo", "undo-action-2", "undo"),  # cache and log are out of the pool, the slices still there
    ],
)
def test_a_power_cut_leaves_a_run_that_can_be_ended(agent: Agent, phase: str, point: str, way: str) -> None:
    """Proves: after the mains fail and the machine boots again, the run is interrupted, and its way out works."""
    guest = agent.guest
    blank = guest.digests(*SSDS)
    guest.run(PHOTOS + "sync; zpool sync tank")
    plan = agent.plan(single_log(agent, "nvme0"))
    state = agent.ask("state")
    command = guest.argv(python_in_guest("hold_run", phase, point, state))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as held:
        assert held.stdin
        assert held.stdout
        held.stdin.write(to_json(plan).encode())
        held.stdin.close()
        assert held.stdout.readline() == b"reached\n"
        guest.power_cut()
        held.kill()
    guest.start_again()
    with Agent(guest, f"NASADVISOR_AGENT_STATE={state}") as again:
        run = again.show(plan.id)
        assert run.state is RunState.INTERRUPTED
        assert run.can_finish == (phase == "apply")
        resting = again.inventory().fingerprint
        assert again.inventory().fingerprint == resting
        if way == "finish":
            finished = again.finish(plan.id)
            assert finished.state is RunState.APPLIED, [step.note for step in finished.steps]
        undone = again.undo(plan.id)
        assert undone.state is RunState.UNDONE, [step.note for step in undone.undo_steps]
        guest.run(CHECK)
        assert pool_of(again).state == "ONLINE"
    assert guest.digests(*SSDS) == blank
