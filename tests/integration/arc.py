"""The ARC of a guest: its limits, and what caches served of what it missed."""

from collections.abc import Mapping
from typing import Final

from tests.lab.guest import Guest

PARAMETERS: Final = "/sys/module/zfs/parameters"
_KEPT_FREE: Final = f"{PARAMETERS}/zfs_arc_sys_free"
_RUN_SHORT: Final = f"echo {64 << 30} > {_KEPT_FREE}; sleep 4; echo {128 << 20} > {_KEPT_FREE}; sleep 8"
_COUNTS: Final = "grep -E '^l2_(hits|misses) ' /proc/spl/kstat/zfs/arcstats"


def set_parameters(guest: Guest, values: Mapping[str, object]) -> None:
    """Set parameters of the module, in this order."""
    guest.run("; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in values.items()))


def feed_and_limit(guest: Guest) -> dict[str, int]:
    """How fast caches are fed, and how large the ARC may become, as parameters that set both again.

    The limit is read off the ARC: zfs_arc_max may be 0, and cannot be set to that again while the module is loaded
    (zfs(4)).
    """
    most = guest.run("awk '$1 == \"c_max\" {print $3}' /proc/spl/kstat/zfs/arcstats").stdout
    feed = guest.run(f"cat {PARAMETERS}/l2arc_write_max").stdout
    return {"zfs_arc_max": int(most), "l2arc_write_max": int(feed)}


def run_short_of_memory(guest: Guest) -> None:
    """Let memory run short once.

    Until then the ARC counts as cold (arc_warm), and caches are fed from the heads of its lists, l2arc_write_boost more
    at a time (l2arc_write_size(), module/zfs/arc.c).
    """
    guest.run(_RUN_SHORT)


def counts_of_caches(guest: Guest) -> tuple[int, int]:
    """What caches served and what they did not, since the module was loaded."""
    found = dict(line.split()[::2] for line in guest.run(_COUNTS).stdout.splitlines())
    return int(found["l2_hits"]), int(found["l2_misses"])
