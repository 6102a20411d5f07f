"""Story 4's picture: many synchronous writers, a log is added, and the latencies fall. Recorded in the lab.

`record` runs in `make evidence` and keeps everything in build/evidence-picture.json; a browser test draws it with the
product's own pages into docs/images.
"""

import json
import time
from pathlib import Path

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import to_document
from tests.evidence.workloads import Workload
from tests.integration.agent import Agent, python_in_guest
from tests.integration.wishes import keys_of, pool_of

RECORDED = Path(__file__).parents[2] / "build/evidence-picture.json"
WITHOUT_S, WITH_S, AFTER_S = 60, 70, 40
EVERY_S = 2
LENGTH_S = WITHOUT_S + WITH_S + AFTER_S + 90
SAMPLES = "/root/samples.jsonl"


def record(agent: Agent, workload: Workload) -> None:
    """The workload runs the whole time; after a minute a mirrored log comes, a minute later it goes."""
    guest = agent.guest
    guest.run(workload.preparation)
    guest.run(f"nohup {workload.command(LENGTH_S)} > /dev/null 2>&1 < /dev/null & echo $! > /root/load.pid")
    sampler = python_in_guest("record_samples", str(LENGTH_S), str(EVERY_S))
    guest.run(f"nohup sh -c '{sampler}' > {SAMPLES} 2> /dev/null < /dev/null & echo $! > /root/sampler.pid")
    time.sleep(WITHOUT_S)
    applied = agent.apply(agent.plan(PlanRequest(pool_of(agent).guid, keys_of(agent, "nvme0", "nvme1"), 2 * GIB)))
    inventory = agent.inventory()
    time.sleep(WITH_S)
    run = agent.undo(applied.id)
    time.sleep(AFTER_S)
    guest.run("kill -TERM $(cat /root/load.pid) $(cat /root/sampler.pid); sleep 2", check=False)
    readings = [json.loads(line)["reading"] for line in guest.read_bytes(SAMPLES).decode().splitlines()]
    document = {"inventory": to_document(inventory), "run": to_document(run), "readings": readings}
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(document))
    guest.run(f"zfs destroy {workload.pool}/{workload.name}", timeout=300, check=False)
