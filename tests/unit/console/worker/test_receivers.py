"""Shares of the hosts, and when a process counts as well; the processes themselves are in tests/remote."""

import time
from collections import Counter
from ctypes import c_double

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.console.worker.inbox import Share
from nasadvisor.console.worker.receivers import STANDS_STILL_S, Other


@given(st.text(), st.integers(1, 64))
def test_every_host_is_in_one_share_and_in_no_other(node: str, processes: int) -> None:
    assert sum(Share(number, processes).has(node) for number in range(processes)) == 1


def test_one_process_has_all() -> None:
    assert all(Share().has(f"nas{number}") for number in range(100))


@pytest.mark.parametrize("processes", [2, 4, 8])
def test_the_shares_of_many_hosts_are_about_equal(processes: int) -> None:
    shares = [Share(number, processes) for number in range(processes)]
    names = [f"nas{number:03d}" for number in range(500)]
    sizes = Counter(share.number for name in names for share in shares if share.has(name))
    assert len(sizes) == processes
    assert max(sizes.values()) < 1.2 * len(names) / processes


class Process:
    """Of the machine, as far as is asked for it."""

    def __init__(self, *, is_running: bool) -> None:
        self.is_running = is_running

    def is_alive(self) -> bool:
        return self.is_running


@pytest.mark.parametrize(("is_running", "since_s", "is_well"), [
    (True, 1, True),
    (True, STANDS_STILL_S + 1, False),
    (False, 1, False),
])  # fmt: skip
def test_a_process_is_well_while_it_goes_round(is_running: bool, since_s: float, is_well: bool) -> None:
    process = Process(is_running=is_running)
    assert Other(process, c_double(time.monotonic() - since_s)).is_well is is_well  # type: ignore[arg-type]
