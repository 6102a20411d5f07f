"""What zdb prints, as recorded on OpenZFS 2.3.9, and what is read from it."""

import pytest

from nasadvisor.domain.change.device_scan import ACTIVE, DESTROYED, L2CACHE, SliceLabel
from nasadvisor.host.adapters.process import Output
from nasadvisor.host.adapters.zdb import LabelUnreadable, LogChain, log_chains, read_label
from nasadvisor.host.adapters.zpool_questions import VdevSizeUnknown, autoexpands, held_bytes, log_bytes
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, HostError
from tests.unit.fakes import FakeRunner

SLICE = "/dev/disk/by-partuuid/aaaaaaaa-0000-4000-8000-000000000005"
LOG_SIDE = """\
------------------------------------
LABEL 0
------------------------------------
    version: 5000
    name: 'tank'
    state: 0
    txg: 15
    pool_guid: 10343527583029334201
    top_guid: 77
    guid: 78
    is_log: 1
    vdev_tree:
        type: 'mirror'
        guid: 77
        children[0]:
            type: 'disk'
            guid: 78
            state: 9
    labels = 0 1 2 3
"""
CACHE = """\
------------------------------------
LABEL 0
------------------------------------
    version: 5000
    state: 4
    guid: 91
    path: '/dev/disk/by-partuuid/x'
    labels = 0 1 2 3
------------------------------------
L2ARC device header
------------------------------------
    magic: 6504978260106102853
    pool_guid: 10343527583029334201
"""
CHAINS = """\
Dataset mos [META], ID 0, cr_txg 4, 350K, 130 objects

Dataset tank/quiet [ZPL], ID 131, cr_txg 9, 24K, 6 objects

Dataset tank/se cret [ZPL], ID 260, cr_txg 14, 1.2M, 9 objects

    ZIL header: claim_txg 0, claim_blk_seq 0, claim_lr_seq 0 replay_seq 0, flags 0x0

Dataset tank/vm [ZVOL], ID 270, cr_txg 14, 1.2M, 2 objects

    ZIL header: claim_txg 20, claim_blk_seq 4, claim_lr_seq 0 replay_seq 0, flags 0x3

Dataset tank [ZPL], ID 54, cr_txg 1, 24K, 7 objects

    ZIL header: claim_txg 0, claim_blk_seq 0, claim_lr_seq 0 replay_seq 0, flags 0x2
"""


CACHE_FILE = "zpool get -H -o value cachefile tank"


def chains_in(text: str) -> tuple[LogChain, ...]:
    return log_chains(FakeRunner({CACHE_FILE: "-\n", "zdb -iv tank": text}), "tank")


def label_of(answer: str | Output) -> SliceLabel | None:
    return read_label(FakeRunner({f"zdb -l {SLICE}": answer}), SLICE)


def test_the_label_of_a_log_is_read_and_not_what_is_nested_in_it() -> None:
    assert label_of(LOG_SIDE) == SliceLabel(ACTIVE, 15, "tank", "10343527583029334201", "78")


def test_of_the_name_of_a_pool_only_the_quotes_are_taken_off() -> None:
    label = label_of(LOG_SIDE.replace("'tank'", "'XtankX'"))
    assert label
    assert label.pool_name == "XtankX"


def test_a_log_that_was_removed_or_whose_pool_was_destroyed_is_not_needed() -> None:
    live = label_of(LOG_SIDE)
    removed = label_of(LOG_SIDE.replace("txg: 15", "txg: 0"))
    destroyed = label_of(LOG_SIDE.replace("    state: 0", "    state: 2", 1))
    assert live
    assert removed
    assert destroyed
    assert destroyed.state == DESTROYED
    assert [label.may_be_needed for label in (live, removed, destroyed)] == [True, False, False]


def test_the_label_of_a_cache_tells_no_pool_and_its_header_is_no_label() -> None:
    label = label_of(CACHE)
    assert label == SliceLabel(L2CACHE, 0, "", "", "91")
    assert not label.may_be_needed


def test_a_slice_without_a_label_has_none() -> None:
    assert label_of(Output("failed to unpack label 0\nfailed to unpack label 1\n", "", 2, 0.1)) is None


@pytest.mark.parametrize(
    ("line", "now", "missing"),
    [
        ("    state: 0\n", "", "state"),
        ("    guid: 78\n", "", "guid"),
        ("    state: 0\n", "    state: active\n", "state"),
        ("    txg: 15\n", "    txg: -1\n", "txg"),
        (LOG_SIDE, "", "state, guid"),
    ],
)
def test_a_label_that_is_not_understood_is_not_taken_for_none(line: str, now: str, missing: str) -> None:
    with pytest.raises(LabelUnreadable) as error:
        label_of(LOG_SIDE.replace(line, now, 1))
    assert error.value.statement.values == {"path": SLICE, "missing": missing}
    assert "It was left unchanged" in str(error.value)


def test_of_a_label_that_zdb_could_unpack_in_part_the_fields_count_whatever_it_ended_with() -> None:
    """It ends with 2 as well where the label at the other end of the slice is torn; a pool may need the slice still."""
    for code in (1, 2):
        assert label_of(Output(LOG_SIDE, "", code, 0.1)) == label_of(LOG_SIDE)


def test_of_several_labels_the_first_counts() -> None:
    """An older one behind it may say that nobody needs the slice."""
    older = LOG_SIDE.replace("txg: 15", "txg: 0").replace("guid: 78", "guid: 79")
    assert label_of(LOG_SIDE + older) == label_of(LOG_SIDE)


def test_a_failure_of_zdb_is_no_slice_without_a_label() -> None:
    with pytest.raises(CommandFailed):
        label_of(Output("", "cannot open", 3, 0.1))


def test_zdb_is_not_waited_for_for_ever() -> None:
    runner = FakeRunner(
        {f"zdb -l {SLICE}": LOG_SIDE, CACHE_FILE: "-\n", "zdb -iv tank": CHAINS, "zpool list -vHPpg tank": ""}
    )
    read_label(runner, SLICE)
    log_chains(runner, "tank")
    held_bytes(runner, "tank")
    assert [command.timeout_s for command in runner.ran] == [60, 60, 60, 60]


def test_datasets_with_blocks_in_a_log_are_told_from_the_others_and_whether_they_wait_since_the_import() -> None:
    assert chains_in(CHAINS) == (
        LogChain("tank/se cret", is_volume=False, needs_replay=False),
        LogChain("tank/vm", is_volume=True, needs_replay=True),
        LogChain("tank", is_volume=False, needs_replay=False),
    )


@pytest.mark.parametrize(
    ("flags", "needs_replay"), [("0x0", False), ("0x1", True), ("0x2", False), ("0x3", True), ("0xa", False)]
)
def test_only_the_flag_of_a_replay_that_is_due_counts(flags: str, needs_replay: bool) -> None:
    (chain,) = chains_in(f"Dataset t [ZPL], ID 1\n\n    ZIL header: claim_txg 9, replay_seq 0, flags {flags}\n")
    assert chain.needs_replay is needs_replay


def test_where_zdb_names_no_dataset_none_has_blocks_in_a_log() -> None:
    assert chains_in("\n") == ()


@pytest.mark.parametrize(
    "error",
    [
        CommandFailed("zdb -iv tank", 1, "I/O error", mutates=False),
        CommandTimedOut("zdb -iv tank", 60, mutates=False, still_running=False),
    ],
)
def test_where_zdb_cannot_read_a_busy_pool_openzfs_decides_itself(error: HostError) -> None:
    assert log_chains(FakeRunner({CACHE_FILE: "-\n", "zdb -iv tank": error}), "tank") == ()


@pytest.mark.parametrize(
    ("told", "command"),
    [
        ("-", "zdb -iv tank"),
        ("none", "zdb -iv -e tank"),
        ("/data/zfs/zpool.cache", "zdb -iv -U /data/zfs/zpool.cache tank"),
    ],
)
def test_zdb_is_told_where_the_pool_is_listed(told: str, command: str) -> None:
    assert len(log_chains(FakeRunner({CACHE_FILE: f"{told}\n", command: CHAINS}), "tank")) == 3


def test_what_a_log_holds_is_read_from_the_row_of_its_guid() -> None:
    rows = "tank\t100\t50\t50\n\t55\t100\t40\t60\n\t56\t100\t69632\t60\n"
    runner = FakeRunner({"zpool list -vHPpg tank": rows})
    assert log_bytes(runner, "tank", "56") == 69632
    with pytest.raises(VdevSizeUnknown) as error:
        log_bytes(runner, "tank", "57")
    assert error.value.statement.values == {"pool": "tank", "guid": "57"}


def test_a_vdev_that_does_not_tell_what_it_holds_is_left_out() -> None:
    """A side of a mirror prints a dash; to read that as nothing would remove a log with writes in it."""
    rows = "tank\t100\t50\t50\n\t55\t100\t-\t60\n\t56\t100\t7\n\t57\t100\n"
    assert held_bytes(FakeRunner({"zpool list -vHPpg tank": rows}), "tank") == {"tank": 50, "56": 7}


def test_a_pool_whose_name_has_a_space_has_its_columns_where_others_have_them() -> None:
    assert held_bytes(FakeRunner({"zpool list -vHPpg tank": "my tank\t100\t50\t50\n"}), "tank") == {"my tank": 50}


@pytest.mark.parametrize(("answer", "expands"), [("on\n", True), ("off\n", False), ("-\n", True)])
def test_a_pool_expands_its_devices_unless_it_says_that_it_does_not(answer: str, expands: bool) -> None:
    runner = FakeRunner({"zpool get -H -o value autoexpand tank": answer})
    assert autoexpands(runner, "tank") is expands
    assert [command.timeout_s for command in runner.ran] == [60]
