"""Each service killed, hung and stopped, its disk filled and its database held, in the middle of everything at once.

What is under way each time: a run (then its undo), the sampling, a sweep of all disks, and an alert that is to be told.
A checker that knows nothing of the product's code says what was lost and when all was well again, without a hand.
The table of what was measured is written to build/faults.md.
"""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest

from tests.integration import chaos
from tests.integration.chaos import Chaos, Driver
from tests.integration.product import ROOT, Product, product
from tests.integration.test_health import SET_UP, Post, until
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["product"]

TABLE: Final = ROOT / "build" / "faults.md"
SERVICES: Final = ("redis", "web", "console", "host")
HOW: Final = {"killed": chaos.kill, "hung": chaos.hang, "stopped": chaos.stop}
FAULTS: Final = {
    **{f"{name} {how}": do(f"nasadvisor-{name}") for name in SERVICES for how, do in HOW.items()},
    **{f"all {how}": "; ".join(HOW[how](f"nasadvisor-{name}") for name in SERVICES) for how in ("killed", "hung")},
    "disk full": chaos.fill(),
    "database held": chaos.lock_database(),
}
SIDE: Final = ("/root/side0", "/root/side1")
"""Files of a pool of which one side is taken offline and online, for something to tell about."""

SAMPLE_EVERY_S: Final = 10
PING: Final = "timeout 5 redis-cli -s /run/nasadvisor/redis.sock ping"
UNDER_WAY: Final = ("requested", "applying", "undoing", "putting-back")
RECORDS: Final = "cat /var/lib/nasadvisor/host/runs/{}/journal.jsonl 2>/dev/null | wc -l"


@pytest.fixture(scope="module")
def stage(product: Product) -> Iterator[Chaos]:
    """The product with a user who is signed in; alerts are looked for and told every few seconds."""
    product.guest.reset()
    product.guest.run("rm -rf /var/lib/nasadvisor/host/runs/* /run/mails")
    post = Post(product)
    post.stop()
    post.start()
    driver = Driver(product)
    driver(f"exec({SET_UP!r})")
    stage = Chaos(product, driver, driver("cookie()"))
    guid = product.guest.run("zpool get -Hpo value guid tank").stdout.strip()
    stage.until(f"knows({guid!r})")
    TABLE.parent.mkdir(exist_ok=True)
    yield stage
    driver.close()
    post.stop()
    product.guest.run(f"zpool destroy side; rm {' '.join(SIDE)}")


def make_side(guest: Guest) -> None:
    """Make that pool anew: what flickers within three minutes is one alert, and told once."""
    guest.run(f"zpool destroy -f side; rm -f {' '.join(SIDE)}; truncate --size=64M {' '.join(SIDE)}", check=False)
    guest.run(["zpool", "create", "side", "mirror", *SIDE])


def test_a_redis_that_stands_still_is_started_anew(product: Product) -> None:
    """Proves: what systemd starts every minute notices it, and may end it although it has no privilege."""
    guest = product.guest
    before = product.state("nasadvisor-redis", "MainPID")
    guest.run(chaos.hang("nasadvisor-redis"))
    guest.run(["systemctl", "start", "nasadvisor-redis-watch.service"])
    guest.run(f"until {PING} | grep -q PONG; do sleep 1; done", timeout=60)
    assert product.state("nasadvisor-redis", "MainPID") != before


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_in_the_middle_of_everything_heals_by_itself_and_loses_samples_at_most(
    stage: Chaos, fault: str
) -> None:
    """Proves: the run and its undo end as planned or as interrupted and can be ended then; the SSD is blank again; the
    alert is told; samples are missing only between the fault and its end; no page, database or journal is damaged."""
    guest = stage.product.guest
    make_side(guest)
    blank = guest.digests("nvme0")
    serial = next(disk.serial for disk in guest.scenario.disks if disk.name == "nvme0")
    run = stage.driver(f"plan({serial!r})")
    told = Post(stage.product).told("DEGRADED")

    stage.driver(f"apply({run!r})")
    applied = middle_of(stage, run, 4, fault, alert=f"zpool offline side {SIDE[0]}")
    end_of(stage, run, "applied", "finish")
    assert stage.check("look")["slices"] == 2
    until(lambda: Post(stage.product).told("DEGRADED") > told)  # what is over before anybody looks is never told

    undone = taking_back(stage, run, fault, alert=f"zpool online side {SIDE[0]}")
    end_of(stage, run, "undone", "undo")

    stage.until("not is_any_undelivered()")
    after = stage.check("look")
    write_down(fault, applied, undone)
    assert (after["pool"], after["slices"], after["integrity"]) == ("ONLINE", 0, "ok")
    assert after["runs"][run.replace("-", "")] == "undone"
    assert all(each["is_whole"] for each in after["journals"].values())
    assert guest.digests("nvme0") == blank


def taking_back(stage: Chaos, run: str, fault: str, alert: str) -> dict[str, Any]:
    """The same fault in the middle of the undo."""
    records = int(stage.product.guest.run(RECORDS.format(run)).stdout)
    stage.driver(f"ask('undo', {run!r})")
    return middle_of(stage, run, records + 2, fault, alert)


def middle_of(stage: Chaos, run: str, records: int, fault: str, alert: str) -> dict[str, Any]:
    """Wait until a journal has so many records, begin the rest, and let the fault happen; what was lost and when it
    was well again."""
    guest = stage.product.guest
    stage.driver("sweep()")
    guest.run(f"{alert}; until [ $({RECORDS.format(run)}) -ge {records} ]; do sleep 1; done", timeout=300)
    began = stage.now()
    guest.run(FAULTS[fault], check=False, timeout=300)
    ended = stage.now()
    page = stage.check("page", stage.cookie, "/")
    found = stage.well(ended)
    print(fault, found, page[:2])
    assert None not in found.values(), found
    gap = gap_after(stage.check("look")["samples"], began)
    # A sample that was on its way, and one that began just before all was well.
    assert gap <= (ended - began) + (found["sample"] or 0) + 3 * SAMPLE_EVERY_S, gap
    return {**found, "gap": round(gap), "lasted": round(ended - began), "meanwhile": page[0]}


def gap_after(samples: list[int], began: float) -> float:
    """The longest time without a sample since shortly before a moment."""
    late = [at for at in samples if at > began - 2 * SAMPLE_EVERY_S]
    return float(max((b - a for a, b in pairwise(late)), default=0))


def end_of(stage: Chaos, run: str, state: str, way_out: str) -> None:
    """The run comes to rest. Where it was interrupted, the way out that the page offers leads there."""
    ends = time.monotonic() + chaos.PATIENCE_S
    while (found := stage.driver(f"state({run!r})")) in UNDER_WAY:
        assert time.monotonic() < ends, found
        time.sleep(2)
    if found == "interrupted":
        stage.driver(f"ask({way_out!r}, {run!r})")
        stage.until(f"state({run!r}) == {state!r}")
    else:
        assert found == state


def write_down(fault: str, *parts: dict[str, Any]) -> None:
    """A line of the table: each figure in the run and in the undo."""
    names = ("lasted", "meanwhile", "page", "sample", "doctor", "gap")
    cells = [" / ".join(f"{part[name]:.0f}" for part in parts) for name in names]
    with TABLE.open("a", encoding="utf-8") as table:
        table.write(f"| {fault} | {' | '.join(cells)} |\n")
