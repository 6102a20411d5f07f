"""Reading which datasets of a pool have writes waiting in a log, and what has OpenZFS write them out."""

from typing import Final

from nasadvisor.domain.change.waiting import WaitingDataset
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.zdb import LogChain, log_chains

TIMEOUT_S: Final = 60.0
COLUMNS: Final = ("name", "encryptionroot", "keystatus", "canmount", "mountpoint")
UNAVAILABLE: Final = "unavailable"


def waiting_writes(runner: Runner, pool_name: str) -> tuple[WaitingDataset, ...]:
    """The datasets whose writes OpenZFS cannot write out as they are: not mounted since the import, or without key.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    chains = log_chains(runner, pool_name)
    if not chains:
        return ()
    command = ("list", "-H", "-r", "-t", "filesystem,volume", "-o", ",".join(COLUMNS), pool_name)
    output = runner.run(Command(Tool.ZFS, command, TIMEOUT_S))
    rows = (line.split("\t", len(COLUMNS) - 1) for line in output.stdout.split("\n"))
    known = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows if len(row) == len(COLUMNS)}
    return tuple(
        _waiting(chain, known[chain.dataset])
        for chain in chains
        if chain.dataset in known  # and no snapshot
        and (chain.needs_replay or known[chain.dataset]["keystatus"] == UNAVAILABLE)
    )


def _waiting(chain: LogChain, row: dict[str, str]) -> WaitingDataset:
    return WaitingDataset(
        name=chain.dataset,
        is_volume=chain.is_volume,
        key_root=row["encryptionroot"] if row["keystatus"] == UNAVAILABLE else "",
        mountpoint=row["mountpoint"],
        canmount=row["canmount"],
    )
