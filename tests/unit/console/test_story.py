"""The machine of `make dev` tells one story, and its pages do not contradict each other."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.runs import RunHost, undo_run
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.story.machine import MEDIA, TANK
from tests.story.past import APPLIED_DAYS_AGO, BY, Clock, live, machine_before
from tests.unit.console.test_pages import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def host(tmp_path: Path) -> RunHost:
    now = datetime.now(UTC).replace(microsecond=0)
    executor = SimulatedExecutor(machine_before(now))
    clock = Clock(now - timedelta(days=APPLIED_DAYS_AGO))
    host = RunHost("nas1", tmp_path / "runs", (tmp_path / "lock",), lambda _: executor, clock)
    machine: Inventory = live(host, executor, now)
    assert {pool.name for pool in machine.pools} == {"tank", "media"}
    return host


def home_names_the_disk_that_fails_and_marks_the_free_ssd_that_is_used_up(viewer: Client) -> None:
    text = page(viewer, "/")
    assert "1 disk is failing: WDC WUH721212ALE604 8CSDY002 in tank, mirror-1" in text
    free = text.partition("Free SSDs")[2].partition("</section>")[0]
    assert re.search(r'S6PTNM0T512931 · SATA</span> <span class="state disk-mark"', free)
    assert free.count("disk-mark") == 1


def the_log_has_helped_one_pool_and_would_help_the_other(viewer: Client) -> None:
    run = StoredRun.objects.get()
    proof = page(viewer, f"/runs/{run.id}/proof/")
    assert "Commits are faster than before" in proof
    assert "a probability of less than 0.0001" in proof
    assert "The pool has a log; it takes 100 % of the log blocks" in page(viewer, f"/pools/{TANK}/evidence/")
    assert "Log: would help" in page(viewer, "/").partition(f"/pools/{MEDIA}/evidence/")[2]


def no_disk_gets_younger() -> None:
    for disk in StoredDisk.objects.all():
        told = [(each.percent_used, each.bytes_written, each.power_on_hours) for each in readings_of(disk)]
        for column in zip(*told, strict=True):
            known = [value for value in column if value is not None]
            assert known == sorted(known), disk


def what_was_added_can_be_undone(host: RunHost) -> None:
    assert undo_run(host, str(StoredRun.objects.get().id), BY, lambda _run: None).state == "undone"


def test_its_parts_do_not_contradict_each_other(host: RunHost, viewer: Client) -> None:
    """One test, for it takes longest to let a year pass."""
    home_names_the_disk_that_fails_and_marks_the_free_ssd_that_is_used_up(viewer)
    the_log_has_helped_one_pool_and_would_help_the_other(viewer)
    no_disk_gets_younger()
    what_was_added_can_be_undone(host)
