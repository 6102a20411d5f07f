"""Single questions to zpool(8): what an addition would do, what a vdev holds, whether disks were trimmed."""

from typing import Final

from nasadvisor.domain.change.actions import AddCache, AddLog, Slice
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.adapters.answer import Answer, count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError

HEADINGS = ("dedup", "special", "logs", "cache", "spares")
"""print_vdev_tree() in cmd/zpool/zpool_main.c."""


class DryRunDiffers(HostError):  # noqa: N818 - named for what happened
    """OpenZFS would do something else than the plan says."""

    def __init__(self, heading: str, missing: list[str], text: str) -> None:
        template = _(
            "A dry run of `zpool add` did not place {slices} under {heading} as planned. The pool was not changed. "
            "OpenZFS reported: {answer}"
        )
        super().__init__(template, slices=", ".join(missing), heading=heading, answer=text.strip())


def check_dry_run(text: str, action: AddLog | AddCache) -> None:
    """Compare the answer of the dry run with the plan.

    Raises:
        DryRunDiffers: a slice is missing from its class, or stands under another one.
    """
    heading = "logs" if isinstance(action, AddLog) else "cache"
    sections = _sections(text)
    here = sections.get(heading, set())
    elsewhere = set[str]().union(*(names for title, names in sections.items() if title != heading))
    missing = [piece.path for piece in action.pieces if _shown(piece) not in here or _shown(piece) in elsewhere]
    if missing:
        raise DryRunDiffers(heading, missing, text)


def _sections(text: str) -> dict[str, set[str]]:
    """The last path components of all names, by heading; the pool's own data vdevs stand under ""."""
    sections: dict[str, set[str]] = {"": set()}
    heading = ""
    tree = [line for line in text.splitlines() if line.startswith("\t") and line.strip()]
    for line in tree[1:]:  # the first is the pool itself, which may be called "cache"
        name = line.strip()
        if not line.startswith("\t ") and name in HEADINGS:
            heading = name
            sections.setdefault(heading, set())
        else:
            sections[heading].add(name.rsplit("/", 1)[-1])
    return sections


def _shown(piece: Slice) -> str:
    return piece.path.rsplit("/", 1)[-1]


TIMEOUT_S: Final = 60.0


def autoexpands(runner: Runner, pool_name: str) -> bool:
    """Whether a pool has autoexpand=on (zpoolprops(7)).

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    args = ("get", "-H", "-o", "value", "autoexpand", pool_name)
    return runner.run(Command(Tool.ZPOOL, args, TIMEOUT_S)).stdout.strip() != "off"


_NAME, _ALLOC = 0, 2  # columns: name, size, alloc, free, …


class VdevSizeUnknown(HostError):  # noqa: N818 - named for what happened
    """OpenZFS does not tell how much a vdev holds."""

    def __init__(self, pool_name: str, guid: str) -> None:
        template = _(
            "`zpool list -vHPpg {pool}` does not show how much data the vdev {guid} holds, so it is unknown whether "
            "it can be removed. It was left in the pool."
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
