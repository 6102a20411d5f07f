"""What holds for the undo of every plan, whatever the machine and the wish."""

from collections.abc import Iterator
from itertools import product

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    DeleteSlice,
    DetachLog,
    Outcome,
    RemoveVdev,
    RestoreTable,
    Role,
    UndoAction,
)
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.statements import Allowed
from tests.unit.domain.builders import Example

GUIDS = tuple(str(2**64 - number) for number in range(1, 11))


def vdevs(plan: Plan) -> list[AddLog | AddCache | AttachLog]:
    return [action for action in plan.actions if isinstance(action, AddLog | AddCache | AttachLog)]


def outcome_of(action: Action, numbers: Iterator[str]) -> Outcome:
    count = len(action.slices) if isinstance(action, AddCache) else int(isinstance(action, AddLog | AttachLog))
    return Outcome(tuple(next(numbers) for _ in range(count)))


def undo_steps(plan: Plan) -> list[UndoAction]:
    """What takes a whole plan back, if OpenZFS gave its vdevs the guids above."""
    free = iter(GUIDS)
    pairs = [(action, outcome_of(action, free)) for action in plan.actions]
    return [step for action, outcome in reversed(pairs) for step in action.undo(outcome)]


def test_undo_takes_back_every_step_once_and_in_reverse(examples: tuple[Example, ...]) -> None:
    for _, plan in examples:
        steps = undo_steps(plan)
        assert [step.slice for step in steps if isinstance(step, DeleteSlice)] == list(reversed(plan.slices))
        removed = [step.vdev_guid for step in steps if isinstance(step, RemoveVdev | DetachLog)]
        assert sorted(removed) == sorted(GUIDS[: len(removed)])
        assert len(removed) == sum(len(action.slices) if isinstance(action, AddCache) else 1 for action in vdevs(plan))
        restored = [step.disk_key for step in steps if isinstance(step, RestoreTable)]
        assert restored == list(reversed(plan.request.disks))


def test_undo_takes_caches_before_logs_vdevs_before_slices_and_slices_before_tables(
    examples: tuple[Example, ...],
) -> None:
    for _, plan in examples:
        steps = undo_steps(plan)
        kinds = [type(step) for step in steps]
        assert all(kind in (RemoveVdev, DetachLog) for kind in kinds[: kinds.index(DeleteSlice)])
        assert not {RemoveVdev, DetachLog} & set(kinds[kinds.index(DeleteSlice) :])
        roles = [step.role if isinstance(step, RemoveVdev) else Role.LOG for step in steps[: kinds.index(DeleteSlice)]]
        assert roles == sorted(roles)  # "cache" comes before "log"
        deleted: set[str] = set()
        for step in steps:
            if isinstance(step, DeleteSlice):
                deleted.add(step.slice.partuuid)
            if isinstance(step, RestoreTable):
                assert {piece.partuuid for piece in plan.slices if piece.disk_key == step.disk_key} <= deleted


def test_undo_names_vdevs_by_guid_and_slices_by_partuuid(examples: tuple[Example, ...]) -> None:
    for _, plan in examples:
        free = iter(GUIDS)
        for action in plan.actions:
            outcome = outcome_of(action, free)
            for argv in (argv for step in action.undo(outcome) for argv in step.commands()):
                if argv[1] in {"remove", "detach"}:
                    assert argv == ("zpool", argv[1], plan.pool_name, argv[3])
                    assert argv[3] in outcome.vdev_guids
                if argv[:2] == ("zpool", "labelclear") or argv[0] == "blkdiscard":
                    assert isinstance(action, CreateSlice)
                    assert argv[-1] == f"/dev/disk/by-partuuid/{action.slice.partuuid}"


def test_an_undo_may_delete_each_slice_before_the_pool_has_it_and_not_while(examples: tuple[Example, ...]) -> None:
    for inventory, plan in examples:
        now = inventory
        for action in plan.actions:
            now = action.forwards(now)
            if isinstance(action, CreateSlice):
                assert can_undo(DeleteSlice(action.slice, plan.request.pool_guid), now) == Allowed()
        for piece in plan.slices:
            assert can_undo(DeleteSlice(piece, plan.request.pool_guid), now) != Allowed()


def test_undo_of_a_result_that_is_not_as_expected_still_names_only_its_guids(examples: tuple[Example, ...]) -> None:
    for _, plan in examples:
        for action, count in product(plan.actions, range(4)):
            outcome = Outcome(GUIDS[:count])
            steps = [step for step in action.undo(outcome) if isinstance(step, RemoveVdev | DetachLog)]
            assert [step.vdev_guid for step in steps] in ([], list(outcome.vdev_guids))


def test_what_cannot_be_undone_is_said_before(examples: tuple[Example, ...]) -> None:
    for _, plan in examples:
        codes = {finding.code for finding in cannot_be_undone(plan) if str(finding)}
        assert "history-stays" in codes
        assert ("log-leaves-hole" in codes) == any(isinstance(action, AddLog) for action in plan.actions)
