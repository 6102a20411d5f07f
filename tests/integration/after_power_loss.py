"""What is left of a run after the power failed: journals and SSDs, held to each other by the product's readers."""

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import CreateSlice, DeleteSlice, UndoAction
from nasadvisor.domain.change.runs import Continued, Done, Intent, Record, Run, RunState, StepState
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import own_tables
from nasadvisor.domain.storage.gpt import GptUnreadable, parse_entries, parse_header
from nasadvisor.host.change.journal import open_journal
from nasadvisor.host.change.runs import RunHost, list_runs
from tests.lab.replay import PAGE, Content

SECTOR = 512
HEAD, TAIL = 34 * SECTOR, 33 * SECTOR
"""The protective MBR, a header and 128 entries; 128 entries and a header."""


def journals_in(content: Content, directory: Path) -> Path:
    """The journals on a disk as the next start of the machine would find them: ext4 replays its own journal first."""
    image, state = directory / "journals.img", directory / "state"
    content.save(image)
    checked = subprocess.run(["e2fsck", "-fy", str(image)], capture_output=True, check=False)
    assert checked.returncode in (0, 1), checked.stdout
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    # It says on standard error that there is nothing of that name, and ends with 0 all the same.
    subprocess.run(["debugfs", "-R", f"rdump /runs {state}", str(image)], capture_output=True, check=True)
    (state / "runs").mkdir(exist_ok=True)
    return state / "runs"


def host_of(journals: Path) -> RunHost:
    """The host as far as its runs can be listed; nothing is done on it."""
    lock = journals.parent / "host.lock"
    lock.touch()
    return RunHost(
        "nas", journals, (lock,), lambda _: pytest.fail("nothing may be done here"), lambda: datetime.now(UTC)
    )


def area_of(content: Content) -> Area:
    """The sectors of a disk that hold its partition table."""
    return Area(content.read(0, HEAD), content.read(content.size - TAIL, TAIL))


def partuuids_on(content: Content) -> set[str]:
    """The partitions in the first table of a disk; none where there is no sound one."""
    with suppress(GptUnreadable):
        header = parse_header(content.read(SECTOR, SECTOR), SECTOR)
        array = content.read(header.entries_start_bytes, header.entries_size_bytes)
        if header.entries_match(array):
            return {entry.partuuid for entry in parse_entries(array, header, SECTOR)}
    return set()


@dataclass(frozen=True)
class AfterPowerLoss:
    """What one moment leaves. `before` and `now` are the SSDs by the plan's disk keys."""

    journals: Path
    before: Mapping[str, Content]
    now: Mapping[str, Content]

    def check(self) -> str:
        """Hold what the journals say to what the SSDs show; how the run is read, "none" if there is nothing of it."""
        changed = {key for key in self.now if area_of(self.now[key]) != area_of(self.before[key])}
        found = list_runs(host_of(self.journals))
        if not found.runs:
            beside = [key for key in self.now if self._written_beside_the_table(key)]
            assert not [*changed, *beside], "something was written, and no journal tells of it"
            return "damaged, nothing done" if found.unreadable else "none"
        (run,) = found.runs
        records = open_journal(self.journals, run.id).read()
        self._hold_tables(records, changed)
        self._hold_slices(run, records)
        if run.state is RunState.UNDONE:
            assert not changed, "undone, and a table is not as it was"
        else:
            assert run.state in (RunState.INTERRUPTED, RunState.APPLIED)
            assert run.can_undo
            assert run.can_finish == (run.state is RunState.INTERRUPTED and not run.undo_steps)
        return run.state

    def _hold_tables(self, records: tuple[Record, ...], changed: set[str]) -> None:
        """A table that is not as before is known as one that the run left, so that it can be written over."""
        tables = own_tables(records)
        for key in changed:
            own = tables.get(key)
            assert own, f"the table of {key} was written, and the journal has no copy of the old one"
            assert own.is_own(area_of(self.now[key])), f"the table of {key} is taken for somebody else's"

    def _hold_slices(self, run: Run, records: tuple[Record, ...]) -> None:
        """What is recorded as done is there; what was written lies in slices of which the intent is recorded."""
        begun = {each.step for each in records if isinstance(each, Intent) and each.goal.is_forwards}
        deleted = deleted_by(records)
        for number, step in enumerate(run.plan.actions):
            if isinstance(step, CreateSlice) and run.steps[number].state is StepState.DONE and not run.undo_steps:
                shown = partuuids_on(self.now[step.slice.disk_key])
                assert step.slice.partuuid in shown, f"step {number + 1} is recorded as done, and is not there"
        for key, content in self.now.items():
            assert not partuuids_on(content) & deleted, "a slice is recorded as deleted, and is there"
            places = [
                range(step.slice.start_bytes, step.slice.start_bytes + step.slice.size_bytes)
                for number, step in enumerate(run.plan.actions)
                if isinstance(step, CreateSlice) and step.slice.disk_key == key and number in begun
            ]
            for page in self._written_beside_the_table(key):
                assert any(page * PAGE in place for place in places), f"page {page} of {key} was written without intent"

    def _written_beside_the_table(self, key: str) -> set[int]:
        """The pages of an SSD that differ from before, but for those of its table."""
        now, before = self.now[key].pages, self.before[key].pages
        last = (self.now[key].size - TAIL) // PAGE
        differing = {page for page in now.keys() | before.keys() if now.get(page) != before.get(page)}
        return {page for page in differing if HEAD // PAGE < page < last}


def deleted_by(records: tuple[Record, ...]) -> set[str]:
    """The PARTUUIDs of slices whose deletion is recorded as done."""
    undo: tuple[UndoAction, ...] = ()
    deleted: set[str] = set()
    for each in records:
        if isinstance(each, Continued) and each.undo:
            undo = each.undo
        if isinstance(each, Done) and not each.goal.is_forwards:
            step = undo[each.step]
            if isinstance(step, DeleteSlice):
                deleted.add(step.slice.partuuid)
    return deleted
