"""What programs print: OpenZFS's own, smartctl, nvme, fio, bpftrace."""

import json
from collections.abc import Iterator
from dataclasses import replace

from nasadvisor.domain.change.actions import AddLog
from nasadvisor.domain.health.smart.reading import SmartReading, decode_answer
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.domain.storage.inventory import Bus, Disk, Pool
from nasadvisor.host.adapters import smartctl, zdb
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.bpftrace import parse_blocks as parse_blocks_of_log
from nasadvisor.host.adapters.bpftrace import parse_reads, parse_spell, parse_waiting
from nasadvisor.host.adapters.counters import read_iostat
from nasadvisor.host.adapters.fio import FioJob, Pattern, parse_fio
from nasadvisor.host.adapters.player import parse_played
from nasadvisor.host.adapters.pools import with_locked_datasets
from nasadvisor.host.adapters.procfs import parse_zfs_version
from nasadvisor.host.adapters.zdb import parse_blocks
from nasadvisor.host.adapters.zpool import ZpoolJson, parse_ashifts, with_properties
from nasadvisor.host.adapters.zpool_questions import check_dry_run, held_bytes, was_trimmed
from nasadvisor.host.evidence.sample import read_dataset_facts
from nasadvisor.stored.documents import from_document, to_document
from tests.fuzz.reader import TOLD, Answering, Reader, all_of, of_answers, of_text
from tests.unit.domain.evidence.kstats import iostat_block
from tests.unit.domain.evidence.test_tracing import PRINTED as WAITING
from tests.unit.domain.health.smart.drives import nvme, sas, sata
from tests.unit.host.adapters.recordings import SHAPES, as_printed, recording
from tests.unit.host.adapters.test_zdb import CACHE, CHAINS, LOG_SIDE
from tests.unit.host.adapters.test_zdb_blocks import BLOCKS
from tests.unit.host.evidence.test_commits import PLAYED, TRACE
from tests.unit.host.evidence.test_commits import PRINTED as LOG_BLOCKS
from tests.unit.host.evidence.test_curve import PRINTED as READS
from tests.unit.host.evidence.test_measuring import FIO
from tests.unit.host.evidence.test_spells import PRINTED as SPELL
from tests.unit.machines import MIRROR_AND_CACHES, NVME1, TANK, home_server, plan_for

STATUS = "zpool status -j -P -p"
SLICE = "/dev/disk/by-partuuid/aaaaaaaa-0000-4000-8000-000000000005"
JOB = FioJob(("--directory=/x",), 4096, 4, 2, "--fsync=1", Pattern.SCATTERED)
DATASETS = "tank\tfilesystem\tstandard\tlatency\t131072\t-\tall\tall\t98304\t1.53\t1\ton\ton\n"
DATASETS += "tank/vm\tvolume\talways\tlatency\t-\t16384\tall\tall\t4096\t1.00\t2\t-\t-\n"
LOCKED = "tank\ttank\tavailable\ntank/secret\ttank/secret\tunavailable\ntank/secret/a\ttank/secret\tunavailable\n"
HELD = "tank\t99\t11\t88\t-\t-\t0\t1\t1.00\tONLINE\t-\n77\t9\t4096\t5\t-\t-\t0\t1\t-\tONLINE\n78\t-\t-\t-\n"
DRY_RUN = f"would update 'tank' to the following configuration:\n\n\ttank\n\t  sda\n\tlogs\n\t  {SLICE}\n"
TRIM = '{"pools": {"tank": {"vdevs": {"/dev/a": {"trim_state": "UNTRIMMED", "trim_notsup": "0", "trimmed": "0"}}}}}'


def recorded(begin: str) -> tuple[bytes, ...]:
    """What commands that begin so printed when they were recorded."""
    return tuple(
        as_printed(answer).encode()
        for shape in SHAPES
        for command, answer in recording(shape)["commands"].items()
        if command.startswith(begin)
    )


PROPERTIES = {"zpool get -j -p all": recorded("zpool get -j -p all")[0].decode()}


def asked(text: str) -> Answer:
    return Answer.of("zpool", text)


def _pools_with_properties(text: str) -> Pool:
    pools = asked(text).need("pools")
    return with_properties(TANK_POOL, pools.need(next(iter(pools.fields), "tank")).need("properties"))


def _as_disk(bus: Bus) -> Disk:
    disk = home_server().disk(NVME1)
    assert disk is not None
    return replace(disk, bus=bus)


def _asked_for_health(runner: Answering) -> None:
    """Every way to ask a disk, and what is kept of the answer."""
    for bus in Bus:
        reply = smartctl.ask(runner, _as_disk(bus))
        keep(reply.text, "", "")
    disk = _as_disk(Bus.NVME)
    keep("{}", smartctl.ask_id_ctrl(runner, disk), smartctl.ask_ocp(runner, disk))
    smartctl.start_self_test(runner, disk, SelfTest.SHORT, "nvme")


def keep(*packed: str) -> None:
    """What is kept of an answer goes through the codec, and is the same afterwards."""
    answer, id_ctrl, ocp = (json.loads(each or "null") for each in packed)
    reading = decode_answer(answer, id_ctrl, ocp)
    assert from_document(SmartReading, to_document(reading)) == reading


def _log() -> AddLog:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    return next(action for action in plan.actions if isinstance(action, AddLog))


def _as_bytes(*texts: object) -> tuple[bytes, ...]:
    return tuple(as_printed(text).encode() for text in texts)


TANK_POOL = next(pool for pool in home_server().pools if pool.guid == TANK)
IOSTAT = iostat_block("tank", {12: 5}) + iostat_block("77", {12: 5}, {3: 4})


def readers() -> Iterator[Reader]:
    """All of them."""
    status = recorded(STATUS)
    yield Reader("zpool-status", of_answers(lambda it: ZpoolJson(it).read(), PROPERTIES), status, TOLD)
    properties, ashifts = recorded("zpool get -j -p all"), recorded("zpool get -j -p ashift")
    yield Reader("zpool-get", of_text(_pools_with_properties), properties[:4], TOLD)
    yield Reader("zpool-get-ashift", of_text(lambda text: parse_ashifts(asked(text))), ashifts, TOLD)
    yield Reader("zpool-status-t", of_answers(lambda it: was_trimmed(it, "tank")), _as_bytes(TRIM), TOLD)
    yield Reader("zpool-list", of_answers(lambda it: held_bytes(it, "tank")), _as_bytes(HELD), TOLD)
    yield Reader("zpool-iostat", of_answers(read_iostat), _as_bytes(IOSTAT), TOLD)
    yield Reader("zpool-version", of_text(parse_zfs_version), _as_bytes("zfs-2.3.9-1\nzfs-kmod-2.3.9-1\n"))
    yield Reader("zpool-add", of_text(lambda text: check_dry_run(text, _log())), _as_bytes(DRY_RUN), TOLD)
    yield Reader("zfs-list", of_answers(lambda it: read_dataset_facts(it, "tank", {})), _as_bytes(DATASETS), TOLD)
    encrypted = {"zpool get -H": "tank\tactive\n"}
    locked = of_answers(lambda it: with_locked_datasets((TANK_POOL,), it), encrypted)
    yield Reader("zfs-list-locked", locked, _as_bytes(LOCKED), TOLD)
    states = of_answers(lambda it: with_locked_datasets((TANK_POOL,), it), {"zfs list": LOCKED})
    yield Reader("zpool-get-encryption", states, _as_bytes("tank\tactive\n", "tank\tdisabled\n"), TOLD)
    yield Reader("zdb-label", of_answers(lambda it: zdb.read_label(it, SLICE)), _as_bytes(LOG_SIDE, CACHE), TOLD)
    yield Reader("zdb-chains", of_answers(lambda it: zdb.log_chains(it, "tank")), _as_bytes(CHAINS), TOLD)
    yield Reader("zdb-blocks", of_text(parse_blocks), _as_bytes(BLOCKS), TOLD)
    drives = (nvme(), sas(), sata((202, "Percent_Lifetime_Remain", 30, 70), page7=70, sectors=10**9))
    yield Reader("smartctl", of_answers(_asked_for_health), _as_bytes(*drives), TOLD)
    yield Reader("fio", of_text(lambda text: parse_fio("fio", text, JOB)), _as_bytes(FIO), TOLD)
    yield Reader("bpftrace-waiting", of_text(parse_waiting), _as_bytes(WAITING), TOLD)
    yield Reader("bpftrace-spell", of_text(lambda text: parse_spell(text, 0.1)), _as_bytes(SPELL), TOLD)
    yield Reader("bpftrace-blocks", of_text(lambda text: parse_blocks_of_log(text, 3)), _as_bytes(LOG_BLOCKS), TOLD)
    yield Reader("replay", of_text(lambda text: parse_played(TRACE, text)), _as_bytes(PLAYED), TOLD)
    yield Reader("bpftrace-reads", of_text(lambda text: all_of(parse_reads(text))), _as_bytes(READS), TOLD)
