"""The evidence pages in a real browser: how they look, and that the heat map answers mouse and keyboard."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import SampledPool, StoredAnswer, StoredMeasurement
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.console.worker.tasks import roll_up_samples
from nasadvisor.domain.evidence.log_blocks import replayed
from nasadvisor.domain.evidence.measuring.measurement import MeasureProgress, Stage
from nasadvisor.domain.health.smart.power_loss import Protection, ProtectionEvidence
from nasadvisor.host.simulated.evidence import simulated_commits, simulated_count, simulated_curve, simulated_waiting
from nasadvisor.stored.documents import to_document
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.layout import WIDTHS, check_layout
from tests.evidence.picture import RECORDED
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import applied_run
from tests.unit.console.evidence.test_measuring import load, measured, store, tell_health
from tests.unit.machines import TANK

DRAWN_MS = 120_000  # beside guests of the lab that share its processors
IMAGES = Path(__file__).parents[2] / "docs/images"


def traced() -> Any:
    return to_document(simulated_waiting(timezone.now().isoformat(timespec="seconds")))


def drawn(desk: Desk) -> None:
    """Open the map, and wait until it has data."""
    if not desk.page.locator("#heatmap > details[open]").count():
        desk.page.locator("#heatmap > details > summary").click()
    desk.page.locator(".heat-canvas[data-drawn]").wait_for(timeout=DRAWN_MS)


def unfold(desk: Desk) -> None:
    """Open all that is folded."""
    desk.page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")


def watched(desk: Desk) -> None:
    fill(30, log_hours_ago=7)
    applied_run(7)
    StoredAnswer.objects.create(form="waiting-programs", node=Node.objects.get(), asked_at=timezone.now())
    take_answer("nas", "waiting-programs", traced())
    desk.open(f"/pools/{TANK}/evidence/")
    drawn(desk)
    unfold(desk)


def fresh(desk: Desk) -> None:
    fill(0.2)
    desk.open(f"/pools/{TANK}/evidence/")
    drawn(desk)


def curve(desk: Desk) -> None:
    """The cache curve, with its table open."""
    fill(0.2)
    now = timezone.now()
    StoredAnswer.objects.create(form="cache-curve", node=Node.objects.get(), pool_guid=TANK, asked_at=now, seconds=3600)
    take_answer(
        "nas", "cache-curve", to_document(simulated_curve(TANK, "tank", now.isoformat(timespec="seconds"), 3600))
    )
    desk.open(f"/pools/{TANK}/evidence/")
    drawn(desk)
    unfold(desk)


def metadata(desk: Desk) -> None:
    """What a count of the blocks came to, beside a curve, with its tables open."""
    fill(26)
    now = timezone.now()
    at = now.isoformat(timespec="seconds")
    StoredAnswer.objects.create(form="cache-curve", node=Node.objects.get(), pool_guid=TANK, asked_at=now, seconds=3600)
    take_answer("nas", "cache-curve", to_document(simulated_curve(TANK, "tank", at, 3600)))
    StoredAnswer.objects.create(form="block-count", node=Node.objects.get(), pool_guid=TANK, asked_at=now, seconds=3600)
    take_answer("nas", "block-count", to_document(simulated_count(TANK, "tank", at)))
    desk.open(f"/pools/{TANK}/evidence/")
    drawn(desk)
    unfold(desk)


def unwatched(desk: Desk) -> None:
    SampledPool.objects.all().delete()
    desk.open(f"/pools/{TANK}/evidence/")


def pools(desk: Desk) -> None:
    fill(26)
    desk.open("/storage/")


def report(desk: Desk) -> None:
    fill(40, log_hours_ago=15)
    desk.open(f"/evidence/{TANK}/report/{applied_run(15).id}/")


def proof(desk: Desk) -> None:
    fill(40, log_hours_ago=15)
    applied_run(15)
    desk.open(f"/runs/{StoredRun.objects.get().pk}/proof/")


def measure(desk: Desk) -> None:
    """What was measured, beside it the pool's own commits and what the SSD made of them."""
    load()
    now = timezone.now()
    trace = simulated_commits(TANK, "tank", now.isoformat(timespec="seconds"), 3600)
    StoredAnswer.objects.create(
        form="commit-trace", node=Node.objects.get(), pool_guid=TANK, asked_at=now, seconds=3600
    )
    take_answer("nas", "commit-trace", to_document(trace))
    found = measured(str(uuid4()), 80, 5, had_log=False)
    assert found.candidate
    again = replayed(trace, [700_000] * 2990 + [9_000_000] * 10, trace.busiest.seconds)
    store(replace(found, candidate=replace(found.candidate, replayed=again)))
    tell_health((ProtectionEvidence("NVMe controller: no volatile write cache", Protection.LIKELY),))
    desk.open(f"/evidence/{TANK}/measure/")


def measuring(desk: Desk) -> None:
    """A measurement that is under way, and how far it is."""
    measure(desk)
    desk.page.fill("input[name=password]", PASSWORD)
    desk.page.locator("main form button.btn-primary").click()
    desk.page.get_by_text("Running.").or_(desk.page.get_by_text("Läuft")).first.wait_for()
    order = str(StoredMeasurement.objects.get(document__isnull=True).pk)
    at = (timezone.now() - timedelta(seconds=70)).isoformat()
    take_answer("nas", "measure-progress", to_document(MeasureProgress(order, Stage.TEST, 3, 8, at, 310, 600)))
    desk.page.locator("progress[value^='6']").wait_for()


def overview(desk: Desk) -> None:
    fill(26)
    roll_up_samples()
    desk.open("/")


PAGES: dict[str, Callable[[Desk], None]] = {
    "watched": watched,
    "fresh": fresh,
    "curve": curve,
    "metadata": metadata,
    "unwatched": unwatched,
    "pools": pools,
    "report": report,
    "proof": proof,
    "measure": measure,
    "measuring": measuring,
    "overview": overview,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_both_languages(operator: Desk, name: str) -> None:
    PAGES[name](operator)

    def reload() -> None:
        operator.page.reload()
        if operator.page.locator(".heat-canvas").count():
            drawn(operator)
        unfold(operator)

    check_layout(operator, f"evidence-{name}", reload)


def test_a_trace_is_asked_for_and_shows_by_itself(operator: Desk) -> None:
    fresh(operator)
    operator.page.locator("#writers > details > summary").click()
    operator.page.get_by_role("button", name="Trace for 20 seconds").click()
    expect(operator.page.locator("#waiting")).to_contain_text("Tracing is running.")
    take_answer("nas", "waiting-programs", traced())
    expect(operator.page.locator("#waiting")).to_contain_text("4 processes, busiest 2300")


def test_while_the_map_is_being_loaded_the_page_says_so_and_then_how_to_read_it(operator: Desk) -> None:
    fill(0.2)
    asked: list[Route] = []

    def hold_back(route: Route) -> None:
        asked.append(route)

    operator.page.route("**/heat/**", hold_back)
    operator.open(f"/pools/{TANK}/evidence/")
    readout, canvas = operator.page.locator(".heat-readout"), operator.page.locator(".heat-canvas")
    assert not asked, "what is folded is not loaded"
    operator.page.locator("#heatmap > details > summary").click()
    expect(readout).to_have_text("The heat map is loading.")
    box = canvas.bounding_box()
    assert box
    assert box["height"] > 300
    asked[0].continue_()
    expect(readout).to_have_text("Hover for values; drag to zoom.")


def test_the_map_tells_its_values_and_zooms(operator: Desk) -> None:
    watched(operator)
    page = operator.page
    canvas, readout = page.locator(".heat-canvas"), page.locator(".heat-readout")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(readout).to_have_text(re.compile(r"commits/s"))
    with page.expect_response("**/heat/**") as zoomed:
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 + 120, box["y"] + 60)
        page.mouse.up()
    answer = zoomed.value.json()
    assert answer["end"] - answer["start"] < 6 * 3600
    with page.expect_response("**/heat/**") as out:
        page.locator("[data-heat-back]").click()
    answer = out.value.json()
    assert answer["end"] - answer["start"] == 86400
    assert [mark["what"] for mark in answer["marks"]] == ["Added"]


def test_the_map_can_be_read_with_the_keyboard_alone(operator: Desk) -> None:
    watched(operator)
    operator.page.locator(".heat-canvas").focus()
    for _ in range(3):
        operator.page.keyboard.press("ArrowLeft")
    expect(operator.page.locator(".heat-readout")).to_have_text(re.compile(r"commits/s"))
    with operator.page.expect_response("**/heat/**"):
        operator.page.keyboard.press("Enter")
    with operator.page.expect_response("**/heat/**"):
        operator.page.keyboard.press("Escape")


def test_another_part_of_the_pool_can_be_chosen(operator: Desk) -> None:
    watched(operator)
    with operator.page.expect_response("**/heat/**target=class-logs**"):
        operator.page.locator("[data-heat=target]").select_option("class-logs")


DRAWN_TEXT = """() => {
  window.texts = [];
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const wide = Math.min(this.measureText(text).width, most || Infinity);
    const left = x - { left: 0, center: wide / 2, right: wide }[this.textAlign];
    const on = this.canvas.className;
    window.texts.push({ text, left, right: left + wide, top: y - 6, bottom: y + 6, on });
    return draw.call(this, text, x, y, most);
  };
}"""
"""Notes where words are drawn, which nobody can ask a canvas for afterwards."""


def redrawn(desk: Desk) -> list[dict[str, Any]]:
    """The words of the two pictures, drawn anew."""
    desk.page.evaluate(f"({DRAWN_TEXT})()")
    desk.page.evaluate("window.dispatchEvent(new Event('resize'))")
    texts: list[dict[str, Any]] = desk.page.evaluate("window.texts")
    return texts


@pytest.mark.parametrize("width", WIDTHS)
def test_words_in_the_pictures_cover_neither_each_other_nor_values(operator: Desk, width: int) -> None:
    operator.page.set_viewport_size({"width": width, "height": 900})
    fill(30, log_hours_ago=7)
    stored = applied_run(7).run
    for hours in (5, 6.9, 7.1):
        at = (timezone.now() - timedelta(hours=hours)).isoformat(timespec="seconds")
        steps = tuple(replace(step, ended_at=at) for step in stored.steps)
        take_answer("nas", "run", to_document(replace(stored, id=str(uuid4()), steps=steps)))
    operator.open(f"/pools/{TANK}/evidence/")
    drawn(operator)
    texts = redrawn(operator)
    assert sum(each["text"].startswith("⚑") for each in texts) >= 2
    for one, other in combinations([each for each in texts if each["on"] == "heat-canvas"], 2):
        apart = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (one, other)


def test_the_axis_of_latency_has_round_times(operator: Desk) -> None:
    watched(operator)
    ticks = [each["text"] for each in redrawn(operator) if re.search(r" (ns|µs|ms|s)$", each["text"])]
    ticks = [text for text in ticks if "peak" not in text]
    assert len(ticks) >= 4
    assert all(re.fullmatch(r"[125]0{0,2} (ns|µs|ms|s)", text) for text in ticks), ticks


def test_the_axis_of_time_has_whole_hours(operator: Desk) -> None:
    watched(operator)
    times = [each["text"] for each in redrawn(operator) if re.fullmatch(r"\d\d:\d\d", each["text"])]
    assert len(times) >= 8
    assert all(text.endswith(":00") for text in times), times


def test_printing_cuts_nothing_off_the_pictures(operator: Desk) -> None:
    watched(operator)
    operator.page.emulate_media(media="print")
    operator.page.set_viewport_size({"width": 700, "height": 1000})
    for box in operator.page.locator("canvas, svg").all():
        place = box.bounding_box()
        assert place is None or place["x"] + place["width"] <= 700


def test_an_address_that_leads_to_what_is_folded_opens_it(operator: Desk) -> None:
    operator.page.set_viewport_size({"width": 390, "height": WIDTHS[390]})
    fill(30)
    operator.open(f"/pools/{TANK}/evidence/#metadata")
    expect(operator.page.get_by_text("Listing a directory")).to_be_visible()
    expect(operator.page.get_by_text("Beyond the bend")).to_be_hidden()
    operator.page.get_by_role("heading", name="Cache size vs. hit rate").click()
    expect(operator.page.get_by_text("Beyond the bend")).to_be_visible()


def test_the_evidence_fits_one_screen_and_a_half_and_each_choice_opens_with_the_keyboard(operator: Desk) -> None:
    fill(30)
    operator.open(f"/pools/{TANK}/evidence/")
    page = operator.page
    assert page.evaluate("document.documentElement.scrollHeight") <= 1400
    assert len(page.locator("main").inner_text().split()) <= 350
    page.locator(".option-log summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Supporting data").first).to_be_visible()


def test_what_is_printed_is_open(operator: Desk) -> None:
    fill(30)
    operator.open(f"/pools/{TANK}/evidence/")
    operator.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(operator.page.get_by_text("Listing a directory")).to_be_visible()
    operator.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(operator.page.get_by_text("Listing a directory")).to_be_hidden()


@pytest.mark.skipif(not RECORDED.exists(), reason="`make evidence` records it")
def test_the_picture_of_a_log_that_takes_over(operator: Desk) -> None:
    """Story 4: the latencies fall at the moment the log is added, and rise when it goes. Kept for the documentation."""
    recorded = json.loads(RECORDED.read_text())
    Node.objects.all().delete()
    shift = int(time.time()) - max(sample["at"] for each in recorded["readings"] for sample in each["samples"])
    node = recorded["inventory"]["host"]["node"]
    take_answer(node, "inventory", {**recorded["inventory"], "read_at": timezone.now().isoformat(timespec="seconds")})
    take_answer(node, "run", later(recorded["run"], shift))
    for reading in recorded["readings"]:
        samples = [{**sample, "at": sample["at"] + shift} for sample in reading["samples"]]
        take_answer(node, "reading", {**reading, "samples": samples})
    guid = recorded["inventory"]["pools"][0]["guid"]
    ends = [sample["at"] + shift for each in recorded["readings"] for sample in each["samples"]]
    operator.open(f"/pools/{guid}/evidence/?start={min(ends) - 10}&end={max(ends)}")
    drawn(operator)
    IMAGES.mkdir(exist_ok=True)
    operator.page.set_viewport_size({"width": 1440, "height": 4000})  # all of it, so that the bar on top covers nothing
    operator.page.locator("#heatmap").screenshot(path=IMAGES / "heatmap-log-added.png")


def later(run: Any, shift: int) -> Any:
    """The run with all its times moved."""
    if isinstance(run, dict):
        return {key: later(value, shift) for key, value in run.items()}
    if isinstance(run, list):
        return [later(value, shift) for value in run]
    if isinstance(run, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", run):
        return (datetime.fromisoformat(run) + timedelta(seconds=shift)).isoformat()
    return run
