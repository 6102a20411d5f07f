"""The console on a real PostgreSQL: its tables are made, and what several hosts tell at once is stored."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TELLING = """
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from django.db import connection
from django.utils import timezone
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.console.evidence import series
from nasadvisor.console.health.alerts import watch
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import readings_of_each
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import StoredSample
from nasadvisor.stored.documents import to_document
from nasadvisor.domain.change.runs import Run, RunState, steps_of
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.health.sweep import Answers
from nasadvisor.host.simulated.smart import simulated_answer
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for, ssd

def tell(number):
    name = f"nas{number}"
    disks = tuple(ssd(f"eui.{number:08x}{disk:08x}", "KIOXIA", f"B{number}{disk}", 10**12) for disk in range(4))
    machine = replace(home_server(), host=replace(home_server().host, node=name))
    take_answer(name, "inventory", to_document(replace(machine, disks=machine.disks[:0] + disks, pools=())))
    told = tuple(simulated_answer(disk, datetime.now(UTC)) for disk in disks)
    take_answer(name, "answers", to_document(Answers(name, told)))
    for at in range(10, 200, 10):
        take_answer(name, "reading", to_document(Reading((Sample("1", "tank", at, 10.0),))))
    plan = plan_for(MIRROR_AND_CACHES, machine)
    run = Run(plan.id, name, plan, RunState.APPLIED, "anna", "2026-08-25T20:15:00+00:00", "", 9, steps_of(plan.actions))
    if number == 1:
        take_answer(name, "run", to_document(run))
    connection.close()

with ThreadPoolExecutor(4) as hosts:
    list(hosts.map(tell, range(1, 9)))
series.roll_up(timezone.now())
watch.watch(timezone.now())
found = [model.objects.count() for model in (Node, StoredRun, StoredDisk)]
readings = sum(map(len, readings_of_each(StoredDisk.objects.all()).values()))
print(connection.vendor, *found, readings, StoredSample.objects.filter(resolution=0).count())
"""


def test_several_hosts_are_stored_at_once(database: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "NASADVISOR_DATABASE_URL": database,
        "NASADVISOR_CONSOLE_STATE": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "nasadvisor.settings",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    prepared = subprocess.run([*manage, "prepare"], env=environment, capture_output=True, text=True, check=False)
    assert prepared.returncode == 0, prepared.stderr
    shell = [*manage, "shell", "--no-imports", "--command", TELLING]
    told = subprocess.run(shell, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == ["postgresql", "8", "1", "32", "32", str(8 * 19)]
