"""What only zdb(8) tells: what the label on a device says of its pool, and which datasets have blocks in a log."""

import re
from typing import Final

from nasadvisor.domain.change.looks import SliceLabel
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.names import GUID
from nasadvisor.host.adapters.counts import count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import CommandFailed, HostError

TIMEOUT_S: Final = 60.0
NO_LABEL: Final = 2
"""The exit code where no label could be unpacked (dump_label() in cmd/zdb/zdb.c)."""

_DATASET: Final = re.compile(r"^Dataset (\S.*?) \[", re.MULTILINE)
_CHAIN: Final = re.compile(r"^\s+ZIL header: ", re.MULTILINE)

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


def datasets_with_log_chain(runner: Runner, pool_name: str) -> frozenset[str]:
    """The datasets of a pool that have blocks in its log, or had until they were unmounted; keys need not be loaded.

    None of them where zdb cannot read a pool that is written to: OpenZFS then refuses by itself, and changes nothing.

    Raises:
        ToolMissing, CommandTimedOut
    """
    try:
        output = runner.run(Command(Tool.ZDB, ("-iv", pool_name), TIMEOUT_S))
    except CommandFailed:
        return frozenset()
    names = list(_DATASET.finditer(output.stdout))
    ends = [*(found.start() for found in names[1:]), len(output.stdout)]
    return frozenset(
        found[1] for found, end in zip(names, ends, strict=False) if _CHAIN.search(output.stdout, found.end(), end)
    )


def _label(fields: dict[str, str], path: str) -> SliceLabel:
    state, txg = count_in(fields.get("state", "")), count_in(fields.get("txg", "0"))
    guid = fields.get("guid", "")
    if state is None or txg is None or not re.fullmatch(GUID, guid):
        told = {"state": state is not None, "guid": re.fullmatch(GUID, guid), "txg": txg is not None}
        raise LabelUnreadable(path, ", ".join(name for name, is_told in told.items() if not is_told))
    return SliceLabel(state, txg, fields.get("name", "").strip("'"), fields.get("pool_guid", ""), guid)
