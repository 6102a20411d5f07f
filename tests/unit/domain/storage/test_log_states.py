"""What state a log is in, and whether logs alone ail a pool."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.refusals import PoolNotOnline
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.storage.logs import (
    all_that_ails,
    dead_log,
    is_dead,
    is_failing,
    is_out_of_service,
    was_missing_at_import,
)
from tests.unit.machines import home_server

POOL = replace(home_server().pools[0], name="tank", state="DEGRADED", logs=(), caches=())


def side(state: str, guid: str = "31", **changes: Any) -> Vdev:
    return replace(Vdev(guid, "disk", f"d{guid}", state, path=f"/dev/d{guid}"), **changes)


def mirror(*states: str) -> Vdev:
    sides = tuple(side(state, str(31 + number)) for number, state in enumerate(states))
    top = "ONLINE" if set(states) == {"ONLINE"} else "DEGRADED"
    return Vdev("30", "mirror", "mirror-1", top, children=sides)


def with_logs(*logs: Vdev) -> Pool:
    return replace(POOL, logs=logs)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (side("ONLINE"), ""),
        (side("DEGRADED"), "failing"),
        (side("OFFLINE"), "out of service"),
        *((side(state), "dead") for state in ("FAULTED", "UNAVAIL", "REMOVED", "CANT_OPEN")),
        (mirror("ONLINE", "FAULTED"), ""),
        (mirror("ONLINE", "DEGRADED"), ""),
        (mirror("DEGRADED", "FAULTED"), "failing"),
        (mirror("DEGRADED", "OFFLINE"), "failing"),
        (mirror("FAULTED", "REMOVED"), "dead"),
        (mirror("FAULTED", "OFFLINE"), "out of service"),
        (mirror("OFFLINE", "OFFLINE"), "out of service"),
    ],
)
def test_a_log_is_in_one_state_at_most(log: Vdev, told: str) -> None:
    asked = {"dead": is_dead, "failing": is_failing, "out of service": is_out_of_service}
    assert [name for name, ask in asked.items() if ask(log)] == ([told] if told else [])


@pytest.mark.parametrize(
    ("log", "was_missing"),
    [
        (side("UNAVAIL"), True),
        (side("UNAVAIL", read_errors=1), False),
        (side("UNAVAIL", write_errors=1), False),
        (side("UNAVAIL", checksum_errors=1), False),
        (side("FAULTED"), True),
        (side("FAULTED", write_errors=3), False),
        (side("FAULTED", is_forced=True), False),
        (side("REMOVED"), False),
        (side("OFFLINE"), False),
        (mirror("UNAVAIL", "UNAVAIL"), True),
        (mirror("UNAVAIL", "REMOVED"), True),
        (mirror("FAULTED", "UNAVAIL"), True),
        (mirror("REMOVED", "REMOVED"), False),
        (mirror("UNAVAIL", "ONLINE"), False),
        (replace(mirror("UNAVAIL", "UNAVAIL"), write_errors=1), False),
    ],
)
def test_only_a_log_without_errors_since_the_import_was_missing_at_it(log: Vdev, was_missing: bool) -> None:
    assert was_missing_at_import(log) is was_missing


def test_only_a_dead_log_is_found_as_one() -> None:
    pool = with_logs(side("ONLINE"), side("FAULTED", "41"))
    assert dead_log(pool, "41") == pool.logs[1]
    assert [dead_log(pool, guid) for guid in ("31", "99", pool.data[0].guid)] == [None, None, None]


def test_a_log_is_all_that_ails_a_pool_only_where_everything_else_that_counts_is_well() -> None:
    dead = side("FAULTED")
    pool = with_logs(side("ONLINE", "40"), dead)
    assert all_that_ails(pool) == dead
    sick = replace(pool.data[0].children[0], state="DEGRADED")
    data = (replace(pool.data[0], children=(sick, *pool.data[0].children[1:])), *pool.data[1:])
    for changes in ({"state": "ONLINE"}, {"state": "FAULTED"}, {"data": data}, {"specials": data}, {"dedups": data}):
        assert all_that_ails(replace(pool, **changes)) is None
    assert all_that_ails(replace(pool, caches=(sick,), spares=(sick,))) == dead


@pytest.mark.parametrize(
    ("log", "command"),
    [
        (side("FAULTED"), "`zpool remove tank 31`"),
        (mirror("FAULTED", "UNAVAIL"), "`zpool remove tank 30`"),
        (side("DEGRADED"), "`zpool offline -f tank 31`"),
        (mirror("FAULTED", "DEGRADED"), "`zpool offline -f tank 32`"),
        (side("OFFLINE"), "`zpool online tank 31`"),
        (mirror("OFFLINE", "OFFLINE"), "`zpool online tank 31 32`"),
        (mirror("ONLINE", "OFFLINE"), "`zpool online tank 32`"),
        (mirror("ONLINE", "REMOVED"), "`zpool detach tank 32`"),
    ],
)
def test_a_refusal_names_the_way_out_of_what_alone_ails_the_pool(log: Vdev, command: str) -> None:
    answer = PoolNotOnline(with_logs(log))
    assert answer.code == "pool-not-online"
    assert command in str(answer)
    assert "Repair it first" not in str(answer)


def test_where_more_ails_a_pool_no_command_is_named_for_its_log() -> None:
    assert "Repair it first" in str(PoolNotOnline(replace(with_logs(side("FAULTED")), state="UNAVAIL")))


def test_a_log_whose_sides_are_well_is_not_blamed() -> None:
    log = replace(mirror("ONLINE", "ONLINE"), state="DEGRADED")
    assert "Repair it first" in str(PoolNotOnline(with_logs(log)))
