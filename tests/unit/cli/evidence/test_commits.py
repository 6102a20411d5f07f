"""`nasadvisor commits`: what it asks for and what it prints."""

from dataclasses import replace
from typing import Any

from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.host.simulated.evidence import simulated_commits
from tests.unit.cli.conftest import Shell
from tests.unit.host.evidence.test_commits import TRACE
from tests.unit.machines import TANK

FOUND = simulated_commits(TANK, "tank", "2026-11-21T20:00:00+00:00", 3600)


class Tracer:
    """Answers with a trace and notes what it was asked."""

    def __init__(self, found: CommitTrace) -> None:
        self.found = found
        self.asked: list[tuple[str, int]] = []

    def trace(self, guid: str, seconds: int) -> CommitTrace:
        self.asked.append((guid, seconds))
        return self.found


def test_it_says_what_was_committed_and_what_to_do_with_it(shell: Shell) -> None:
    shell.commits = Tracer(FOUND)
    result = shell.run("commits", "tank", "--minutes", "30")
    assert result.exit_code == 0, result.output
    assert shell.commits.asked == [(TANK, 1800)]
    said = " ".join(result.output.split())
    assert "41 blocks/s went to the ZIL" in said
    assert "34.7 TB per year at this rate" in said
    assert "Kept: 3000 blocks of the busiest part" in said
    assert "nasadvisor probe tank --disk DISK" in said


def test_of_too_little_it_says_so(shell: Shell) -> None:
    shell.commits = Tracer(replace(TRACE))
    assert "too little to replay" in " ".join(shell.run("commits", "tank").output.split())


def test_in_json_it_is_the_whole_trace(shell: Shell) -> None:
    shell.commits = Tracer(FOUND)
    document: Any = shell.json("commits", "tank")
    assert len(document["busiest"]["sizes"]) == 3000
