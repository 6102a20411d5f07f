"""Counters, probes and tests of SSDs on real OpenZFS: formats, and nothing left behind after kill -9."""

import json
from datetime import datetime

import pytest

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import merge
from nasadvisor.domain.evidence.tracing import by_program
from nasadvisor.host.adapters.bpftrace import COMMIT_FLAGS, FLAGS_SCRIPT, WAITING_SCRIPT, parse_waiting
from nasadvisor.stored.documents import from_document
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


def test_tracing_tells_who_waits_how_long_and_who_is_not_obeyed(agent: Agent) -> None:
    """Proves: what bpftrace tells of this kernel and this OpenZFS is what the programs themselves count and time."""
    guest = agent.guest
    guest.run("zfs create tank/db && zfs create -o sync=disabled tank/scratch && cp /usr/bin/fio /root/disobeyed")
    writer = python_in_guest("wait_for_commits", "postgres", "/tank/db/file", "0.1")
    guest.run(f"nohup sh -c '{writer}' > /root/postgres.json 2>&1 < /dev/null & echo $! > /root/postgres.pid")
    load = "--name=x --ioengine=psync --rw=randwrite --bs=4k --filesize=4m --fsync=1 --rate_iops=10 --time_based"
    guest.run(f"nohup /root/disobeyed {load} --runtime=900 --directory=/tank/scratch > /dev/null 2>&1 < /dev/null &")
    one = "dd if=/dev/zero of=/tank/db/dd bs=4k count=1 oflag=dsync conv=notrunc"
    guest.run(f"nohup sh -c 'while {one}; do sleep 1; done' > /dev/null 2>&1 < /dev/null & echo $! > /root/loop.pid")
    args = ("advise", "tank", "--programs", "--seconds", "20", "--every", "10", "--json")
    waiting = json.loads(guest.run(cli(*args), timeout=600).stdout)["waiting"]
    guest.run("kill $(cat /root/loop.pid /root/postgres.pid); pkill -TERM -x disobeyed; sleep 5", check=False)
    by_name = {each["program"]: each for each in waiting["programs"]}
    postgres, disobeyed, dd = by_name["postgres"], by_name["disobeyed"], by_name["dd"]
    end_s = datetime.fromisoformat(waiting["at"]).timestamp() + 1
    waits = json.loads(guest.run("cat /root/postgres.json").stdout)["waits"]
    by_itself = [wait_s for at_s, wait_s in waits if end_s - waiting["seconds"] - 1 < at_s <= end_s]
    print(waiting, f"by itself {sum(by_itself):.2f} s in {len(by_itself)}")
    assert postgres["fsyncs"] == pytest.approx(len(by_itself), rel=0.3)
    assert postgres["commits"] == pytest.approx(postgres["fsyncs"], abs=5)
    assert 0.4 < postgres["waited_ns"] / postgres["ended"] / (sum(by_itself) / len(by_itself) * 1e9) < 1.2
    assert disobeyed["fsyncs"] == pytest.approx(10 * waiting["seconds"], rel=0.3)
    assert disobeyed["commits"] == 0
    assert (dd["fsyncs"], dd["processes"]) == (0, dd["commits"])
    assert dd["commits"] >= 5


@pytest.mark.long
def test_the_script_for_openzfs_2_4_counts_a_commit_within_a_commit_once(agent: Agent) -> None:
    """Proves: bpftrace takes it, and told of the function within zil_commit() that this OpenZFS has, it counts what the
    script for this OpenZFS does beside it."""
    guest = agent.guest
    assert not guest.run(f"grep ' {COMMIT_FLAGS}' /proc/kallsyms", check=False).stdout
    scripts = {
        "plain": WAITING_SCRIPT.read_text(),
        "flags": FLAGS_SCRIPT.read_text().replace(COMMIT_FLAGS, "zil_commit_impl"),
    }
    for name, script in scripts.items():
        guest.run(f"cat > /root/{name}.bt", stdin=script.encode())
        guest.run(f"nohup bpftrace -q -f json /root/{name}.bt 60 > /root/{name}.json 2> /dev/null < /dev/null &")
    one = "dd if=/dev/zero of=/tank/file bs=4k count=2 conv=notrunc status=none"
    guest.run(f"sleep 30; for n in $(seq 10); do {one} oflag=dsync; {one} conv=fsync; done")
    guest.run("while pgrep -x bpftrace > /dev/null; do sleep 1; done")
    told = [by_program(parse_waiting(guest.run(f"cat /root/{name}.json").stdout)) for name in scripts]
    plain, flags = (next(each for each in programs if each.program == "dd") for programs in told)
    print(plain, flags)
    assert (plain.fsyncs, plain.commits, plain.ended) == (10, 30, 30)
    assert (flags.fsyncs, flags.commits, flags.ended) == (10, 30, 30)
    assert flags.waited_ns == pytest.approx(plain.waited_ns, rel=0.05)


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
