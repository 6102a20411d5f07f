"""The evidence pages on a day of samples."""

import csv
import html
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.spells import store_spells
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.console.worker.tasks import roll_up_samples
from nasadvisor.domain.change.runs import Run, RunState, StepState, steps_of
from nasadvisor.domain.evidence.options import Option
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.fleet.platforms import PlatformReport, Rewrite
from nasadvisor.domain.units import DAY_S, GIB, HOUR_S
from nasadvisor.host.simulated.evidence import simulated_spells
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import Clock
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import ARCHIVE, MIRROR_AND_CACHES, NVME1, TANK, home_server, plan_for

RUN = "7f0c2a4e-0000-4000-8000-000000000001"


def applied_run(hours_ago: float) -> StoredRun:
    """A run of the wizard that ended so long ago."""
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    at = (timezone.now() - timedelta(hours=hours_ago)).isoformat(timespec="seconds")
    steps = tuple(replace(step, state=StepState.DONE, started_at=at, ended_at=at) for step in steps_of(plan.actions))
    run = Run(plan.id, "nas", plan, RunState.APPLIED, "me", at, at, 9, steps)
    take_answer("nas", "run", to_document(run))
    return StoredRun.objects.get()


def page(client: Client, path: str) -> str:
    """The page's HTML, with white space as a browser shows it: where a line of a template ends says nothing."""
    response = client.get(path)
    assert response.status_code == 200, path
    return " ".join(response.content.decode().split())


def heat(client: Client, **query: object) -> dict[str, Any]:
    response = client.get(f"/evidence/{TANK}/heat/", {key: str(value) for key, value in query.items()})
    assert response.status_code == 200
    document: dict[str, Any] = response.json()
    return document


def test_without_samples_it_says_so(viewer: Client) -> None:
    now = timezone.now().isoformat()
    take_answer("nas", "inventory", to_document(replace(home_server(), read_at=now)))
    assert "collecting data: first answer in" in page(viewer, "/storage/")
    assert "every 10 seconds" in page(viewer, f"/pools/{TANK}/evidence/")
    assert viewer.get(f"/evidence/{TANK}/heat/").status_code == 404
    assert viewer.get("/pools/42/evidence/").status_code == 404


@pytest.mark.parametrize("path", ["/storage/", f"/pools/{TANK}/evidence/", f"/evidence/{TANK}/heat/"])
def test_nobody_sees_it_without_signing_in(client: Client, path: str) -> None:
    assert client.get(path).status_code == 302


def test_a_job_that_moved_data_meanwhile_is_said_above_the_verdicts(viewer: Client) -> None:
    fill(2)
    now = int(timezone.now().timestamp())
    for ended_s_ago, told in ((HOUR_S, True), (30 * HOUR_S, False)):
        job = Rewrite("tank/media", False, now - 40 * HOUR_S, now - ended_s_ago, 3 * GIB)
        report = PlatformReport("nas", timezone.now().isoformat(), rewrites=(job,))
        take_answer("nas", "platform-report", to_document(report))
        text = page(viewer, f"/pools/{TANK}/evidence/")
        assert ("data of tank/media was moved between storage tiers (3 GiB)" in text) is told


def test_it_shows_verdicts_and_who_writes(viewer: Client) -> None:
    fill(25)
    text = page(viewer, f"/pools/{TANK}/evidence/")
    assert "Helps" in text
    assert "slow-commits" in text
    assert "tank/vms" in text
    assert "never, not counted" in text
    assert "NFS server, for all pools together" in text
    assert "Cache flushes are not included" in text
    assert ARCHIVE in page(viewer, "/storage/")


def test_it_says_who_waits_for_how_long_and_what_a_log_takes_of_it(viewer: Client) -> None:
    series, pool, now = fill(4), home_server().pool(TANK), int(timezone.now().timestamp())
    assert pool
    assert 'id="who-waits"' not in page(viewer, f"/pools/{TANK}/evidence/")
    noon = now // DAY_S * DAY_S + DAY_S // 2
    spells = simulated_spells(pool, noon, noon + HOUR_S)
    for hours in range(1, 4):
        store_spells(series.node, replace(spells, began=now - hours * HOUR_S, until=now - (hours - 1) * HOUR_S))
    text = page(viewer, f"/pools/{TANK}/evidence/")
    part = text[text.index('id="who-waits"') : text.index('id="options"')]
    said = r"postgres waits \d+.[a-z]+ a day \(\d+.[a-z]+ to \d+.[a-z]+\), all of it on tank/vms; a log takes .* of it"
    assert re.search(said, html.unescape(part))
    assert re.findall(r'<th scope="row">(.+?)</th>', part) == ["postgres", "z_zvol", "nfsd", "All programs"]
    roll_up_samples()
    kept = SampledPool.objects.get().waiting
    assert kept
    assert [each.program for each in kept.waits.programs] == ["postgres", "z_zvol", "nfsd"]


def choices_in(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The choices that are drawn and those that are folded, by what they are, from first to last."""
    table = text.partition('id="options"')[2].partition('class="more-parts"')[0]
    drawn, _, folded = table.partition('class="option-key')
    choice = re.compile(r'<li class="choice option-([a-z-]+)">(.*?)</details></li>')
    return dict(choice.findall(drawn)), dict(choice.findall(folded))


def test_on_top_stands_what_can_be_done_with_a_bar_for_what_is_known(viewer: Client) -> None:
    fill(25)
    rows, folded = choices_in(page(viewer, f"/pools/{TANK}/evidence/"))
    assert list(rows)[:2] == ["nothing", "log"]
    assert len(rows) + len(folded) == len(Option)
    assert rows["nothing"].count("option-today") == 2
    assert re.search(r"\d+ [a-z]+ to \d+ [a-z]+ less waiting a day", rows["log"])
    assert '<rect class="option-commits option-sure"' in rows["log"]
    assert 'href="#curve"' in {**rows, **folded}["cache"]
    assert "<svg" not in {**rows, **folded}["property"]
    assert "cannot be removed from a raidz pool" in folded["special"]


def test_the_best_choice_has_its_button_and_each_dataset_that_waits_its_bar(operator: Client) -> None:
    fill(25)
    text = page(operator, f"/pools/{TANK}/evidence/")
    best = text.partition('class="options-head"')[2].partition("</div>")[0]
    assert "Best choice: Log (SLOG)" in best
    assert f'href="/wizard/{TANK}/"> Add a log' in best
    waits = text.partition('id="waits"')[2].partition("</section>")[0]
    assert re.search(r"Programs wait \d+ [a-z]+ a day for tank", waits)
    assert "tank/vms" in waits
    assert waits.count("option-sure") == 2


def test_a_log_that_is_there_says_what_it_saves_in_a_day(viewer: Client) -> None:
    fill(30, log_hours_ago=26)
    rows, _folded = choices_in(page(viewer, f"/pools/{TANK}/evidence/"))
    assert "in place" in rows["log"]
    assert re.search(r"saves (at most )?\d+ [a-z]+( to \d+ [a-z]+)? a day", rows["log"])


def test_the_shopping_list_says_what_makes_each_number_and_prices_become_money_a_year(viewer: Client) -> None:
    fill(25)
    text = page(viewer, f"/pools/{TANK}/evidence/")
    assert "including its flush, in at most 0.30 ms" in text
    assert "costs-table" not in text
    with_prices = page(viewer, f"/pools/{TANK}/evidence/?log_price=80&log_rated=10000&memory_price=")
    [row] = re.findall(r"<tr><th scope=\"row\">Log \(SLOG\)</th> <td class=\"costs-bar\">.*?</tr>", with_prices)
    assert "<strong>32.00</strong>" in row
    assert "greater than or equal to 0" in page(viewer, f"/pools/{TANK}/evidence/?log_price=-1")


def test_before_a_whole_day_a_choice_says_when_it_will_be_known(viewer: Client) -> None:
    fill(3)
    _rows, folded = choices_in(page(viewer, f"/pools/{TANK}/evidence/"))
    assert "more data needed; the result will appear here automatically." in folded["special"]
    assert "less waiting a day" not in folded["special"]


def test_until_there_is_an_answer_one_line_says_when_it_comes_and_nothing_empty_is_shown(viewer: Client) -> None:
    fill(0.05)
    text = page(viewer, f"/pools/{TANK}/evidence/")
    line = text.partition('id="first-day"')[2].partition("</p>")[0]
    assert re.search(r"Watching tank since (yesterday )?\d\d:\d\d\. .*[Aa]nswer: (tomorrow )?\d\d:\d\d", line)
    assert re.search(r"So far programs waited [\d.]+ [a-z]+ for synchronous writes", line)
    for empty in ('id="options"', 'id="waits"', 'id="metadata"', 'id="arc"', 'id="shopping"', "Cannot tell"):
        assert empty not in text
    assert 'id="curve"' in text


def test_the_overview_shows_the_answers_in_short(viewer: Client) -> None:
    fill(25)
    assert "would help" not in page(viewer, "/")
    roll_up_samples()
    text = page(viewer, "/")
    assert f"/pools/{TANK}/evidence/" in text
    assert re.search(r"Programs wait: \d+ (min|h|d) a day", text)
    assert re.search(r"Log: would help: \d+ [a-z]+ to \d+ [a-z]+ less waiting a day", text)


@pytest.mark.parametrize(
    ("hours", "said"), [(0.0, "Log and cache: collecting data: first answer in 5 min"), (0.05, "Log: ")]
)
def test_in_the_first_hours_the_overview_says_when_there_is_an_answer(viewer: Client, hours: float, said: str) -> None:
    fill(hours)
    if hours:
        roll_up_samples()
    text = page(viewer, "/")
    assert said in text
    assert re.search(r"first answer in \d min", text)
    assert "Cannot tell" not in text


@pytest.mark.parametrize("hour", [1, 13])
def test_three_hours_speak_for_a_log_whenever_the_tests_run(operator: Client, clock: Clock, hour: int) -> None:
    clock.now = clock.now.replace(hour=hour, minute=26, second=34)
    fill(3)
    assert "Proposed" in page(operator, f"/wizard/{TANK}/devices/")


def test_a_short_time_is_no_ground_for_no(viewer: Client) -> None:
    fill(0.15)
    assert "Not enough data yet" in page(viewer, f"/pools/{TANK}/evidence/")


def test_the_wizard_recommends_the_measured_size_and_says_why(operator: Client) -> None:
    fill(25)
    operator.post(f"/wizard/{TANK}/devices/answer/", {"log": [NVME1]})
    text = page(operator, f"/wizard/{TANK}/devices/")
    assert "Recommended for the workload of this pool" in text
    assert "because synchronous writes peaked at" in text


def test_the_heat_map_has_the_histograms_of_what_was_asked_for(viewer: Client) -> None:
    found = fill(3, log_hours_ago=1)
    now = int(timezone.now().timestamp())
    whole = heat(viewer, start=now - 3 * 3600, end=now, target="pool", kind="writes")
    assert len(whole["at"]) == len(whole["heat"]) == len(whole["commits"])
    log = heat(viewer, start=now - 3 * 3600, end=now, target="class-logs", kind="writes")
    with_log = [at for at, column in zip(log["at"], log["heat"], strict=True) if column]
    assert min(with_log) >= now - 3600 - log["step"]
    devices = {device["name"]: device["counts"] for device in log["devices"]}
    assert len(devices) == len(found.facts.leaves) == 5


@pytest.mark.parametrize(("hours", "shown_s"), [(0.2, 3600), (3, 6 * 3600), (8, 86400), (30, 86400)])
def test_the_heat_map_opens_with_all_of_the_last_day_that_was_watched(
    viewer: Client, hours: float, shown_s: int
) -> None:
    fill(hours)
    text = page(viewer, f"/pools/{TANK}/evidence/")
    assert f'data-shown="{shown_s}"' in text
    assert f'data-range="{shown_s}" aria-pressed="true"' in text


def test_a_device_that_left_the_pool_stays_in_the_map(viewer: Client) -> None:
    found = fill(1, log_hours_ago=0.5)
    gone = replace(found.facts, leaves=tuple(leaf for leaf in found.facts.leaves if leaf.vdev_class != "logs"))
    take_answer("nas", "reading", to_document(Reading((), (gone,))))
    now = int(timezone.now().timestamp())
    [left] = [each for each in heat(viewer, start=now - 3600, end=now)["devices"] if each["class"] == "gone"]
    assert re.fullmatch(r"Log, Samsung SSD 960 EVO 500GB \(N\d\) \(removed \d+ \w+ \d\d:\d\d\)", left["name"])


def test_runs_are_marked_on_the_time_axis(viewer: Client) -> None:
    fill(1)
    applied_run(0.5)
    [mark] = heat(viewer)["marks"]
    assert mark["what"] == "Added"


@pytest.mark.parametrize(
    "query", [{"start": "x"}, {"start": 5, "end": 1}, {"start": -1, "end": 10**12}, {"target": "?"}]
)
def test_senseless_ranges_are_put_right(viewer: Client, query: dict[str, object]) -> None:
    fill(0.1)
    assert heat(viewer, **query)["end"] > 0


def test_the_report_compares_the_same_hours_and_tests_the_difference(viewer: Client) -> None:
    fill(40, log_hours_ago=15)
    run = applied_run(15)
    text = page(viewer, f"/evidence/{TANK}/report/{run.id}/")
    assert "Commits are faster than before; the difference is statistically significant" in text
    assert "The same hours of the day" in text
    assert re.search(
        r"Commits are about [0-9.]+ times as fast as before "
        r"\(nine in ten comparisons of the same hour of the day: [0-9.]+ to [0-9.]+ times",
        text,
    )
    of_commits = text.partition(">Commit latency")[2].partition("</tr>")[0]
    assert re.search(r"about ([0-9.]+) times", text)[1] == re.search(r"÷ ([0-9.]+)", of_commits)[1]  # type: ignore[index]
    rows = list(csv.reader(viewer.get(f"/evidence/{TANK}/report/{run.id}/?format=csv").content.decode().splitlines()))
    assert rows[0] == ["Figure", "Before", "After", "Factor"]
    assert ["Verdict", "faster", "", ""] in rows
    assert "Before and after" in page(viewer, f"/pools/{TANK}/evidence/")


def test_the_report_has_the_picture_of_both_sides_on_one_scale(viewer: Client) -> None:
    fill(40, log_hours_ago=15)
    text = page(viewer, f"/evidence/{TANK}/report/{applied_run(15).id}/")
    picture = text.partition('class="latency-pair')[2].partition("</svg>")[0]
    assert picture.count('class="heat-ground"') == 2
    assert '<path class="heat-7"' in picture
    times = re.findall(r"> ?(\d+) (?:ns|µs|ms|s)</text>", picture)
    assert len(times) >= 6
    assert all(re.fullmatch("[125]0{0,2}", time) for time in times), times
    medians = [float(found) for found in re.findall(r">p50 ([0-9.]+) ms", picture)]
    assert medians[0] > 10 * medians[1]
    lines = [float(found) for found in re.findall(r'class="median"[^>]* y1="([0-9.]+)"', picture)]
    assert lines[0] < lines[1], "longer times are higher up, on both sides alike"


def test_right_after_the_run_the_proof_says_that_it_is_too_early(operator: Client) -> None:
    fill(3)
    run = applied_run(0.05)
    assert "Too early to say" in page(operator, f"/runs/{run.id}/proof/")


def test_a_report_of_something_that_was_never_applied_is_not_there(viewer: Client) -> None:
    fill(1)
    assert viewer.get(f"/evidence/{TANK}/report/{RUN}/").status_code == 404
