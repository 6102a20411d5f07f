"""What a run knows of a disk's table: which sectors are its own, and what its journal says each step left."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    Action,
    AddLog,
    CreateSlice,
    DeleteSlice,
    Outcome,
    RestoreTable,
    RewindTable,
    SaveTable,
    UndoAction,
)
from nasadvisor.domain.change.runs import (
    Continued,
    DiskImage,
    Done,
    Ended,
    Goal,
    Intent,
    Record,
    RunState,
    Started,
    TableLeft,
)
from nasadvisor.domain.change.table_area import Area, image_of, pack_area
from nasadvisor.domain.change.tables import OwnTable, disk_key_of, is_own_mbr, own_tables, predict, table_of_steps
from tests.unit.domain.builders import disk_of
from tests.unit.domain.change.sectors import KEY, put, recording, with_headers
from tests.unit.machines import MIRROR_AND_CACHES, NVME1, home_server, plan_for

SGDISK = recording()
CREATE, FIRST_SLICE, SECOND_SLICE, DELETE = SGDISK.steps
AT = "2026-08-25T20:00:00+00:00"


def area(*marks: bytes) -> Area:
    """Three sectors in front, then one behind; each is filled with its mark."""
    units = [mark * 512 for mark in marks]
    return Area(b"".join(units[:3]), units[3])


OLD, NEW = area(b"a", b"b", b"c", b"d"), area(b"A", b"B", b"C", b"D")
OWN = OwnTable(OLD, NEW, (OLD, NEW))


def test_any_mix_of_sectors_that_the_run_put_there_is_its_own() -> None:
    """A step may have been cut off between any two sectors."""
    for now in (OLD, NEW, area(b"a", b"B", b"C", b"D"), area(b"A", b"b", b"c", b"d"), area(b"A", b"b", b"C", b"d")):
        assert OWN.is_own(now)
        assert OWN.is_own_behind_mbr(now)


@pytest.mark.parametrize("place", range(4))
def test_a_sector_that_somebody_else_wrote_is_noticed_wherever_it_is(place: int) -> None:
    marks = [b"A", b"B", b"C", b"D"]
    marks[place] = b"x"
    assert not OWN.is_own(area(*marks))
    assert OWN.is_own_behind_mbr(area(*marks)) == (place == 0)


def test_a_sector_of_ours_in_another_place_is_not_ours() -> None:
    assert not OWN.is_own(area(b"A", b"C", b"B", b"D"))
    assert not OWN.is_own(area(b"b", b"B", b"C", b"D"))


def test_an_area_of_another_shape_is_not_ours() -> None:
    for other in (Area(NEW.head + bytes(512), NEW.tail), Area(NEW.head, b""), Area(b"", b"")):
        assert not OWN.is_own(other)
        assert not OWN.is_own_behind_mbr(other)


def test_only_what_the_run_knew_of_this_shape_counts() -> None:
    """A disk that was replaced by a larger one of the same name."""
    longer = Area(NEW.head + b"E" * 512, NEW.tail)
    grown = replace(OWN, own=(OLD, longer))
    assert grown.is_own(longer)
    assert grown.is_own(OLD)
    assert not grown.is_own(area(b"a", b"b", b"C", b"d"))


def test_a_protective_mbr_of_another_release_is_ours_and_other_boot_code_is_not() -> None:
    own = OwnTable(SGDISK.blank, SGDISK.cleared, (SGDISK.blank, SGDISK.cleared))
    other_release = replace(SGDISK.cleared, head=put(SGDISK.cleared.head, 447, b"\7"))
    booting = replace(SGDISK.cleared, head=put(SGDISK.cleared.head, 0, b"\xeb"))
    assert own.is_own(other_release)
    assert not own.is_own(booting)
    assert own.is_own_behind_mbr(booting)
    mbr = SGDISK.cleared.head[:512]
    assert is_own_mbr(put(mbr, 447, b"\7"), (mbr,))
    assert is_own_mbr(b"x" * 512, (mbr, b"x" * 512))
    assert not is_own_mbr(put(mbr, 0, b"\xeb"), (mbr,))


@pytest.mark.parametrize("name", ["blank-512", "blank-4096", "boot-code"])
def test_a_table_that_sgdisk_left_is_that_of_its_step(name: str) -> None:
    found = recording(name)
    own = OwnTable(found.blank, found.blank, (found.blank,))
    for step, before, now in zip(found.steps, found.states, found.states[1:], strict=False):
        assert own.is_left_by(step, before, now)
        assert own.is_left_by(step, before, before)


def test_a_table_in_which_somebody_wrote_meanwhile_is_not_left_by_the_step() -> None:
    own = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.with_two))
    assert not own.is_left_by(FIRST_SLICE, SGDISK.cleared, SGDISK.with_two)
    for place in (0, 511, 1024 + 200):
        spoilt = replace(SGDISK.with_one, head=put(SGDISK.with_one.head, place, b"\xeb"))
        assert not own.is_left_by(FIRST_SLICE, SGDISK.cleared, spoilt), place


def test_a_step_is_believed_where_what_it_leaves_cannot_be_worked_out() -> None:
    own = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank,))
    assert own.is_left_by(FIRST_SLICE, SGDISK.blank, SGDISK.with_two)
    assert own.is_left_by(None, SGDISK.cleared, SGDISK.with_two)


def test_a_header_that_sgdisk_wrote_over_another_tools_is_left_by_the_step() -> None:
    theirs = with_headers(SGDISK.cleared, 512, size=96, reserved=1)
    own = OwnTable(theirs, theirs, (theirs,))
    assert own.is_left_by(FIRST_SLICE, theirs, SGDISK.with_one)
    assert not own.is_left_by(FIRST_SLICE, theirs, SGDISK.with_two)


def image(now: Area = SGDISK.blank, key: str = KEY) -> DiskImage:
    return replace(image_of(disk_of(home_server(), NVME1), now), disk_key=key)


def started(*actions: Action) -> Started:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    return Started(AT, Goal.APPLY, replace(plan, actions=actions), "root")


def continued(*undo: UndoAction) -> Continued:
    return Continued(AT, Goal.UNDO, "root", undo)


def intent(step: int, before: DiskImage | None = None, goal: Goal = Goal.APPLY) -> Intent:
    return Intent(AT, goal, step, before)


def left(now: Area, step: int = 0, goal: Goal = Goal.APPLY, key: str = KEY) -> TableLeft:
    return TableLeft(AT, goal, step, key, pack_area(now))


def done(step: int, goal: Goal = Goal.APPLY, *, found: bool = False) -> Done:
    return Done(AT, goal, step, Outcome(), (), found)


def known(*records: Record) -> OwnTable:
    return own_tables(records)[KEY]


BEGINNING = started(CREATE, FIRST_SLICE, SECOND_SLICE)
RESTORE = RestoreTable(KEY, "/dev/x", "", ())


def test_of_a_step_that_is_only_begun_both_states_are_known_and_the_one_before_is_the_last() -> None:
    assert known(BEGINNING, intent(0, image())) == OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.cleared))


def test_what_a_step_was_seen_to_leave_is_the_last_state() -> None:
    seen = replace(SGDISK.cleared, tail=put(SGDISK.cleared.tail, 5, b"\1"))
    found = known(BEGINNING, intent(0, image()), left(seen), done(0))
    assert found == OwnTable(SGDISK.blank, seen, (SGDISK.blank, SGDISK.cleared, seen))


def test_journals_that_do_not_say_what_a_step_left_are_read_as_if_it_left_what_it_should() -> None:
    """Those of the first release."""
    found = known(BEGINNING, intent(0, image()), done(0), intent(1), done(1), intent(2))
    assert found == OwnTable(
        SGDISK.blank, SGDISK.with_one, (SGDISK.blank, SGDISK.cleared, SGDISK.with_one, SGDISK.with_two)
    )


def test_a_step_that_failed_leaves_the_last_state_as_it_was() -> None:
    found = known(BEGINNING, intent(0, image()), done(0), intent(1))
    assert found.last == SGDISK.cleared
    assert SGDISK.with_one in found.own


def test_a_result_without_an_intent_leaves_the_last_state_as_it_was() -> None:
    assert known(BEGINNING, intent(0, image()), done(0), done(1)).last == SGDISK.cleared


def test_the_first_image_of_a_disk_stays_the_valid_one() -> None:
    found = known(BEGINNING, intent(0, image()), done(0), intent(1, image(SGDISK.with_two)))
    assert found.before == SGDISK.blank
    assert found.last == SGDISK.cleared


def test_of_a_disk_without_an_image_nothing_is_known() -> None:
    assert own_tables((BEGINNING, intent(0), left(SGDISK.cleared), done(0))) == {}


def test_an_image_that_cannot_be_read_is_none() -> None:
    broken = replace(image(), head_base64="!")
    assert own_tables((BEGINNING, intent(0, broken), done(0))) == {}
    assert known(BEGINNING, intent(0, broken), done(0), intent(1, image(SGDISK.cleared))).before == SGDISK.cleared


def test_what_a_step_left_and_cannot_be_read_is_passed_over() -> None:
    unreadable = TableLeft(AT, Goal.APPLY, 0, KEY, "no area")
    assert known(BEGINNING, intent(0, image()), unreadable, done(0)).last == SGDISK.cleared


THEIRS = with_headers(SGDISK.with_two, 512, guid_low=7)
WITHOUT_FIRST = predict(THEIRS, DELETE)
assert WITHOUT_FIRST


def put_anywhere(now: Area) -> Area:
    """A table in which somebody wrote."""
    return replace(now, head=put(now.head, 1300, b"\1"))


DELETING = (
    BEGINNING,
    intent(0, image()),
    left(SGDISK.with_two),
    continued(DELETE),
    intent(0, image(THEIRS), Goal.UNDO),
)


@pytest.mark.parametrize(
    "torn",
    [
        THEIRS,
        WITHOUT_FIRST,
        replace(THEIRS, tail=WITHOUT_FIRST.tail),
        replace(THEIRS, head=WITHOUT_FIRST.head),
        replace(THEIRS, head=THEIRS.head[:1024] + WITHOUT_FIRST.head[1024:]),
    ],
)
def test_a_deletion_cut_off_in_a_table_that_somebody_changed_goes_back_to_theirs(torn: Area) -> None:
    found = known(*DELETING)
    assert not found.is_own(torn)
    assert found.rewound(torn) == THEIRS


def test_a_sector_that_is_neither_theirs_nor_of_the_deletion_stays() -> None:
    found = known(*DELETING)
    assert found.rewound(replace(THEIRS, head=put(THEIRS.head, 1300, b"\1"))) is None


def test_their_table_is_never_taken_for_the_runs_own() -> None:
    found = known(*DELETING)
    assert found.before == SGDISK.blank
    assert found.last == SGDISK.with_two
    assert THEIRS not in found.own
    assert found.rewound(SGDISK.with_one) is None
    assert found.rewound(SGDISK.cleared) == SGDISK.with_two


@pytest.mark.parametrize(
    "later", [done(0, Goal.UNDO), left(SGDISK.without_first, 0, Goal.UNDO), intent(0, goal=Goal.UNDO)]
)
def test_what_a_step_met_counts_only_until_it_got_through_or_began_anew(later: Record) -> None:
    assert known(*DELETING, later).met == ()


def test_a_table_that_was_met_and_cannot_be_read_is_none() -> None:
    broken = replace(image(THEIRS), head_base64="!")
    assert known(*DELETING[:-1], intent(0, broken, Goal.UNDO)).met == ()


def test_a_table_that_was_met_and_of_which_nobody_can_tell_what_a_deletion_leaves_is_none() -> None:
    """There is no table at all where the slice is to be deleted from."""
    found = known(*DELETING[:-1], intent(0, image(), Goal.UNDO))
    assert found.met == ()
    assert found.rewound(put_anywhere(SGDISK.with_two)) is None


def test_each_disk_has_a_table_of_its_own() -> None:
    other = replace(CREATE, disk_key="disk-2")
    plan = started(CREATE, other)
    records = (plan, intent(0, image()), done(0), intent(1, image(OLD, "disk-2")), left(NEW, 1, key="disk-2"))
    found = own_tables(records)
    assert found[KEY].last == SGDISK.cleared
    assert (found["disk-2"].before, found["disk-2"].last) == (OLD, NEW)


def test_a_step_that_is_about_no_table_changes_none() -> None:
    plan = started(CREATE, AddLog("tank", "1", 12, (SGDISK.piece(),)))
    assert known(plan, intent(0, image()), done(0), intent(1), done(1)).last == SGDISK.cleared


def test_a_number_that_no_step_has_changes_nothing() -> None:
    for number in (-1, 3):
        found = known(BEGINNING, intent(0, image()), done(0), intent(number), done(number))
        assert found == known(BEGINNING, intent(0, image()), done(0))


def applied() -> tuple[Record, ...]:
    return (BEGINNING, intent(0, image()), done(0), intent(1), done(1))


def test_the_steps_of_an_undo_are_those_that_were_written_down_for_it() -> None:
    undo = continued(DeleteSlice(SGDISK.piece(), ""), RESTORE)
    found = known(*applied(), undo, intent(0, goal=Goal.UNDO), done(0, Goal.UNDO))
    assert found.last == SGDISK.cleared
    put_back = known(*applied(), undo, intent(0, goal=Goal.PUT_BACK), done(0, Goal.PUT_BACK))
    assert put_back.last == SGDISK.cleared


def test_finishing_a_run_goes_by_the_steps_of_its_plan() -> None:
    finish = Continued(AT, Goal.FINISH, "root")
    found = known(*applied(), finish, intent(2, goal=Goal.FINISH), done(2, Goal.FINISH))
    assert found.last == SGDISK.with_two


def test_a_stretch_that_names_no_steps_keeps_those_of_the_undo_before() -> None:
    undo = continued(DeleteSlice(SGDISK.piece(), ""), RESTORE)
    found = known(*applied(), undo, continued(), intent(0, goal=Goal.UNDO), done(0, Goal.UNDO))
    assert found.last == SGDISK.cleared


def test_a_restored_table_is_as_before_the_run() -> None:
    restored = (continued(RESTORE), intent(0, goal=Goal.UNDO), done(0, Goal.UNDO))
    assert known(*applied(), *restored).last == SGDISK.blank


def test_a_table_that_was_found_restored_is_not_taken_for_written() -> None:
    found = (continued(RESTORE), done(0, Goal.UNDO, found=True))
    assert known(*applied(), *found).last == SGDISK.with_one


def test_a_restored_table_of_which_nothing_is_known_is_passed_over() -> None:
    assert own_tables((BEGINNING, continued(RESTORE), done(0, Goal.UNDO))) == {}


def test_records_of_other_sorts_say_nothing_of_tables() -> None:
    assert own_tables((BEGINNING, Ended(AT, RunState.APPLIED))) == {}
    assert known(Ended(AT, RunState.APPLIED), *applied()).last == SGDISK.with_one


def test_what_was_seen_to_be_left_is_not_replaced_by_what_should_have_been() -> None:
    seen = replace(SGDISK.cleared, tail=put(SGDISK.cleared.tail, 5, b"\1"))
    found = known(BEGINNING, intent(0, image()), left(seen), done(0), done(0))
    assert found.last == seen


def test_of_a_run_that_kept_only_the_copy_from_before_each_step_may_have_left_its_state() -> None:
    other = replace(CREATE, disk_key="disk-2")
    steps: tuple[Action, ...] = (CREATE, other, FIRST_SLICE, SECOND_SLICE)
    assert table_of_steps(image(), steps) == OwnTable(
        SGDISK.blank, SGDISK.with_two, (SGDISK.blank, SGDISK.cleared, SGDISK.with_one, SGDISK.with_two)
    )
    assert table_of_steps(image(), ()) == OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank,))
    assert table_of_steps(replace(image(), tail_base64="!"), steps) is None


def test_a_step_whose_table_cannot_be_foretold_is_passed_over() -> None:
    steps: tuple[Action, ...] = (SaveTable(KEY, "/dev/x", "", ()), FIRST_SLICE, CREATE, FIRST_SLICE)
    assert table_of_steps(image(), steps) == OwnTable(
        SGDISK.blank, SGDISK.with_one, (SGDISK.blank, SGDISK.cleared, SGDISK.with_one)
    )


def test_a_step_that_writes_a_table_names_its_disk() -> None:
    piece = SGDISK.piece()
    on_disk = (CREATE, SaveTable(KEY, "", "", ()), RESTORE, RewindTable(KEY, ""), FIRST_SLICE, DELETE)
    assert {disk_key_of(step) for step in on_disk} == {KEY}
    assert isinstance(FIRST_SLICE, CreateSlice)
    assert disk_key_of(AddLog("tank", "1", 12, (piece,))) == ""
    assert disk_key_of(None) == ""
