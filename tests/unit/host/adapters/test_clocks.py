"""The clocks of the machine that the tests run on."""

from datetime import UTC, datetime

import pytest

from nasadvisor.host.adapters.procfs import is_synchronised, read_moment


def now() -> datetime:
    return datetime.now(UTC)


def test_the_time_since_the_start_goes_on_and_the_start_stays_the_same() -> None:
    first, second = read_moment(now), read_moment(now)
    assert first.boot == second.boot != ""
    assert 0 < first.up_s < second.up_s


class Kernel:
    """A C library whose adjtimex gives this answer."""

    def __init__(self, answer: int) -> None:
        self.answer = answer

    def adjtimex(self, asked: object) -> int:
        assert bytes(asked) == bytes(len(bytes(asked))), "it asks and sets nothing"  # type: ignore[call-overload]
        return self.answer


@pytest.mark.parametrize(("answer", "is_right"), [(0, True), (1, True), (4, True), (5, False), (-1, False)])
def test_a_clock_is_right_only_if_the_kernel_says_so(
    monkeypatch: pytest.MonkeyPatch, answer: int, is_right: bool
) -> None:
    monkeypatch.setattr("nasadvisor.host.adapters.procfs.ctypes.CDLL", lambda *_, **__: Kernel(answer))
    assert is_synchronised() is is_right
