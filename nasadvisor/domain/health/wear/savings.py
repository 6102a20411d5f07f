"""What would take bytes off the bill of an SSD, where the bill and the properties of its pools say so."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Final

from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts, Served
from nasadvisor.domain.health.wear.bill import BillLine, Payee, WearBill
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import KIB, size_text

LEAST_SHARE: Final = 0.05
"""[policy] What takes less than that off a bill is not worth a change."""

MUCH_METADATA: Final = 0.2
"""[policy] Metadata is a few percent of what ordinary files and volumes write; beyond that something else makes it."""

SMALLEST_RECORD: Final = 16 * KIB
"""[policy] Below it compression gains little, and raidz loses much to parity and padding."""

NAMED: Final = 3


@dataclass(frozen=True)
class Saving:
    """What to do, and how many bytes of the bill it saves at the most."""

    statement: Statement
    device_bytes: int


def savings_of(bill: WearBill, pools: Iterable[PoolFacts]) -> tuple[Saving, ...]:
    """What is worth doing, the most first; `bill` has datasets by their own names."""
    found = [each for facts in pools for each in _of_pool(bill, facts)]
    worth = (each for each in found if each.device_bytes >= LEAST_SHARE * bill.total > 0)
    return tuple(sorted(worth, key=lambda each: (-each.device_bytes, each.statement.code)))


def _of_pool(bill: WearBill, facts: PoolFacts) -> Iterator[Saving]:
    own = [(line, known) for line in bill.lines if line.kind is Payee.DATASET and (known := facts.dataset(line.name))]
    for line, known in own:
        if known.is_swap:
            yield _swap(line)
        elif line.rewritten_bytes and line.writes:
            yield from _smaller_records(line, known)
        if known.sync == "always" and known.served is Served.NO and line.zil_bytes:
            yield _always(line)
    in_zil = sum(line.zil_bytes for line, _known in own)
    if in_zil and not facts.leaves_of(VdevClass.LOG):
        yield _log_elsewhere(facts.name, in_zil)
    yield from _access_times(bill, facts)


def _swap(line: BillLine) -> Saving:
    template = _(
        "This host swaps to {dataset}. Swap on another disk does not wear this SSD, and cannot hang OpenZFS when "
        "memory is short. With other swap or enough memory, `swapoff {path}` ends it; remove it from /etc/fstab too."
    )
    path = quote(f"/dev/zvol/{line.name.replace(' ', '+')}")
    return Saving(Statement("wear-swap-on-volume", template, {"dataset": line.name, "path": path}), line.device_bytes)


def _smaller_records(line: BillLine, known: DatasetFacts) -> Iterator[Saving]:
    """Where the writer's blocks are less than half of a record: the smallest record that holds one is enough."""
    each = line.logical_bytes / line.writes
    size = SMALLEST_RECORD
    while size < each:
        size *= 2
    if size > known.block_bytes // 2:
        return
    stays = line.writes * size - line.logical_bytes
    room = line.writes * known.block_bytes - line.logical_bytes
    saved = round(line.rewritten_bytes * (1 - max(stays, 0) / room))
    values = {
        "dataset": line.name,
        "quoted": quote(line.name),
        "each": size_text(round(each)),
        "block": size_text(known.block_bytes),
        "size": f"{size // KIB}K",
    }
    if known.is_volume:
        template = _(
            "{dataset} is written {each} at a time, but has blocks of {block}: a smaller write rewrites the whole "
            "block. A volume keeps the block size it was created with; only a new one with a volblocksize of {size} "
            "would write less."
        )
        yield Saving(Statement("wear-volume-blocks", template, values), saved)
        return
    template = _(
        "{dataset} is written {each} at a time, but has records of {block}: a smaller write rewrites the whole record. "
        "`zfs set recordsize={size} {quoted}` makes them smaller in files written from then on; existing files keep "
        "theirs until they are copied. Leave it as it is where the same dataset also holds large files."
    )
    yield Saving(Statement("wear-records", template, values), saved)


def _always(line: BillLine) -> Saving:
    template = _(
        "sync=always sends every write to {dataset} to the ZIL as well. With sync=standard, only those that programs "
        "wait for go there. Keep it where the dataset holds the disk of a machine that never flushes, such as ESXi."
    )
    return Saving(Statement("wear-sync-always", template, {"dataset": line.name}), line.zil_bytes)


def _log_elsewhere(pool: str, count: int) -> Saving:
    template = _(
        "The SSDs of pool {pool} take synchronous writes twice: for the ZIL, and for their final place. A log on "
        "another SSD takes the first. `nasadvisor advise {pool}` shows whether that also helps programs, and what the "
        "log has to endure."
    )
    return Saving(Statement("wear-log-elsewhere", template, {"pool": pool}), count)


def _access_times(bill: WearBill, facts: PoolFacts) -> Iterator[Saving]:
    metadata = sum(line.device_bytes for line in bill.lines if line.kind is Payee.METADATA)
    kept = sorted((each for each in facts.datasets if each.keeps_access_times), key=lambda each: -each.used_bytes)
    if not kept or metadata < MUCH_METADATA * bill.total:
        return
    template = _(
        "Much of what is written is metadata, and each read of a file in {datasets} is recorded (atime=on), which is "
        "a write. With `zfs set relatime=on {quoted}` that happens once a day at most; programs rarely need more."
    )
    values = {"datasets": ", ".join(each.name for each in kept[:NAMED]), "quoted": quote(kept[0].name)}
    yield Saving(Statement("wear-access-times", template, values), metadata)
