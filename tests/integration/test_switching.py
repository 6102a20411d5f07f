"""Proof by switching on real OpenZFS: carried out by the installed worker, and always ended with the cache in service.

Its periods are short by what the command line is told, and by nothing else.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.product import Product, product
from tests.integration.test_cli import PLAN, plan
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.usefixtures("clean_guest")]
__all__ = ["product"]

PAIRS, PERIOD_S, SETTLE_S = 8, 120, 60
START = ("switching", "tank", "--start", "--yes", "--pairs", str(PAIRS), "--period", "2m", "--settle", "1m")
LOOK_S = 15
LATE_S = 120
"""A look of the worker, and a switch under emulation."""

READ = (
    "zfs create -o recordsize=32k -o compression=off tank/set; "
    "fio --name=set --filename=/tank/set/a --filesize=600m --bs=32k --rw=randread --ioengine=psync --invalidate=0 "
    "--create_only=1 > /dev/null; zpool sync; "
    "nohup fio --name=set --filename=/tank/set/a --filesize=600m --bs=32k --rw=randread --ioengine=psync "
    "--invalidate=0 --randrepeat=0 --norandommap --time_based --runtime=7200 > /dev/null 2>&1 < /dev/null &"
)


@pytest.fixture
def cached(product: Product) -> Iterator[str]:
    """A pool with caches and a log, from which is read all the time; the run that gave it those."""
    plan(product)
    run = str(product.json("apply", PLAN, "--yes")["run"])
    product.guest.run(READ)
    yield run
    product.guest.run("pkill -x fio", check=False)
    product.cli("switching", "tank", "--stop")
    product.cli("undo", run, "--yes")


def states(guest: Guest) -> set[str]:
    """Of every cache of the pool."""
    lines = guest.run("zpool status tank").stdout.partition("cache\n")[2].splitlines()
    return {line.split()[1] for line in lines if len(line.split()) >= 2 and line.startswith("\t  ")}


def record(product: Product) -> Any:
    return product.json("switching", "tank")["switching"]


def wait_for(guest: Guest, wanted: set[str], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while states(guest) != wanted:
        assert time.monotonic() < deadline, guest.run("zpool status tank; journalctl -u nasadvisor-host -n 50").stdout
        time.sleep(5)


def begin(product: Product) -> None:
    """Until the caches are out of service for the first time; of two periods one is without them."""
    assert product.cli(*START).code == 0
    wait_for(product.guest, {"OFFLINE"}, 2 * PERIOD_S + LATE_S)


def test_it_is_carried_out_without_redis_and_console_and_every_pair_is_counted(product: Product, cached: str) -> None:
    """Proves: the worker switches by its own clock, counts both periods of at least half of the pairs, says what came
    of it, and ends with every cache ONLINE; each switch is a run that was taken back."""
    guest = product.guest
    guest.run("systemctl stop nasadvisor-web nasadvisor-console nasadvisor-redis")
    try:
        begin(product)
        time.sleep(2 * PAIRS * PERIOD_S)
        wait_for(guest, {"ONLINE"}, LATE_S)
    finally:
        guest.run("systemctl start nasadvisor-redis nasadvisor-web nasadvisor-console")
    found = record(product)
    print(product.cli("switching", "tank").stdout)
    assert found["ended_at"]
    assert len(found["seen"]) >= PAIRS
    switched = [run for run in product.json("runs") if run["plan"]["request"]["offline_cache"]]
    assert {run["state"] for run in switched} == {"undone"}


def test_stopped_it_is_back_at_once(product: Product, cached: str) -> None:
    begin(product)
    assert product.cli("switching", "tank", "--stop").code == 0
    assert states(product.guest) == {"ONLINE"}
    assert record(product)["ended_at"]


def test_a_worker_that_is_stopped_puts_it_back_first_and_the_doctor_says_what_is_missing(
    product: Product, cached: str
) -> None:
    guest = product.guest
    begin(product)
    guest.run("systemctl stop nasadvisor-host")
    try:
        assert states(guest) == {"ONLINE"}
        assert "nasadvisor-host.service does not run, so it may stay out of service" in " ".join(
            product.cli("doctor").stdout.split()
        )
    finally:
        guest.run("systemctl start nasadvisor-host")


def test_after_a_kill_and_a_power_cut_it_is_put_back(product: Product, cached: str) -> None:
    """Proves: with the worker killed while the cache was out, and with the power lost, the pool still has it OFFLINE;
    the next worker goes on, and what is stopped afterwards ends in service."""
    guest = product.guest
    begin(product)
    guest.run("systemctl kill --signal=KILL nasadvisor-host")
    time.sleep(LOOK_S)
    guest.run("sync")
    guest.power_cut()
    time.sleep(2 * PAIRS * PERIOD_S)  # its plan is over meanwhile
    guest.start_again()
    wait_for(guest, {"ONLINE"}, LATE_S + 300)
    assert record(product)["ended_at"]


def test_an_undo_of_what_added_the_cache_ends_it_first(product: Product, cached: str) -> None:
    begin(product)
    assert product.cli("undo", cached, "--yes").code == 0
    found = record(product)
    assert found["why_over"]["code"] == "switching-taken-back"
    assert found["ended_at"]
    assert "cache" not in product.guest.run("zpool status tank").stdout
