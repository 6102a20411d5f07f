"""Tools that lie or hang and disks that take no journal: a sentence, and not a byte changed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.storage.inventory import Pool
from tests.integration.agent import Agent, HostSaid
from tests.integration.wishes import SSDS, mirror_and_caches, single_log, without_cache
from tests.integration.wrong_tools import zpool_that
from tests.lab.guest import Guest

pytestmark = pytest.mark.lab

STATUS = "status -j"
LIES = {
    "truncated": ('$REAL "$@" | head -c 700', "could not be interpreted"),
    "empty": ("true", "could not be interpreted"),
    "no JSON": ("echo internal error: out of cheese", "could not be interpreted"),
    "another shape": ("echo '{\"pools\": [1, null]}'", "could not be interpreted"),
    "hanging": ("sleep 1000", "did not finish within"),
}


OTHERS = [lie for lie in LIES if lie not in ("truncated", "hanging")]


@pytest.mark.parametrize(
    "lies",
    [pytest.param(("truncated", "hanging"), id="quick"), pytest.param(OTHERS, id="others", marks=pytest.mark.long)],
)
def test_a_zpool_that_lies_or_hangs_is_a_sentence_and_nothing_is_changed(agent: Agent, lies: Sequence[str]) -> None:
    """Proves: a plan that was good is not applied when the pools cannot be read, and the SSDs stay blank."""
    wish = mirror_and_caches(agent, "nvme0", "nvme1")
    before = agent.guest.digests(*SSDS)
    for lie in lies:
        answer, sentence = LIES[lie]
        plan = agent.plan(wish)
        with zpool_that(agent.guest, {STATUS: answer}):
            run = agent.apply(plan)
        assert run.state is RunState.REFUSED, lie
        assert [refusal.code for refusal in run.refusals] == ["host-unreadable"], lie
        assert sentence in str(run.refusals[0])
        assert agent.guest.digests(*SSDS) == before, lie
    assert not agent.refusals(wish)


def without_usage(agent: Agent) -> list[Pool]:
    """The pools, but for the space in use: it changes from one moment to the next."""
    return [replace(pool, allocated_bytes=0) for pool in agent.inventory().pools]


def test_a_field_that_nobody_knows_yet_changes_nothing(agent: Agent) -> None:
    """Proves: a newer OpenZFS that says more is read as before."""
    known = without_usage(agent)
    more = '$REAL "$@" | sed \'s/"state":/"mood": "fine", "state":/g\''
    with zpool_that(agent.guest, {STATUS: more}):
        assert without_usage(agent) == known


@contextmanager
def journals_on(guest: Guest, state: str, options: str) -> Iterator[None]:
    """A small file system of its own for the journals."""
    guest.run(f"mount -t tmpfs -o {options} tmpfs {state}")
    try:
        yield
    finally:
        guest.run(f"umount {state}")


def test_without_room_for_a_journal_nothing_is_begun(agent: Agent) -> None:
    """Proves: a full disk and a read-only state directory refuse the run before its first step."""
    plan = agent.plan(without_cache(single_log(agent, "nvme0")))
    before = agent.guest.digests(*SSDS)
    for options, sentence in (("size=64k", "disk is full"), ("ro", "Read-only file system")):
        with journals_on(agent.guest, agent.ask("state"), options), pytest.raises(HostSaid, match=sentence):
            agent.apply(plan)
        assert agent.guest.digests(*SSDS) == before
    assert agent.apply(plan).state is RunState.APPLIED
