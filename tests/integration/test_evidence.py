"""Counters, probes and tests of SSDs on real OpenZFS: formats, and nothing left behind after kill -9."""

import json

import pytest

from nasadvisor.documents import from_document
from nasadvisor.domain.reading import Reading
from nasadvisor.domain.samples import merge
from tests.integration.agent import PYTHON, SOURCE, Agent, python_in_guest
from tests.integration.wishes import SSDS, pool_of

pytestmark = pytest.mark.lab

WRITE = "dd if=/dev/urandom of=/tank/db/file bs=16k count=1 oflag=sync"
WRITER = f"zfs create tank/db; for n in $(seq 1000); do {WRITE}; done"
LEFT = "zfs list -H -o name | grep nasadvisor-probe || true; ls /var/lib/nasadvisor/host/probes; pgrep -x fio || true"


def cli(*args: str) -> str:
    """The shell command that runs the command line from the source."""
    return f"cd {SOURCE} && exec {PYTHON} -m nasadvisor.cli {' '.join(args)}"


def serial(agent: Agent, name: str) -> str:
    return next(disk.serial for disk in agent.guest.scenario.disks if disk.name == name)


def test_samples_of_a_real_pool_count_what_was_done_on_it(agent: Agent) -> None:
    """Proves: kstats, iostat and disk counters of this OpenZFS are read right, and cost little."""
    command = f"({WRITER}) > /dev/null 2>&1 & {python_in_guest('record_samples', '20', '4')}"
    lines = agent.guest.run(command, timeout=300).stdout.splitlines()
    readings = [from_document(Reading, json.loads(line)["reading"]) for line in lines]
    costs = [json.loads(line)["process_s"] for line in lines]
    facts = next(each for reading in readings for each in reading.facts)
    sample = merge(each for reading in readings for each in reading.samples)
    leaves = {leaf.guid for top in pool_of(agent).data for leaf in top.leaves()}
    assert {leaf.guid for leaf in facts.leaves} == leaves
    assert all(leaf.disk and leaf.rotational for leaf in facts.leaves)
    assert facts.tunables.most_in_log_bytes > 0
    [dataset] = [each for each in sample.datasets if each.name == "tank/db"]
    assert dataset.commits >= 30
    assert dataset.sync_bytes >= dataset.commits * 16384 * 0.9
    assert {vdev.guid for vdev in sample.vdevs} == leaves
    assert sum(vdev.sync_writes for vdev in sample.vdevs) > 0
    assert sum(vdev.writes.total for vdev in sample.vdevs) > 0
    assert sum(disk.writes for disk in sample.disks) > 0
    assert sample.txgs.total > 0
    assert sample.levels.arc_most_bytes > 0
    print(f"a reading costs {sum(costs) / len(costs):.3f} s of processor time under emulation, children included")


@pytest.mark.long
@pytest.mark.parametrize("seconds", [6, 11, 17, 25])
def test_a_probe_killed_at_any_moment_leaves_no_dataset_and_no_process(agent: Agent, seconds: int) -> None:
    guest = agent.guest
    guest.run(f"timeout -s KILL {seconds} sh -c '{cli('probe', 'tank', '--yes', '--seconds', '2')}'", check=False)
    guest.run("sleep 4")  # a fio that was left alone ends within its run time
    again = guest.run(cli("probe", "tank", "--yes", "--seconds", "1", "--json"), timeout=600)
    assert json.loads(again.stdout)["probe"]["figures"]
    assert guest.run(LEFT).stdout.strip() == ""


@pytest.mark.long
@pytest.mark.parametrize("seconds", [30, 45, 60])
def test_a_test_of_an_ssd_killed_at_any_moment_leaves_no_slice(agent: Agent, seconds: int) -> None:
    guest = agent.guest
    blank = guest.digests(*SSDS)
    args = ("probe", "tank", "--disk", serial(agent, "nvme0"), "--size", "1", "--yes", "--seconds", "1")
    guest.run(f"timeout -s KILL {seconds} sh -c '{cli(*args)}'", check=False)
    guest.run("sleep 4")
    guest.run(cli("probe", "tank", "--yes", "--seconds", "1"), timeout=600)
    assert guest.run(LEFT).stdout.strip() == ""
    key = serial(agent, "nvme0")
    [disk] = [disk for disk in agent.inventory().disks if disk.identity.serial == key]
    assert disk.partitions == ()
    after = guest.digests(*SSDS)
    assert {name: digest for name, digest in after.items() if name != "nvme0"} == {
        name: digest for name, digest in blank.items() if name != "nvme0"
    }
