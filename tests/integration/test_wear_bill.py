"""The bill of SSDs on real OpenZFS: five known writers, one after the other for the truth, laid from one sum."""

import json
import shlex
import time
from dataclasses import dataclass

import pytest

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.health.wear.bill import BillLine, Payee, added_up, bill_of
from nasadvisor.domain.health.wear.laid import laid
from nasadvisor.domain.health.wear.savings import savings_of
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import from_document
from tests.integration.agent import Agent, python_in_guest
from tests.integration.wishes import pool_of
from tests.lab.guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

SHARE = 0.10
"""How far each writer's share of the bill may be from what its SSDs were written while it ran alone."""

SUM = 0.05
EVERY_S = 5
POOLS = {"mirror": ("nvme0", "nvme1"), "raidz": ("nvme0", "nvme1", "sata0")}
DATASETS = (
    "zfs create -o recordsize=16K bill/small",
    "zfs create -V 1G -s -o volblocksize=16K bill/volume",
    "zfs create -o compression=lz4 bill/packed",
    "zfs create -o recordsize=1M -o compression=off bill/large",
    "zfs create -o atime=off bill/many && mkdir /bill/many/d && cd /bill/many/d && seq 4000 | xargs touch",
)
QUARTER = "import os, sys; [sys.stdout.buffer.write(os.urandom(32768) + bytes(98304)) for _ in range(768)]"
"""96 MiB of records of 128 KiB, of each of which a quarter is not zero."""

WRITERS = {
    "bill/small": "dd if=/dev/urandom of=/bill/small/file bs=16k count=1500 oflag=dsync status=none",
    "bill/volume": "dd if=/dev/urandom of=/dev/zvol/bill/volume bs=1M count=64 oflag=direct status=none",
    "bill/packed": f"python3 -c {shlex.quote(QUARTER)} | dd of=/bill/packed/file bs=128k iflag=fullblock status=none",
    "bill/large": "dd if=/dev/urandom of=/bill/large/file bs=1M count=64 status=none",
    Payee.METADATA.value: "cd /bill/many/d && for n in $(seq 20); do touch *; zpool sync bill; done",
}
RECORDED = "/root/bill.jsonl"
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Seen:
    """What was recorded, as one sum, with the pool's properties at its end."""

    sample: Sample
    facts: PoolFacts


def written(guest: Guest, kernel_names: list[str]) -> dict[str, int]:
    """What the kernel counted for each disk until now, in bytes."""
    told = guest.run("; ".join(f"cat /sys/block/{name}/stat" for name in kernel_names)).stdout.splitlines()
    return {name: int(line.split()[6]) * SECTOR_BYTES for name, line in zip(kernel_names, told, strict=True)}


def readings_in(text: str) -> list[Reading]:
    return [from_document(Reading, json.loads(line)["reading"]) for line in text.splitlines() if line.endswith("}")]


def facts_now(guest: Guest, pool: str) -> PoolFacts:
    """As a sampler that has just begun reads them."""
    readings = readings_in(guest.run(python_in_guest("record_samples", "1", "1"), timeout=120).stdout)
    return next(each for reading in readings for each in reading.facts if each.name == pool)


def begin(guest: Guest) -> None:
    """Take samples until `end`; returns once the first reading is there, from which on everything counts."""
    recorder = python_in_guest("record_samples", "3600", str(EVERY_S))
    guest.run(
        f"nohup sh -c {shlex.quote(recorder)} > {RECORDED} 2> /root/bill.log < /dev/null & echo $! > /root/bill.pid"
    )
    guest.run(
        f"for n in $(seq 60); do test -s {RECORDED} && exit; sleep 1; done; cat /root/bill.log; exit 1", timeout=120
    )


def end(guest: Guest) -> Seen:
    guest.run(f"sleep {3 * EVERY_S}; kill $(cat /root/bill.pid)")
    readings = readings_in(guest.run(f"cat {RECORDED}").stdout)
    facts = facts_now(guest, "bill")
    return Seen(merge(each for reading in readings for each in reading.samples if each.pool_guid == facts.guid), facts)


@pytest.mark.parametrize("kind", POOLS)
def test_five_known_writers_have_their_share_and_the_sum_is_what_the_kernel_counted(agent: Agent, kind: str) -> None:
    """Proves: compression, the ZIL on the pool, parity, small blocks and metadata are laid to those who caused them."""
    guest = agent.guest
    disks = [guest.disks()[name] for name in POOLS[kind]]
    kernel_names = [disk.device.removeprefix("/dev/") for disk in disks]
    guest.run(f"zpool create -o ashift=12 bill {kind} {' '.join(disk.by_id for disk in disks)}", timeout=120)
    guest.run(" && ".join(f"({each})" for each in DATASETS), timeout=300)
    guest.run("udevadm settle; zpool sync bill; sleep 6; zpool sync bill")
    begin(guest)
    first = written(guest, kernel_names)
    truth, before = {}, sum(first.values())
    for name, command in WRITERS.items():
        began = time.monotonic()
        guest.run(f"({command}) && zpool sync bill", timeout=600)
        after = sum(written(guest, kernel_names).values())
        truth[name], before = after - before, after
        print(f"{kind}: {name} had {truth[name]:,} bytes written in {time.monotonic() - began:.0f} s")
    seen = end(guest)
    counted = written(guest, kernel_names)

    lines = [line for each in laid(seen.sample, seen.facts, pool_of(agent, "bill")).values() for line in each]
    bill = bill_of(None, lines)
    for line in bill.lines:
        print(f"{kind}: {bill.share_of(line):.3f} {line}")
    by_name = {line.name or line.kind.value: bill.share_of(line) for line in bill.lines}
    shares = {name: count / sum(truth.values()) for name, count in truth.items()}
    print(f"{kind}: truth {shares}, laid {by_name}")
    assert {name: by_name.get(name, 0.0) for name in shares} == pytest.approx(shares, abs=SHARE)
    assert bill.total == pytest.approx(sum(counted.values()) - sum(first.values()), rel=SUM)
    by_disk = {disk.key: disk.written_bytes for disk in seen.sample.disks}
    assert by_disk == pytest.approx({name: counted[name] - first[name] for name in kernel_names}, rel=SUM)


def test_swap_on_a_volume_is_seen_and_ends_by_the_command_that_is_named(agent: Agent) -> None:
    """Proves: the volume is known from /proc/swaps and its link, and the host swaps no more after `swapoff`."""
    guest = agent.guest
    guest.run(
        "zfs create -V 256M -b 4K 'tank/my swap' && udevadm settle && mkswap /dev/zvol/tank/my+swap && "
        "swapon /dev/zvol/tank/my+swap"
    )
    facts = facts_now(guest, "tank")
    assert {each.name for each in facts.datasets if each.is_swap} == {"tank/my swap"}
    line = BillLine(Payee.DATASET, "tank/my swap", GIB, GIB, 1)
    [saving] = savings_of(bill_of(None, added_up([line])), [facts])
    guest.run(str(saving.statement).split("`")[1])
    assert guest.run("swapon --show").stdout == ""
    assert not any(each.is_swap for each in facts_now(guest, "tank").datasets)
