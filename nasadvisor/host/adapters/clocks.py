"""The clocks of this machine."""

import ctypes
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.trial import Moment
from nasadvisor.host.adapters.procfs import text_or_nothing

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
"""A UUID that the kernel makes anew at each start (random(4))."""

_TIME_ERROR: Final = 5
"""adjtimex(2): the clock is not synchronised to a server, or worse."""

_TIMEX_BYTES: Final = 512
"""More than `struct timex` has on any architecture; all zero, `modes` among it, it asks and sets nothing."""


def read_moment(clock: Callable[[], datetime]) -> Moment:
    """All clocks at once; `clock` tells UTC."""
    up_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return Moment(text_or_nothing(BOOT_ID), up_s, clock(), is_synchronised())


def is_synchronised() -> bool:
    """Whether a time source keeps the wall clock right, by what the kernel says; no where it may not be asked."""
    answer = int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))
    return 0 <= answer < _TIME_ERROR
