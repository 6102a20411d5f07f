"""What a reserve does for an SSD, on one that moves what is in use before it can erase, and on one that need not."""

import json
from collections.abc import Iterator

import pytest

from nasadvisor.domain.evidence.measuring.reserve import ReserveFigures, ReserveOrder, ReserveResult
from nasadvisor.stored.documents import from_document
from tests.integration.agent import Agent, push_source
from tests.integration.test_evidence import LEFT, cli, serial
from tests.lab.guest import Guest
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.long]

HOURS = "0.15"
SSDS = ("nvme0", "nvme1", "sata0", "sas0", "desktop", "server")


@pytest.fixture(scope="module")
def flash_guest() -> Iterator[Guest]:
    with Lab.start("flash", name="test-flash") as guest:
        push_source(guest)
        yield guest


@pytest.fixture
def flash(flash_guest: Guest) -> Iterator[Agent]:
    flash_guest.reset()
    with Agent(flash_guest) as agent:
        yield agent


def measured(agent: Agent, name: str) -> ReserveResult:
    """What `nasadvisor reserve` says of the SSD."""
    args = ("reserve", "tank", "--disk", serial(agent, name), "--hours", HOURS, "--yes", "--json")
    document = json.loads(agent.guest.run(cli(*args), timeout=1800).stdout)
    return ReserveResult(
        from_document(ReserveOrder, document["order"]),
        document["disk"],
        document["at"],
        tuple(from_document(ReserveFigures, each) for each in document["figures"]),
    )


def test_a_reserve_is_worth_it_on_the_ssd_that_moves_and_on_the_other_not(flash: Agent) -> None:
    """Proves: the less of a desktop's SSD is left free the slower it stays, it is said so, and nothing is left on it.

    On an SSD with twice as much flash again behind what it holds, the same test finds nothing to gain.
    """
    before = flash.guest.digests(*SSDS)
    desktop, server = (measured(flash, name) for name in ("desktop", "server"))
    for each in (*desktop.figures, *server.figures):
        print(each)
    print(desktop.finding, server.finding, sep="\n")
    half, some, little = desktop.figures
    assert half.later_bytes_per_s > some.later_bytes_per_s > 1.3 * little.later_bytes_per_s
    assert desktop.finding.code == "reserve-gains"
    assert server.finding.code == "reserve-little"
    assert flash.guest.run(LEFT).stdout.strip() == ""
    assert flash.guest.digests(*SSDS) == before


def test_killed_in_the_middle_it_leaves_a_record_by_which_the_slice_goes(flash: Agent) -> None:
    """Proves: after kill -9 during the hours of the test, the next command makes the SSD as it was."""
    before = flash.guest.digests(*SSDS)
    args = ("reserve", "tank", "--disk", serial(flash, "server"), "--hours", "0.01", "--yes")
    flash.guest.run(f"timeout -s KILL 45 sh -c '{cli(*args)}'", check=False)
    flash.guest.run("while pgrep -x fio > /dev/null; do sleep 0.5; done")
    flash.guest.run(cli("probe", "tank", "--yes", "--seconds", "1"), timeout=600)
    assert flash.guest.run(LEFT).stdout.strip() == ""
    assert flash.guest.digests(*SSDS) == before
