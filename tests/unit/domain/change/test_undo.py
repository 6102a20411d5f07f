"""What the preview says about taking a plan back, and what an undo says when it is done."""

from nasadvisor.domain.change.actions import CreateTable, Outcome, SaveTable, UndoAction
from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.undo import Left, cannot_be_undone, stays_after_undo, undo_preview
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import LOG_GUID
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_single_log,
)

SINGLE = PlanRequest(TANK, (NVME1,), 4 * GIB)
ATTACH = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID)


def whole_undo_of(plan: Plan) -> tuple[UndoAction, ...]:
    return tuple(step for action in reversed(plan.actions) for step in action.undo(action.planned_outcome()))


def test_the_preview_names_the_guids_that_are_not_known_yet() -> None:
    argvs = [argv for argv in undo_preview(plan_for(MIRROR_AND_CACHES, home_server())) if argv[0] == "zpool"]
    assert [argv for argv in argvs if argv[1] == "remove"] == [
        ("zpool", "remove", "tank", "<guid of cache 1>"),
        ("zpool", "remove", "tank", "<guid of cache 2>"),
        ("zpool", "remove", "tank", "<guid of the new log>"),
    ]
    attach = undo_preview(plan_for(ATTACH, with_single_log()))
    assert attach[0] == ("zpool", "detach", "tank", "<guid of the new log side>")


def test_the_preview_takes_the_last_step_back_first() -> None:
    plan = plan_for(SINGLE, home_server())
    piece = plan.slices[0]
    assert undo_preview(plan) == (
        ("zpool", "remove", "tank", "<guid of the new log>"),
        ("zpool", "labelclear", piece.partuuid_path),
        ("blkdiscard", piece.partuuid_path),
        ("sgdisk", "--delete=1", piece.disk_path),
    )


def test_tables_and_slices_have_no_guids() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    assert [len(action.planned_outcome().vdev_guids) for action in plan.actions] == [0, 0, 0, 0, 0, 0, 1, 2]
    assert SaveTable(NVME1, "", "", ()).planned_outcome() == Outcome()
    assert isinstance(plan.actions[0], CreateTable)


def test_what_cannot_be_undone_depends_on_what_is_planned() -> None:
    with_log = [finding.code for finding in cannot_be_undone(plan_for(SINGLE, home_server()))]
    attached = [finding.code for finding in cannot_be_undone(plan_for(ATTACH, with_single_log()))]
    assert with_log == ["log-leaves-hole", "history-stays", "free-space-overwritten"]
    assert attached == ["history-stays", "free-space-overwritten"]


def test_what_stays_is_said_after() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    assert [finding.code for finding in stays_after_undo(plan, whole_undo_of(plan))] == ["ssds-as-before", "hole-stays"]
    caches_only = plan_for(PlanRequest(TANK, cache_disks=(NVME1,)), home_server())
    assert [finding.code for finding in stays_after_undo(caches_only, whole_undo_of(caches_only))] == ["ssds-as-before"]


def test_a_table_that_was_not_written_back_is_named() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    undone = whole_undo_of(plan)
    findings = stays_after_undo(plan, undone, Left(tables=("/dev/disk/by-id/nvme-1",)))
    assert [finding.code for finding in findings] == ["no-slice-left", "hole-stays"]
    assert "/dev/disk/by-id/nvme-1" in str(findings[0])
    said = (*findings, *cannot_be_undone(plan), *stays_after_undo(plan, undone))
    assert all("{" not in str(finding) for finding in said)
