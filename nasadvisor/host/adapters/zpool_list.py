"""Reading what one vdev of a pool holds from `zpool list -vHPpg`, which every release of OpenZFS prints alike."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.adapters.counts import count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError

TIMEOUT_S: Final = 60.0
_NAME, _ALLOC = 0, 2  # columns: name, size, alloc, free, …


class VdevSizeUnknown(HostError):  # noqa: N818 - named for what happened
    """OpenZFS does not tell how much a vdev holds."""

    def __init__(self, pool_name: str, guid: str) -> None:
        template = _(
            "`zpool list -vHPpg {pool}` does not tell how much the vdev {guid} holds, so it is not known whether it "
            "can be removed. It was left in the pool."
        )
        super().__init__(template, pool=pool_name, guid=guid)


def log_bytes(runner: Runner, pool_name: str, guid: str) -> int:
    """How much the log with this guid holds now, in bytes.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
        VdevSizeUnknown
    """
    held = held_bytes(runner, pool_name)
    if guid not in held:
        raise VdevSizeUnknown(pool_name, guid)
    return held[guid]


def held_bytes(runner: Runner, pool_name: str) -> dict[str, int]:
    """How much each vdev holds now, by its guid, in bytes; those that do not tell are left out.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    output = runner.run(Command(Tool.ZPOOL, ("list", "-vHPpg", pool_name), TIMEOUT_S))
    rows = (line.strip().split("\t") for line in output.stdout.splitlines())
    held = ((row[_NAME], count_in(row[_ALLOC])) for row in rows if len(row) > _ALLOC)
    return {name: count for name, count in held if count is not None}
