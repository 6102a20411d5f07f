"""`nasadvisor wear`: the bill of an SSD from what is watched now."""

from dataclasses import replace

import pytest

from nasadvisor.domain.fleet.platforms import Guest, PlatformReport
from nasadvisor.domain.units import GIB
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_advise import Recorded
from tests.unit.console.health.test_wear_bill import facts, hours, machine


@pytest.fixture
def written(shell: Shell) -> Shell:
    """The SSD N1 holds a pool; in each five seconds it is written what the console's tests have in an hour."""
    shell.executor.state = machine()
    [sample] = hours(1)
    shell.sampler = Recorded(replace(sample, seconds=5.0), facts())
    guests = (Guest("tank/vm-100-disk-0", "VM 100 (mail)"), Guest("tank/vm-100-disk-1", "VM 100 (mail)"))
    shell.platforms = PlatformReport("nas", shell.inventory.read_at, guests=guests)
    return shell


def test_it_prints_who_writes_and_what_to_do(written: Shell) -> None:
    result = written.run("wear", "N1", "--seconds", "20", "--price", "120:600")
    assert result.exit_code == 0, result.output
    output = " ".join(result.stdout.split())
    rows = result.stdout.partition("WRITER")[2].splitlines()[1:4]
    assert [row.split("  ")[0] for row in rows] == ["VM 100 (mail)", "tank/db", "outside of pools"]
    assert "LASTS WITHOUT IT" in output
    assert "counted by the kernel" in output
    assert "`zfs set recordsize=16K tank/db`" in output


def test_the_lines_add_up_to_what_the_kernel_counted(written: Shell) -> None:
    found = written.json("wear", "N1", "--seconds", "20")
    assert found["device_bytes"] == sum(line["device_bytes"] for line in found["lines"]) == 4 * 5 * GIB
    assert found["seconds"] == 20
    assert found["lines"][0]["kind"] == "guest"
    assert found["lines"][0]["years_without"] > 0
    assert found["advice"][0]["code"] == "wear-records"


def test_the_cost_is_that_of_its_own_wear(written: Shell) -> None:
    rows = written.json("wear", "N1", "--seconds", "20", "--price", "200")["lines"]
    for row in rows:
        assert row["cost_per_year"] == pytest.approx(2 * row["percent_per_year"])


def test_a_hard_disk_a_disk_without_a_pool_and_a_price_that_is_none_are_refused(written: Shell) -> None:
    hard = next(disk for disk in written.inventory.disks if disk.rotational)
    assert "does not wear by writing" in written.run("wear", hard.identity.serial).output
    free = written.run("wear", "N2")
    assert free.exit_code == 3
    assert "in no imported pool" in free.output
    assert written.run("wear", "N1", "--price", "cheap").exit_code == 2
