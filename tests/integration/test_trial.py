"""Trials on real OpenZFS: taken back by the host's own worker, over a power cut and without Redis, and not if kept."""

import time

import pytest

from nasadvisor.domain.change.trial import AFTER_START_S
from tests.integration.product import Product, product
from tests.integration.test_cli import PLAN, SSDS, plan
from tests.integration.test_stories import CHECK, PHOTOS

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.usefixtures("clean_guest")]
__all__ = ["product"]

ENDS_WITHIN_S = AFTER_START_S + 600
"""After a start: the wait, a look every 15 s, and an undo, all of it under emulation."""


def on_trial(product: Product, length: str) -> str:
    """A mirrored log and two caches, to be taken back after so long; the run."""
    plan(product)
    answer = product.json("apply", PLAN, "--yes", "--trial", length)
    assert answer["state"] == "applied"
    assert answer["trial_until"]
    return str(answer["run"])


def state_of(product: Product, run: str) -> str:
    return str(product.json("show", run)["state"])


def wait_until_undone(product: Product, run: str) -> None:
    deadline = time.monotonic() + ENDS_WITHIN_S
    while state_of(product, run) != "undone":
        assert time.monotonic() < deadline, product.cli("show", run).stdout
        time.sleep(10)


def wait_over_the_end() -> None:
    """Until a worker that started just now has looked at its trials twice, and a trial of a minute is over."""
    time.sleep(AFTER_START_S + 60)


def test_after_a_power_cut_the_host_takes_it_back_soon_after_its_start_and_not_at_once(product: Product) -> None:
    """Proves: the deadline passes while the machine is off; after its start the run is still there, then it is undone,
    the SSDs are blank, the pool is well and every byte is there."""
    guest = product.guest
    blank = guest.digests(*SSDS)
    guest.run(PHOTOS + "sync; zpool sync tank")
    run = on_trial(product, "2m")
    guest.run("sync")
    guest.power_cut()
    time.sleep(120)
    guest.start_again()
    assert state_of(product, run) == "applied"
    assert "on trial until" in product.cli("runs").stdout
    wait_until_undone(product, run)
    shown = product.json("show", run)
    assert shown["trial"]["ended_at"] > shown["trial"]["until"]
    guest.run(CHECK)
    assert "logs" not in guest.run("zpool status tank").stdout
    assert guest.digests(*SSDS) == blank


def test_without_redis_and_console_the_host_takes_it_back_all_the_same(product: Product) -> None:
    guest = product.guest
    blank = guest.digests(*SSDS)
    run = on_trial(product, "1m")
    guest.run("systemctl restart nasadvisor-host")
    guest.run("systemctl stop nasadvisor-web nasadvisor-console nasadvisor-redis")
    try:
        wait_until_undone(product, run)
    finally:
        guest.run("systemctl start nasadvisor-redis nasadvisor-web nasadvisor-console")
    assert guest.digests(*SSDS) == blank


def test_what_was_kept_stays_over_its_end_and_a_restart(product: Product) -> None:
    guest = product.guest
    blank = guest.digests(*SSDS)
    run = on_trial(product, "1m")
    assert product.cli("keep", run).code == 0
    guest.run("systemctl restart nasadvisor-host")
    wait_over_the_end()
    assert state_of(product, run) == "applied"
    assert "logs" in guest.run("zpool status tank").stdout
    assert product.cli("undo", run, "--yes").code == 0
    assert guest.digests(*SSDS) == blank


def test_a_checkpoint_at_the_end_stops_the_undo_and_nothing_is_tried_again(product: Product) -> None:
    guest = product.guest
    run = on_trial(product, "1m")
    guest.run("zpool checkpoint tank")
    guest.run("systemctl restart nasadvisor-host")
    wait_over_the_end()
    shown = product.json("show", run)
    assert shown["state"] == "applied"
    assert shown["trial"]["ended_at"]
    assert [refusal["code"] for refusal in shown["refusals"]] == ["pool-checkpoint"] * len(shown["refusals"])
    guest.run("zpool checkpoint --discard --wait tank")
    time.sleep(60)
    assert state_of(product, run) == "applied"
    assert product.cli("undo", run, "--yes").code == 0
