"""Whether the disks of a pool were ever trimmed, from `zpool status -j -t` (OpenZFS 2.3 and later)."""

from typing import Final

from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.process import Command, Runner, Tool

TIMEOUT_S: Final = 60.0
_NEVER: Final = "UNTRIMMED"


def was_trimmed(runner: Runner, pool_name: str) -> bool | None:
    """Whether any leaf was trimmed, as the pool remembers for good; None where none can be, or that is not told.

    A leaf that cannot be trimmed has no `trim_state` (`vdev_stats_nvlist()` in cmd/zpool/zpool_main.c).

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
        OutputUnreadable
    """
    command = Command(Tool.ZPOOL, ("status", "-j", "-t", "-P", "-p", pool_name), TIMEOUT_S)
    answer = Answer.of(str(command), runner.run(command).stdout)
    states = set(_states(answer.need("pools").need(pool_name)))
    return bool(states - {_NEVER}) if states else None


def _states(node: Answer) -> list[str]:
    """Of the vdevs that hold data; caches and logs are not worth a word."""
    found = [node.text("trim_state")] if "trim_state" in node.fields else []
    for kind in ("vdevs", "special", "dedup"):
        for _name, child in node.children(kind):
            found += _states(child)
    return found
