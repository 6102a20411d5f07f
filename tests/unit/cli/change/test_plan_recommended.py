"""`nasadvisor plan --recommended`: the wizard's own defaults, from a look at this moment."""

import json
from dataclasses import replace

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.fleet.platforms import PlatformReport, Veto
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Bus
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_advise import Recorded
from tests.unit.domain.builders import mirrored_log
from tests.unit.domain.evidence.pools import async_writers, facts, sync_writers
from tests.unit.machines import NVME1, NVME2, home_server, ssd, with_single_log


@pytest.fixture
def busy(shell: Shell) -> Shell:
    """A pool on which programs wait for synchronous writes."""
    shell.sampler = lambda: Recorded(sync_writers(seconds=5), facts())
    return shell


def planned(shell: Shell, *options: str) -> Plan:
    return from_document(Plan, shell.json("plan", "--recommended", "tank", *options)["plan"])


def test_it_plans_only_what_helps_at_the_measured_size(busy: Shell) -> None:
    request = planned(busy).request
    assert request.log_disks == (NVME1, NVME2)
    assert request.log_size_bytes == busy.json("advise", "tank")["recommended"]["log"]["bytes"]
    assert request.cache_disks == ()
    assert request.reserve_percent == 10


def test_it_says_what_it_went_by_and_why_there_is_no_cache(busy: Shell) -> None:
    result = busy.run("plan", "--recommended", "tank", "--seconds", "22")
    assert result.exit_code == 0, result.output
    assert busy.waited == [5, 5, 5, 5, 2]
    assert "Watching pool tank for 22 s" in result.stderr
    assert "No cache: " in result.stderr
    assert "Not proposed: Ultra Fit (U3) is connected by USB." in result.stderr


def test_two_identical_nvme_ssds_are_taken_and_not_a_sata_one(busy: Shell) -> None:
    sata = ssd("0x5002538e40a6ff01", "Samsung SSD 860 EVO", "A1", 500 * GIB, Bus.SATA, "sdy")
    busy.executor.state = replace(home_server(), disks=(sata, *home_server().disks))
    assert planned(busy).request.log_disks == (NVME1, NVME2)


def test_where_nothing_helps_there_is_no_plan_and_it_says_why(shell: Shell) -> None:
    shell.sampler = Recorded(async_writers(seconds=5), facts())
    plan_file = shell.root / "plan.json"
    result = shell.run("plan", "--recommended", "tank", "--output", plan_file)
    assert result.exit_code == 3
    assert "Nothing to add to pool tank." in result.stderr
    assert "No log: No program asked for synchronous writes" in result.stderr
    assert not plan_file.exists()


def test_in_json_it_says_so_too(shell: Shell) -> None:
    shell.sampler = Recorded(async_writers(seconds=5), facts())
    result = shell.run("plan", "--recommended", "tank", "--json")
    assert result.exit_code == 3
    assert "Nothing to add to pool tank." in json.loads(result.stdout)["error"]


def test_a_pool_with_a_mirrored_log_gets_no_second_one(busy: Shell) -> None:
    busy.executor.state = mirrored_log()[0]
    result = busy.run("plan", "--recommended", "tank")
    assert result.exit_code == 3
    assert "No log: Pool tank already has a log." in result.stderr


def test_a_single_log_gets_its_second_side(busy: Shell) -> None:
    busy.executor.state = with_single_log()
    assert (planned(busy).request.attach_to, planned(busy).request.log_disks) == ("31", (NVME2,))


def test_an_ssd_that_a_platform_forbids_is_left_out(busy: Shell) -> None:
    veto = Veto(Refused("vm", "A guest uses it."), NVME1)
    busy.platforms = PlatformReport("nas", "2026-08-25T20:15:00+00:00", vetoes=(veto,))
    result = busy.run("plan", "--recommended", "tank")
    assert result.exit_code == 3
    assert "Not proposed: A guest uses it." in result.stderr
    assert "needs two suitable free SSDs; found: 1." in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--log", "N1", "--log-size", "4G"), "Omit --log, --log-size."),
        (("--reserve", "20%"), "Omit --reserve."),
        (("--pool", "tank"), "Omit --pool."),
    ],
)
def test_ssds_and_sizes_are_not_chosen_beside_it(busy: Shell, options: tuple[str, ...], sentence: str) -> None:
    result = busy.run("plan", "--recommended", "tank", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert busy.waited == []


def test_the_names_of_the_slices_can_be_chosen(busy: Shell) -> None:
    assert planned(busy, "--naming", "by-id").request.naming == "by-id"


def test_without_it_a_pool_must_be_named_and_nothing_is_watched(busy: Shell) -> None:
    assert "Say which pool, with --pool or --recommended." in busy.run("plan", "--log", "N1").stderr
    assert "--seconds needs --recommended." in busy.run("plan", "--pool", "tank", "--seconds", "30").stderr
