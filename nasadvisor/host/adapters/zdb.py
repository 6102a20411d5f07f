"""What only zdb(8) tells: what the label on a device says of its pool, and which datasets have blocks in a log."""

import re
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.device_scan import SliceLabel
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.names import GUID
from nasadvisor.host.adapters.counts import count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, HostError

TIMEOUT_S: Final = 60.0
NO_LABEL: Final = 2
"""The exit code where no label could be unpacked (dump_label() in cmd/zdb/zdb.c)."""

WITHOUT_CACHE_FILE: Final = "none"
DEFAULT_CACHE_FILE: Final = "-"

REPLAY_NEEDED: Final = 1
"""ZIL_REPLAY_NEEDED, include/sys/zil.h: set when a pool is imported, cleared once the dataset is mounted or its device
is made. As long as one of a pool's datasets has it, `zpool remove` of a log that holds anything fails (zil_suspend() in
module/zfs/zil.c)."""

_DATASET: Final = re.compile(r"^Dataset (\S.*?) \[(\w+)", re.MULTILINE)
_CHAIN: Final = re.compile(r"^\s+ZIL header: .*?(?:flags 0x([0-9a-f]{1,16}))?$", re.MULTILINE)

_CACHE_HEADER: Final = "L2ARC device header"
"""Behind the label of a cache; tells a pool's guid that may be out of date."""

_FIELD: Final = re.compile(r"^ {4}(\w+): (.*)$", re.MULTILINE)  # of the label itself; what it nests stands deeper


class LabelUnreadable(HostError):  # noqa: N818 - named for what happened
    """There is a label, and what zdb prints of it is not understood."""

    def __init__(self, path: str, missing: str) -> None:
        template = _(
            "The ZFS label on {path} could not be read ({missing} is missing), so it is not known whether a pool needs "
            "it. It was left alone. `zdb -l {path}` shows it."
        )
        super().__init__(template, path=path, missing=missing)


def read_label(runner: Runner, path: str) -> SliceLabel | None:
    """The label on a device, None where there is none.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
        LabelUnreadable: zdb printed something else than it does.
    """
    output = runner.run(Command(Tool.ZDB, ("-l", path), TIMEOUT_S, frozenset({0, 1, NO_LABEL})))
    labels = output.stdout.partition(_CACHE_HEADER)[0]
    fields = dict(reversed(_FIELD.findall(labels)))  # of several labels the first counts
    if not fields and output.code != 0:
        return None
    return _label(fields, path)


@dataclass(frozen=True)
class LogChain:
    """A dataset that has blocks in a log, or had until it was unmounted; `needs_replay`: they wait since the import."""

    dataset: str
    is_volume: bool
    needs_replay: bool


def log_chains(runner: Runner, pool_name: str) -> tuple[LogChain, ...]:
    """The datasets of a pool with blocks in its logs; keys need not be loaded.

    None where zdb cannot read a pool that is written to, not in time, or aborts at a block on a dead log (2.3.9 does):
    OpenZFS then refuses by itself, and changes nothing.

    Raises:
        ToolMissing
    """
    try:
        words = ("-iv", *cache_file_option(runner, pool_name), pool_name)
        text = runner.run(Command(Tool.ZDB, words, TIMEOUT_S)).stdout
    except (CommandFailed, CommandTimedOut):
        return ()
    names = list(_DATASET.finditer(text))
    ends = [*(found.start() for found in names[1:]), len(text)]
    chains = []
    for name, end in zip(names, ends, strict=False):
        chain = _CHAIN.search(text, name.end(), end)
        if chain:
            flags = int(chain[1] or "0", 16)
            chains.append(LogChain(name[1], name[2] == "ZVOL", bool(flags & REPLAY_NEEDED)))
    return tuple(chains)


def cache_file_option(runner: Runner, pool: str) -> tuple[str, ...]:
    """How zdb finds an imported pool: it looks into /etc/zfs/zpool.cache, and not every pool is in there.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    command = Command(Tool.ZPOOL, ("get", "-H", "-o", "value", "cachefile", pool), TIMEOUT_S)
    told = runner.run(command).stdout.strip()
    if told in {DEFAULT_CACHE_FILE, ""}:
        return ()
    return ("-e",) if told == WITHOUT_CACHE_FILE else ("-U", told)


def _label(fields: dict[str, str], path: str) -> SliceLabel:
    state, txg = count_in(fields.get("state", "")), count_in(fields.get("txg", "0"))
    guid = fields.get("guid", "")
    if state is None or txg is None or not re.fullmatch(GUID, guid):
        told = {"state": state is not None, "guid": re.fullmatch(GUID, guid), "txg": txg is not None}
        raise LabelUnreadable(path, ", ".join(name for name, is_told in told.items() if not is_told))
    return SliceLabel(state, txg, fields.get("name", "").strip("'"), fields.get("pool_guid", ""), guid)
