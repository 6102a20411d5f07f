"""Steps, notes and captions name what stands on the disk; the path is there on demand."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.names import named, named_text, names_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.statements import Statement
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import plan_of, show, text
from tests.unit.console.conftest import PASSWORD
from tests.unit.console.health.health_data import watched
from tests.unit.machines import NVME1, home_server

LABEL = "Samsung SSD 960 EVO 500GB (N1)"


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


def steps_of(page: str) -> list[str]:
    """The sentences of the steps of a run as one reads them."""
    return [
        re.sub(r"<[^>]*>", "", found) for found in re.findall(r'run-step-what">(.*?)</span> *(?:<span|</div>)', page)
    ]


def test_the_steps_of_a_run_name_model_and_serial_and_the_path_on_demand(operator: Client) -> None:
    stored = plan_of(operator)
    operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
    page = text(operator.get(f"/runs/{stored.id}/"))
    path = stored.plan.slices[0].disk_path
    assert f'<span class="disk-name" title="{path}">{LABEL}</span>' in page
    assert steps_of(page)
    assert [step for step in steps_of(page) if "/dev/" in step or "eui." in step] == []


def test_the_commands_of_a_review_are_captioned_by_what_they_do(operator: Client) -> None:
    page = operator.get(f"/plans/{plan_of(operator).id}/").content.decode()
    assert f"# Create a 4 GiB log slice (partition 1) on {LABEL}\nsgdisk --new=1:" in page
    assert f"# Clear and delete the log slice (partition 1) on {LABEL}\nzpool labelclear /dev/disk/by-partuuid/" in page


def test_a_slice_is_named_by_its_disk_and_number(operator: Client) -> None:
    plan = plan_of(operator).plan
    names = names_of(plan, Node.objects.get(), home_server())
    side = plan.slices[0]
    statement = Statement("x", "The side {path}. See `ls {path}`.", {"path": side.path})
    shown = named(statement, names)
    assert f'<span class="disk-name" title="{side.path}">{LABEL} – slice 1</span>. See' in shown
    assert f"<code>ls {side.path}</code>" in shown


def test_no_word_or_number_of_a_step_is_taken_for_a_disk(operator: Client) -> None:
    """The pool is called as the label of its disks, and udev makes links that end in labels and partition numbers."""
    stored = plan_of(operator)
    inventory = home_server()
    links = {link for each in inventory.disks for part in each.partitions for link in part.links}
    assert {link.rsplit("/", 1)[1] for link in links} > {"tank", "1"}
    names = names_of(stored.plan, Node.objects.get(), inventory)
    statement = Statement("x", "Add a mirror of {count} slices to pool {pool}.", {"count": "1", "pool": "tank"})
    assert named(statement, names) == named_text(statement, names) == "Add a mirror of 1 slices to pool tank."


def test_a_disk_that_was_pulled_still_has_its_name(operator: Client, host: SimulatedHost) -> None:
    stored = plan_of(operator)
    operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
    watched(home_server(), days=0)
    inventory = home_server()
    show(host, replace(inventory, disks=tuple(disk for disk in inventory.disks if disk.key != NVME1)))
    assert StoredDisk.objects.filter(key=NVME1).exists()
    names = names_of(StoredRun.objects.get().run.plan, Node.objects.get(), Node.objects.get().inventory)
    assert names[stored.plan.slices[0].path] == f"{LABEL} – slice 1"


def test_what_a_disk_calls_itself_can_neither_be_markup_nor_a_command() -> None:
    names = {"/dev/disk/by-id/x": "Evil\nrm -rf / <b>"}
    statement = Statement("x", "Write on {disk}", {"disk": "/dev/disk/by-id/x"})
    assert named_text(statement, names) == "Write on Evil rm -rf / <b>"
    assert "&lt;b&gt;" in named(statement, names)


def test_what_is_unknown_is_shown_as_it_is() -> None:
    assert named(Statement("x", "On {disk}.", {"disk": "/dev/disk/by-id/y"}), {}) == "On /dev/disk/by-id/y."
