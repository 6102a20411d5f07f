"""`nasadvisor curve`: what it asks for and what it prints."""

from dataclasses import replace
from typing import Any

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.host.errors import ToolMissing
from tests.unit.cli.conftest import Shell
from tests.unit.domain.evidence.test_curve import CLIFF
from tests.unit.machines import TANK


class Tracer:
    """Answers with a curve and notes what it was asked."""

    def __init__(self, found: CacheCurve = CLIFF) -> None:
        self.found = found
        self.asked: list[tuple[str, int]] = []

    def trace(self, guid: str, seconds: int) -> CacheCurve:
        self.asked.append((guid, seconds))
        return self.found


def text(shell: Shell, *args: str) -> str:
    result = shell.run("curve", "tank", *args)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_it_says_what_a_cache_of_each_size_would_serve(shell: Shell) -> None:
    shell.curve = Tracer()
    said = text(shell, "--minutes", "30")
    assert shell.curve.asked == [(TANK, 1800)]
    assert "A cache of 200 GiB would serve about 41 %" in said
    assert "200 GiB * 41 % 39 % – 43 % 300 MiB 31.6 TB" in said
    assert "predicted from 60 min of reads" in said
    assert "30 % of the misses were first reads" in said


def test_as_much_memory_is_named_where_it_would_do(shell: Shell) -> None:
    memory = tuple(replace(each, served=each.served + 0.1) for each in CLIFF.memory)
    shell.curve = Tracer(replace(CLIFF, memory=memory))
    assert "100 GiB more memory for the ARC would serve 50 %" in text(shell)


def test_of_too_little_it_reads_nothing_off(shell: Shell) -> None:
    shell.curve = Tracer(replace(CLIFF, missed=0))
    said = text(shell)
    assert "too few reads went to the disks" in said
    assert "CACHE" not in said


def test_in_json_it_is_the_whole_curve(shell: Shell) -> None:
    shell.curve = Tracer()
    document: Any = shell.json("curve", "tank")
    assert document["knee_bytes"] == 200 * 2**30
    assert len(document["points"]) == 5


def test_without_a_tracer_it_says_what_to_install(shell: Shell) -> None:
    class Missing(Tracer):
        def trace(self, guid: str, seconds: int) -> CacheCurve:
            raise ToolMissing("bpftrace", "bpftrace", ("/usr/bin",))

    shell.curve = Missing()
    result = shell.run("curve", "tank")
    assert result.exit_code != 0
    assert "Install the package bpftrace" in " ".join(result.output.split())
