"""`python -m tests.story FILE`: fill the console with the past of a made-up machine, and write the machine down there.

For looking at the pages (`make dev`): a log that helped, an SSD that is nearly used up, a disk that fails, and SSDs to
try the wizard with. The host's journal is a real one, so that the run can be undone.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import load_config
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import to_json


def main() -> None:
    """Tell the story."""
    django.setup()
    from nasadvisor.console.fleet.models import Node  # noqa: PLC0415 - models need what is set up above
    from tests.story.past import APPLIED_DAYS_AGO, Clock, live, machine_before  # noqa: PLC0415

    now = datetime.now(UTC).replace(microsecond=0)
    config = load_config()
    executor = SimulatedExecutor(machine_before(now))
    node = executor.state.host.node
    clock = Clock(now - timedelta(days=APPLIED_DAYS_AGO))
    host = RunHost(node, config.journals, (config.lock_path,), lambda _: executor, clock)
    machine = live(host, executor, now)
    Node.objects.filter(name=node).update(is_simulated=True)
    Path(sys.argv[1]).write_text(to_json(machine) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
