"""Asking for one property of a pool."""

from typing import Final

from nasadvisor.host.adapters.process import Command, Runner, Tool

TIMEOUT_S: Final = 60.0


def autoexpands(runner: Runner, pool_name: str) -> bool:
    """Whether a pool has autoexpand=on (zpoolprops(7)).

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    args = ("get", "-H", "-o", "value", "autoexpand", pool_name)
    return runner.run(Command(Tool.ZPOOL, args, TIMEOUT_S)).stdout.strip() != "off"
