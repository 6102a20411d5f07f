"""Spells on real OpenZFS: whether they tell what one trace of all the time tells, and what they cost."""

import json

import pytest

from nasadvisor.domain.evidence.spells import PoolSpells, Stratum
from nasadvisor.domain.evidence.waited import Waited
from nasadvisor.domain.units import DAY_S
from nasadvisor.host.evidence.spell_pace import BUDGET, Pace
from nasadvisor.stored.documents import from_document
from tests.integration.agent import Agent, python_in_guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

SPELLS = 18
"""A spell takes about half a minute under emulation, beside other tests more than one."""


def test_spells_tell_what_is_waited_all_the_time_for_which_dataset_and_within_their_budget(agent: Agent) -> None:
    """Proves: what spells say of a writer's waiting is within a tenth of what a trace of all of it tells; the dataset
    is named right; and at what the kernel counted of each, a day of them takes half a percent of a core at the most.
    """
    guest = agent.guest
    guest.run("zfs create tank/db && zfs create tank/files")
    for name, dataset, pause_s in (("postgres", "db", "0.03"), ("nfsd", "files", "0.4")):
        writer = python_in_guest("wait_for_commits", name, f"/tank/{dataset}/file", pause_s)
        guest.run(f"nohup sh -c '{writer}' > /root/{name}.json 2>&1 < /dev/null & echo $! > /root/{name}.pid")
    lines = guest.run(python_in_guest("trace_spells", str(SPELLS)), timeout=3600).stdout.splitlines()
    guest.run("kill $(cat /root/postgres.pid /root/nfsd.pid); sleep 5", check=False)
    by_itself = json.loads(guest.run("cat /root/postgres.json").stdout)
    by_itself["waits"] = len(by_itself["waits"])
    told = json.loads(lines[-1])
    print(*lines, by_itself, sep="\n")
    found, sums = from_document(Waited, told["waited"]), from_document(PoolSpells, told["sums"])

    whole = next(each for each in told["all"] if each["program"] == "postgres")
    calls = sum(each["calls"] for each in told["all"])
    truly_s = whole["waited_ns"] / 1e9 / calls * (sums.busy.counted + sums.quiet.counted)
    postgres = found.named[0]
    said_s = postgres.wait.likely_s / DAY_S * found.seconds
    print(f"postgres: {said_s:.1f} s by {found.spells} spells, {truly_s:.1f} s by the whole trace, off by", end=" ")
    print(f"{said_s / truly_s - 1:.1%}; said {postgres.wait}; {by_itself['waited_s']:.1f} s by itself", end=" ")
    print(f"in {by_itself['seconds']:.0f} s; a spell costs {sum(told['costs_s']) / len(told['costs_s']):.2f} s")
    assert (postgres.program, postgres.dataset) == ("postgres", "tank/db")
    assert said_s == pytest.approx(truly_s, rel=0.1)
    assert {(each.program, each.dataset) for each in found.named} >= {("postgres", "tank/db"), ("nfsd", "tank/files")}
    own_share = by_itself["waited_s"] / by_itself["seconds"]
    assert 0.7 < postgres.wait.likely_s / DAY_S / own_share < 1.1  # fsync() does more than wait for the ZIL

    pace, spent, spells = Pace(), 0.0, 0
    for _ in range(DAY_S // 10):
        pace.go_on(10, Stratum.BUSY)
        if pace.is_due:
            cost_s = told["costs_s"][spells % len(told["costs_s"])]
            pace.pay(cost_s)
            spent, spells = spent + cost_s, spells + 1
    print(f"{spells} spells a day cost {spent / DAY_S:.2%} of a core of this machine")
    assert spent - max(told["costs_s"]) <= BUDGET * DAY_S
