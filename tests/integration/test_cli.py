"""The command line on real OpenZFS: its exit codes, and that each means what it says."""

import json

import pytest

from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import from_document
from tests.integration.product import Product, product
from tests.integration.wrong_tools import zpool_that
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.usefixtures("clean_guest")]
__all__ = ["product"]

SSDS = ("nvme0", "nvme1", "sata0", "sas0")
PLAN = "/root/plan.json"
FAIL = 'echo "cannot: I/O error" >&2; false'


def wish(guest: Guest) -> tuple[str, ...]:
    """A mirrored log and two caches on the NVMe SSDs, one named by its path and one by its serial."""
    serials = {disk.name: disk.serial for disk in guest.scenario.disks}
    disks = (guest.disks()["nvme0"].by_id, serials["nvme1"])
    return ("--pool", "tank", "--log", *disks, "--log-size", "512M", "--cache", *disks, "--cache-size", "1G")


def plan(product: Product) -> None:
    done = product.cli("plan", *wish(product.guest), "--output", PLAN)
    assert done.code == 0, done.stderr


def test_inventory_and_pools_tell_what_zpool_tells(product: Product) -> None:
    inventory = from_document(Inventory, product.json("inventory"))
    guids = dict(line.split() for line in product.guest.run("zpool get -H -o name,value guid").stdout.splitlines())
    assert {pool.name: pool.guid for pool in inventory.pools} == guids
    assert "2 mirrors of 2" in product.cli("pools").stdout


def test_a_plan_changes_nothing(product: Product) -> None:
    before = product.guest.digests(*SSDS)
    plan(product)
    assert product.guest.digests(*SSDS) == before


def test_apply_and_undo_end_with_0_and_leave_blank_ssds(product: Product) -> None:
    guest = product.guest
    blank = guest.digests(*SSDS)
    plan(product)
    applied = product.cli("apply", PLAN, "--yes", "--json")
    assert applied.code == 0, applied.stderr
    run = json.loads(applied.stdout)["run"]
    assert "8/8  Add 2 cache slices to pool tank" in applied.stderr
    status = guest.run("zpool status tank").stdout
    assert "logs" in status
    assert "cache" in status
    assert product.cli("apply", PLAN, "--yes").code == 3
    undone = product.cli("undo", run, "--yes")
    assert undone.code == 0, undone.stderr
    assert guest.digests(*SSDS) == blank


def test_a_kernel_name_ends_with_2_and_says_the_persistent_one(product: Product) -> None:
    done = product.cli("plan", "--pool", "tank", "--cache", "/dev/nvme0n1")
    assert done.code == 2
    assert "/dev/disk/by-id/nvme-" in done.stderr


def test_a_disk_of_the_pool_ends_with_3_and_nothing_is_changed(product: Product) -> None:
    guest = product.guest
    member = next(disk.name for disk in guest.scenario.disks if disk.name not in SSDS)
    before = guest.run("zpool status -P tank").stdout
    done = product.cli("plan", "--pool", "tank", "--cache", guest.disks()[member].by_id)
    assert done.code == 3
    assert "it is part of pool tank" in done.stderr
    assert guest.run("zpool status -P tank").stdout == before


def test_a_failed_step_ends_with_4_and_everything_is_back(product: Product) -> None:
    guest = product.guest
    blank = guest.digests(*SSDS)
    plan(product)
    with zpool_that(guest, {"add -o ashift=12 tank cache": FAIL}):
        done = product.cli("apply", PLAN, "--yes")
    assert done.code == 4, done.stderr
    assert "I/O error" in done.stdout
    assert guest.digests(*SSDS) == blank
    assert "logs" not in guest.run("zpool status tank").stdout


def test_what_can_go_neither_forward_nor_back_ends_with_5_and_can_be_undone_later(product: Product) -> None:
    guest = product.guest
    blank = guest.digests(*SSDS)
    plan(product)
    with zpool_that(guest, {"add -o ashift=12 tank cache": FAIL, "remove": FAIL}):
        done = product.cli("apply", PLAN, "--yes", "--json")
    assert done.code == 5, done.stderr
    answer = json.loads(done.stdout)
    assert answer["state"] == "attention"
    assert product.cli("undo", answer["run"], "--yes").code == 0
    assert guest.digests(*SSDS) == blank


def test_a_killed_command_leaves_an_interrupted_run_that_can_be_finished(product: Product) -> None:
    guest = product.guest
    plan(product)
    guest.run(f"nasadvisor apply {PLAN} --yes > /dev/null 2> /root/progress & echo $! > /root/pid")
    guest.run("until grep --quiet Create /root/progress; do sleep 0.1; done; kill -9 $(cat /root/pid)")
    guest.run("until nasadvisor runs | grep --quiet interrupted; do sleep 0.5; done")
    (run,) = [run["id"] for run in product.json("runs") if run["state"] == "interrupted"]
    assert f"nasadvisor finish {run}" in product.cli("show", run).stdout
    assert product.cli("finish", run, "--yes").code == 0
    assert product.cli("undo", run, "--yes").code == 0


def test_an_unplugged_terminal_does_not_stop_a_run(product: Product) -> None:
    plan(product)
    product.guest.run(f"nasadvisor apply {PLAN} --yes 2>&1 | head -n 1")
    assert product.json("runs")[0]["state"] == "applied"


def test_a_broken_pipe_is_no_traceback(product: Product) -> None:
    done = product.guest.run("nasadvisor inventory --json | head -c 1", check=False)
    assert "Traceback" not in done.stderr
