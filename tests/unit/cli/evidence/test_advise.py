"""`nasadvisor advise`: samples of its own, verdicts with evidence, and nothing said that was not seen."""

from dataclasses import dataclass, field, replace

import pytest

from nasadvisor.domain.evidence.options import Option
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.tracing import ProcessCalls, WaitingPrograms, by_program
from nasadvisor.domain.fleet.platforms import PlatformReport, Rewrite
from nasadvisor.domain.units import DAY_S, GIB, HOUR_S
from nasadvisor.host.errors import ToolMissing
from nasadvisor.host.evidence.kept_spells import keep_spells
from nasadvisor.host.simulated.evidence import simulated_spells
from tests.unit.cli.conftest import Shell
from tests.unit.domain.evidence.pools import async_writers, facts, readers, sync_writers
from tests.unit.machines import TANK, home_server


@dataclass
class Recorded:
    """A sampler that tells the same each time; the first reading has only facts."""

    sample_told: Sample
    facts_told: PoolFacts
    readings: int = 0
    facts: list[PoolFacts] = field(default_factory=list)
    guid: str = TANK

    def sample(self) -> Reading:
        self.readings += 1
        if self.readings == 1:
            return Reading((), (replace(self.facts_told, guid=self.guid),))
        return Reading((replace(self.sample_told, pool_guid=self.guid, at=self.readings),))


@pytest.fixture
def busy(shell: Shell) -> Shell:
    shell.sampler = Recorded(sync_writers(seconds=5), facts())
    return shell


def test_it_watches_as_long_as_asked(busy: Shell) -> None:
    result = busy.run("advise", "tank", "--seconds", "22", "--every", "5")
    assert result.exit_code == 0, result.output
    assert busy.waited == [5, 5, 5, 5, 2]
    assert busy.sampler.readings == 6


def test_it_prints_the_verdict_its_rule_and_the_evidence(busy: Shell) -> None:
    output = busy.run("advise", "tank").output
    assert "Log (SLOG): helps" in output
    assert "Rule: slow-commits" in output
    assert "60/s  [zil_commit_count]" in output
    assert "tank/db" in output
    assert "because synchronous writes peaked at" in " ".join(output.split())
    assert "only" in output


def test_it_says_who_waits_as_the_service_has_traced_it_all_week(busy: Shell) -> None:
    assert busy.json("advise", "tank")["who_waits"] is None
    pool = home_server().pool(TANK)
    assert pool
    keep_spells(busy.root / "spells", simulated_spells(pool, DAY_S // 2, DAY_S // 2 + HOUR_S))
    busy.sampler.readings = 0
    output = " ".join(busy.run("advise", "tank").output.split())
    assert "Who waits" in output
    assert "all of it on tank/vms; a log takes" in output
    busy.sampler.readings = 0
    found = busy.json("advise", "tank")["who_waits"]
    assert found["sentence"].startswith("postgres waits ")
    assert [each["program"] for each in found["programs"]] == ["postgres", "z_zvol", "nfsd"]


def test_in_json_it_says_the_same(busy: Shell) -> None:
    document = busy.json("advise", "tank")
    assert [each["answer"] for each in document["verdicts"]] == ["helps", "cannot-tell"]
    assert document["verdicts"][0]["rule"]["code"] == "slow-commits"
    assert document["datasets"][0]["reach"] == "log"
    assert document["recommended"]["log"]["is_measured"] is True


def with_job(busy: Shell) -> Shell:
    job = Rewrite("tank/media", True, 1, 2, 3 * GIB)
    busy.platforms = PlatformReport("nas", "2026-08-25T20:15:00+00:00", rewrites=(job,))
    return busy


def test_what_a_platform_rewrote_meanwhile_is_said_beside_it(busy: Shell) -> None:
    output = " ".join(with_job(busy).run("advise", "tank").output.split())
    assert "Mind: While pool tank was monitored, data of tank/media was moved between storage tiers (3 GiB)." in output


def test_in_json_too(busy: Shell) -> None:
    assert "tank/media" in with_job(busy).json("advise", "tank")["rewrites"]


def test_where_nothing_was_rewritten_nothing_is_said(busy: Shell) -> None:
    assert busy.json("advise", "tank")["rewrites"] == ""


def test_it_begins_with_all_that_can_be_done_beside_each_other(busy: Shell) -> None:
    lines = busy.run("advise", "tank").output.splitlines()
    at = lines.index("Options compared")
    assert lines[at + 1].startswith("CHOICE")
    [log] = [line for line in lines if line.startswith("Log (SLOG)  ")]
    assert "helps" in log
    assert "2 x 1 GiB" in log
    assert at < lines.index("Log (SLOG): helps")


def test_in_json_every_choice_has_its_row(busy: Shell) -> None:
    options = busy.json("advise", "tank")["options"]
    assert [each["option"] for each in options["rows"]] == [option.value for option in Option]
    assert options["waits"]["commits"]["likely_s"] > 0
    assert options["rows"][3]["sentence"].startswith("Under load, programs wait for 60 commits/s")


def test_it_says_what_to_look_for_in_an_ssd_and_why(busy: Shell) -> None:
    output = " ".join(busy.run("advise", "tank").output.split())
    assert "To buy for Log (SLOG): 2 SSDs, each" in output
    assert "including its flush, in at most 0.30 ms" in output
    assert "At the prices given" not in output


def test_prices_that_are_given_become_money_a_year(busy: Shell) -> None:
    output = busy.run("advise", "tank", "--price", "log=80:10000").output
    [line] = [line for line in output.splitlines() if "160.00" in line]
    assert line.split() == ["Log", "(SLOG)", "160.00", "5.0", "32.00"]


def test_in_json_prices_become_money_a_year_too(busy: Shell) -> None:
    shopping = busy.json("advise", "tank", "--price", "log=80:10000")["shopping"]
    assert [each["per_year"] for each in shopping["costs"]] == [32]
    assert shopping["needs"][0]["option"] == "log"


@pytest.mark.parametrize("price", ["log", "log=x", "log=-1", "special=4", "log=4:nan"])
def test_a_price_that_is_none_is_a_mistake_and_nothing_is_watched(busy: Shell, price: str) -> None:
    assert busy.run("advise", "tank", "--price", price).exit_code == 2
    assert busy.waited == []


def test_it_says_what_a_log_and_a_cache_would_write_a_day(busy: Shell) -> None:
    output = " ".join(busy.run("advise", "tank").output.split())
    assert "Each side of a log: 106.2 GB." in output
    assert "14495.5 GB at most, at the feed limit" in output


def test_in_json_it_says_what_they_would_write_a_day(busy: Shell) -> None:
    assert round(busy.json("advise", "tank")["written_per_day"]["log"] / 10**9, 1) == 106.2


def test_a_quiet_pool_is_told_as_such(shell: Shell) -> None:
    shell.sampler = Recorded(async_writers(seconds=5), facts())
    assert "Log (SLOG): no gain" in shell.run("advise", "tank").output


def test_a_cache_that_helps_comes_after_memory(shell: Shell) -> None:
    shell.sampler = Recorded(readers(seconds=5), facts())
    output = " ".join(shell.run("advise", "tank").output.split())
    assert "Cache (L2ARC): helps" in output
    assert "First: The same amount of memory would do the same" in output
    assert "Caches together: 40 GiB" in output


def test_an_unknown_pool_is_refused_and_nothing_is_watched(busy: Shell) -> None:
    result = busy.run("advise", "nothing")
    assert result.exit_code == 3
    assert busy.waited == []


def test_a_pool_that_was_exported_meanwhile_is_said_so(shell: Shell) -> None:
    shell.sampler = Recorded(sync_writers(seconds=5), facts())
    result = shell.run("advise", "archive")
    assert result.exit_code == 3
    assert "not imported throughout" in result.output


def traced() -> WaitingPrograms:
    calls = (ProcessCalls(812, "fio", 40, 40, 40, 400_000_000), ProcessCalls(990, "rsync", 5))
    return WaitingPrograms("2026-08-25T20:00:00+00:00", 20, by_program(calls))


def test_unasked_it_traces_nothing(busy: Shell) -> None:
    assert busy.json("advise", "tank")["waiting"] is None


def test_it_traces_which_programs_wait(busy: Shell) -> None:
    busy.watch_waiting = traced
    output = busy.run("advise", "tank", "--programs").output
    assert "Which programs wait (whole host, 20 s)" in output
    assert [line.split() for line in output.splitlines() if "812" in line or "990" in line] == [
        ["fio", "1", "812", "2.0", "2.0", "10", "ms"],
        ["rsync", "1", "990", "0.2", "0.0", "never"],
    ]


def test_in_json_it_says_which_programs_wait(busy: Shell) -> None:
    busy.watch_waiting = traced
    programs = busy.json("advise", "tank", "--programs")["waiting"]["programs"]
    assert [each["program"] for each in programs] == ["fio", "rsync"]


def test_without_a_tracer_it_says_what_to_install(busy: Shell) -> None:
    def untraced() -> WaitingPrograms:
        raise ToolMissing("bpftrace", "bpftrace", ("/usr/bin",))

    busy.watch_waiting = untraced
    result = busy.run("advise", "tank", "--programs")
    assert result.exit_code != 0
    assert "Install the package bpftrace" in " ".join(result.output.split())
