"""Rule 11: a log with I/O errors is never removed blindly, because that can hang permanently."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    RemoveVdev,
    Role,
)
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.statements import Answer
from tests.unit.domain.builders import (
    LOG_GUID,
    MIRROR_GUID,
    change_vdev,
    code_of,
    disk_of,
    log_on,
    mirrored_log,
    with_log,
)
from tests.unit.machines import (
    NVME1,
    TANK,
    leaf_on,
)


def answer(**changes: object) -> Answer:
    inventory, sides = mirrored_log()
    guid = str(changes.pop("guid", LOG_GUID))
    removal = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides)
    return can_undo(removal, change_vdev(inventory, guid, **changes))


@pytest.mark.parametrize("counter", ["read_errors", "write_errors"])
@pytest.mark.parametrize("state", ["ONLINE", "DEGRADED"])
def test_a_side_that_takes_writes_and_has_errors_forbids_it(counter: str, state: str) -> None:
    assert code_of(answer(**{counter: 1, "state": state})) == "log-has-errors"


@pytest.mark.parametrize("counter", ["read_errors", "write_errors"])
def test_errors_of_the_mirror_itself_forbid_it(counter: str) -> None:
    assert code_of(answer(guid=MIRROR_GUID, **{counter: 1})) == "log-has-errors"


def test_read_and_write_errors_do_not_cancel_out() -> None:
    assert code_of(answer(read_errors=2, write_errors=2)) == "log-has-errors"


def test_a_dead_side_beside_a_healthy_one_does_not() -> None:
    assert code_of(answer(state="FAULTED", write_errors=9)) == ""
    assert code_of(answer(checksum_errors=1)) == ""


def removal_of_single_log(**changes: object) -> Answer:
    inventory, action = log_on(NVME1)
    sick = replace(leaf_on(disk_of(inventory, NVME1), LOG_GUID), **changes)  # type: ignore[arg-type]
    removal = RemoveVdev("tank", TANK, Role.LOG, LOG_GUID, action.sides)
    return can_undo(removal, with_log(inventory, sick))


def test_a_log_that_is_not_well_and_still_takes_writes_is_not_removed() -> None:
    answer = removal_of_single_log(state="DEGRADED")
    assert code_of(answer) == "log-has-errors"
    assert f"zpool offline -f tank {LOG_GUID}" in str(answer)


@pytest.mark.parametrize("state", ["FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "CANT_OPEN"])
def test_a_log_that_takes_no_writes_any_more_is_removed(state: str) -> None:
    """Nothing waits for it: tried on real OpenZFS, with its SSD pulled and with every request failing."""
    assert code_of(removal_of_single_log(state=state, write_errors=5)) == ""
