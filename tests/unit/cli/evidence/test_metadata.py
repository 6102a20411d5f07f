"""`nasadvisor advise --metadata`: what counting costs is said before, and what was not looked at is not judged."""

import pytest

from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.host.evidence.metadata import CountUnfinished
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_advise import Recorded
from tests.unit.domain.evidence.counts import COUNT
from tests.unit.domain.evidence.pools import facts
from tests.unit.domain.evidence.test_metadata import walkers
from tests.unit.machines import TANK


class Counter:
    """Answers with a count and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def count(self, guid: str, limit_s: int) -> BlockCount:
        self.asked.append((guid, limit_s))
        return COUNT


@pytest.fixture
def walking(shell: Shell) -> Shell:
    shell.sampler = Recorded(walkers(), facts())
    shell.blocks = Counter()
    return shell


def said(shell: Shell, *args: str) -> str:
    result = shell.run("advise", "tank", *args)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_without_being_asked_it_counts_nothing_and_does_not_judge(walking: Shell) -> None:
    text = said(walking)
    assert walking.blocks.asked == []
    assert "Metadata: cannot tell" in text
    assert "Not analysed: how much metadata the pool holds." in text
    assert "ON A SPECIAL VDEV" not in text


def test_it_says_first_what_counting_costs(walking: Shell) -> None:
    text = said(walking, "--metadata", "--minutes", "90")
    assert walking.blocks.asked == [(TANK, 5400)]
    cost = text.index("zdb reads all its metadata, at the lowest I/O priority")
    assert cost < text.index("Options compared")
    assert "is ended after 90 min" in text


def test_it_prints_what_there_is_and_what_cut_offs_would_add(walking: Shell) -> None:
    text = said(walking, "--metadata")
    assert "Metadata: Metadata-only cache" in text
    assert "Location of the data 262144 4 GiB 2 GiB 4 GiB" in text
    assert "32 KiB * 2097152 36 GiB" in text
    assert "zpool add -o ashift=12 tank special mirror SSD-1 SSD-2" in text


def test_in_json_it_says_the_same(walking: Shell) -> None:
    document = walking.json("advise", "tank", "--metadata")["metadata"]
    assert document["option"] == "metadata-cache"
    assert document["counted"]["size"]["sides"] == 2


def test_in_json_nothing_is_counted_that_was_not_looked_at(walking: Shell) -> None:
    document = walking.json("advise", "tank")["metadata"]
    assert (document["option"], document["counted"]) == (None, None)


def test_a_count_that_takes_too_long_is_an_error_that_says_so(walking: Shell) -> None:
    class Slow(Counter):
        def count(self, guid: str, limit_s: int) -> BlockCount:
            raise CountUnfinished("tank", limit_s)

    walking.blocks = Slow()
    result = walking.run("advise", "tank", "--metadata")
    assert result.exit_code != 0
    assert "did not finish reading the metadata of pool tank within 60 min" in " ".join(result.output.split())
