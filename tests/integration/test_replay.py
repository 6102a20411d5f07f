"""Commits of a pool, replayed on an SSD, on real OpenZFS: what was said of the SSD, and what a log on it then does."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import from_document
from tests.integration.agent import Agent
from tests.integration.test_evidence import cli, serial
from tests.integration.wishes import keys_of, pool_of
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.usefixtures("sourced_guest")]

SLOWER = 1.5
"""The replay may be so much slower than the log then is: under emulation two minutes of one machine differ by that."""

FIO = (
    "fio --name=load --directory=/tank/load --filesize=16m --bs=4k --ioengine=psync --rw=randwrite --fsync=1 "
    "--time_based --runtime=3600 --group_reporting"
)
LOADS = {
    "one writer of 4 KiB": "--numjobs=1 --thinktime=60ms",
    "four writers of 16 KiB": "--numjobs=4 --bs=16k --thinktime=160ms",
}


@contextmanager
def load(guest: Guest, options: str) -> Iterator[None]:
    """Programs that commit, meanwhile."""
    guest.run(f"nohup {FIO} {options} > /root/load.out 2>&1 < /dev/null & echo $! > /root/load.pid; sleep 5")
    try:
        yield
    finally:
        guest.run("kill $(cat /root/load.pid); while pgrep -x fio > /dev/null; do sleep 0.2; done")


def followed(guest: Guest, options: str) -> CommitTrace:
    """What `nasadvisor commits` says of this load."""
    with load(guest, options):
        answer = guest.run(cli("commits", "tank", "--minutes", "1", "--json"), timeout=900).stdout
    return from_document(CommitTrace, json.loads(answer))


def replayed(agent: Agent, name: str) -> Any:
    """What `nasadvisor probe` says of an SSD, of the commits that were followed."""
    args = ("probe", "tank", "--disk", serial(agent, name), "--size", "2", "--seconds", "2", "--yes", "--json")
    return json.loads(agent.guest.run(cli(*args), timeout=1200).stdout)["candidate"]["replayed"]


@contextmanager
def log_on(agent: Agent, name: str) -> Iterator[None]:
    """A log on the SSD, by a plan of the product that is undone afterwards."""
    run = agent.apply(agent.plan(PlanRequest(pool_of(agent).guid, keys_of(agent, name), 2 * GIB)))
    assert run.state is RunState.APPLIED
    try:
        yield
    finally:
        assert agent.undo(run.id).state is RunState.UNDONE


@pytest.mark.parametrize("name", LOADS)
def test_all_that_was_committed_is_replayed_and_a_log_needs_no_less_for_it(agent: Agent, name: str) -> None:
    """Proves: a pool's commits are followed and replayed on an SSD, and a log on that SSD is no faster than that.

    How much slower it is, is printed: that is what OpenZFS itself needs, which under emulation is most of it.
    """
    guest, options = agent.guest, LOADS[name]
    guest.run("zfs create -o compression=off tank/load")
    before = followed(guest, options)
    assert before.is_enough
    assert before.blocks >= len(before.busiest.sizes)
    found = replayed(agent, "nvme0")
    with log_on(agent, "nvme0"):
        after = followed(guest, options)
    for what, now, then in (("p50", found["p50_ns"], after.p50_ns), ("p99", found["p99_ns"], after.p99_ns)):
        print(
            f"{name}: {what} replayed {now / 1e6:.2f} ms, with a log {then / 1e6:.2f} ms, off by {now / then - 1:+.0%}"
        )
    print(f"before: {before.p50_ns / 1e6:.2f} ms, {before.p99_ns / 1e6:.2f} ms; {found}")
    assert found["blocks"] == len(before.busiest.sizes)
    assert found["written_bytes"] == before.busiest.bytes
    assert found["p50_ns"] < SLOWER * after.p50_ns
