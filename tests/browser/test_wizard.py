"""The whole way in a real browser: from the pool to the proof, and back."""

import re
from datetime import timedelta

from playwright.sync_api import expect

from nasadvisor.console.change.models import StoredRun
from tests.browser import journey
from tests.browser.conftest import PASSWORD, Desk
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import ARCHIVE, TANK, home_server


def begin(desk: Desk) -> None:
    journey.begin(desk.page, desk.url, "tank")


def apply(desk: Desk) -> None:
    begin(desk)
    journey.preview(desk.page)
    journey.apply(desk.page, "tank", PASSWORD)


def test_a_mirrored_log_and_caches_are_added_seen_and_undone(operator: Desk) -> None:
    page = operator.page
    apply(operator)
    expect(page.get_by_role("heading", name="Waiting for nas to pick up the plan.")).to_be_visible()
    operator.let_host_work()
    expect(page.get_by_role("heading", name="Done on pool tank")).to_be_visible()
    page.get_by_role("link", name="View it in the pool").click()
    expect(page.get_by_text("log 4 GiB on")).to_have_count(2)
    journey.undo(page, "tank", PASSWORD)
    expect(page.get_by_role("heading", name="Undo requested")).to_be_visible()
    operator.let_host_work()
    expect(page.get_by_role("heading", name="Everything that this run did was undone.")).to_be_visible()
    expect(page.get_by_text("No slice is left.")).to_be_visible()
    expect(page.get_by_text("keeps an empty entry (a hole)")).to_be_visible()
    assert operator.host.executor.state.disks == home_server().disks


def test_the_run_page_follows_step_by_step_and_stops_at_the_end(operator: Desk) -> None:
    page = operator.page
    apply(operator)
    seen: list[str] = []

    def look() -> None:
        run = StoredRun.objects.get()
        done = sum(step.state == "done" for step in run.run.steps)
        if run.run.is_active:
            expect(page.locator("#headline")).to_contain_text(f"{done} of {len(run.run.steps)} steps done")
            seen.append(page.locator("#headline").inner_text())

    operator.let_host_work(after_each=look)
    expect(page.locator("#headline")).to_contain_text("Done on pool")
    assert len(set(seen)) > 3
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_timeout(2500)
    assert not requests


def test_closing_the_browser_changes_nothing(operator: Desk) -> None:
    apply(operator)
    address = operator.page.url
    operator.page.close()
    operator.let_host_work()
    operator.page = operator.page.context.new_page()
    operator.page.goto(address)
    expect(operator.page.locator("#headline")).to_contain_text("Done on pool")


def test_what_is_unfolded_stays_unfolded_while_the_page_follows(operator: Desk) -> None:
    page = operator.page
    apply(operator)
    last = page.locator("#run details").last
    last.locator("summary").click()
    operator.let_host_work()
    expect(page.locator("#headline")).to_contain_text("Done on pool")
    expect(page.locator("#run details").last).to_have_attribute("open", "")


def test_the_review_of_a_mirrored_log_and_caches_fits_on_one_screen(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    journey.preview(page)
    for words in ("Before", "After", "Added", "Wiped", "RAM", "Wear", "After an undo, these remain", "Good to know"):
        expect(page.get_by_text(words, exact=words != "Good to know").first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Apply to pool tank")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollHeight <= window.innerHeight")


def test_a_single_log_is_applied_only_with_its_own_tick(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    page.get_by_label("Single log on").first.check()
    expect(page.locator("#summary")).to_contain_text("single log")
    journey.preview(page)
    tick = page.get_by_label("I accept a log without a mirror")
    expect(tick).to_be_focused()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Apply to pool tank").click()
    expect(tick).to_be_focused()
    page.evaluate("document.getElementById('apply').submit()")  # past the browser's own check
    expect(page.get_by_text("“I accept a log without a mirror” is not ticked.")).to_be_visible()
    assert not StoredRun.objects.exists()
    tick.check()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Apply to pool tank").click()
    expect(page.locator("#headline")).to_contain_text("Waiting for nas")


def test_the_drawing_follows_typing_and_the_slider(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    page.get_by_label("Log size").last.fill("8G")
    expect(page.locator("#summary")).to_contain_text("log mirrored across 2 slices of 8 GiB")
    slider = page.locator("[data-slider-for=id_log_size]")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.locator("#id_log_size")).to_have_value("9G")
    expect(page.locator("#summary")).to_contain_text("9 GiB")
    page.locator("#id_cache_size").fill("2T")
    expect(page.locator("#refusals")).to_contain_text("has room for")


def test_continuing_with_what_is_proposed_leads_to_a_plan_that_nothing_warns_of(operator: Desk) -> None:
    page = operator.page
    fill(3)
    page.goto(f"{operator.url}/wizard/")
    page.get_by_role("button", name="Add to tank").click()
    expect(page.get_by_text("Proposed", exact=True)).to_be_visible()
    expect(page.get_by_text("Programs wait for")).to_be_visible()
    expect(page.locator("#log-nvme0n1")).to_be_checked()
    expect(page.locator("#log-nvme1n1")).to_be_checked()
    expect(page.locator("#cache-nvme0n1")).not_to_be_checked()
    notes = page.locator("#notes")
    expect(notes).to_contain_text("Note")
    expect(notes).not_to_contain_text(re.compile("Warning|Danger|Critical"))
    journey.preview(page)
    expect(page.locator("main")).not_to_contain_text(re.compile("Warning|Danger|Critical"))


def test_the_summary_follows_the_choice_of_ssds(operator: Desk) -> None:
    page = operator.page
    page.goto(f"{operator.url}/wizard/")
    page.get_by_role("button", name="Add to tank").click()
    page.get_by_role("button", name="Add anyway").click()
    summary = page.locator("#summary")
    expect(summary).to_contain_text("log mirrored across 2 slices")
    page.locator("label[for=log-nvme1n1]").click()
    expect(summary).not_to_contain_text("mirrored")
    page.locator("label[for=log-nvme0n1]").click()
    page.locator("label[for=cache-nvme0n1]").click()
    page.locator("label[for=cache-nvme1n1]").click()
    expect(summary).to_contain_text("Nothing is chosen yet.")
    page.locator("label[for=log-nvme1n1]").click()
    expect(summary).to_contain_text("single log")
    expect(page.get_by_text("A single log. To mirror it, choose a second SSD")).to_be_visible()


def test_a_pool_that_is_refused_says_why_and_nothing_can_be_chosen(operator: Desk) -> None:
    operator.open(f"/wizard/{ARCHIVE}/devices/")
    expect(operator.page.get_by_text("Pool archive is DEGRADED, not ONLINE.")).to_be_visible()
    expect(operator.page.get_by_role("link", name="View pool")).to_be_visible()
    expect(operator.page.get_by_role("checkbox")).to_have_count(0)


def test_choices_survive_going_back_and_a_reload(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    page.locator("#id_log_size").fill("6G")
    expect(page.locator("#summary")).to_contain_text("6 GiB")
    journey.preview(page)
    page.get_by_role("link", name="Back").click()
    expect(page.locator("#id_log_size")).to_have_value("6G")
    with page.expect_response("**/answer/?disks"):
        page.locator("label[for=cache-nvme1n1]").click()
    page.reload()
    expect(page.locator("#id_log_size")).to_have_value("6G")
    expect(page.locator("#cache-nvme0n1")).to_be_checked()
    expect(page.locator("#cache-nvme1n1")).not_to_be_checked()


def test_a_viewer_is_offered_nothing_that_changes(desk: Desk) -> None:
    desk.sign_in("viewer")
    desk.open(f"/wizard/{TANK}/")
    expect(desk.page.get_by_role("heading", name="Not allowed")).to_be_visible()


def test_a_console_that_does_not_answer_is_said_to_and_the_page_catches_up(operator: Desk) -> None:
    page = operator.page
    apply(operator)
    page.route("**/fragment/**", lambda route: route.abort())
    expect(page.get_by_text("The console does not respond.")).to_be_visible()
    operator.let_host_work()
    page.unroute("**/fragment/**")
    expect(page.locator("#headline")).to_contain_text("Done on pool")
    expect(page.get_by_text("The console does not respond.")).to_be_hidden()


def test_a_session_that_ends_while_a_run_is_followed_leads_to_the_login(operator: Desk) -> None:
    apply(operator)
    operator.page.context.clear_cookies()
    operator.page.wait_for_url("**/login/**")
    expect(operator.page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_trial_is_asked_for_shown_and_kept(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    journey.preview(page)
    page.get_by_label("Keep it, or try it first?").select_option(label="Try it for a day")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Apply to pool tank").click()
    operator.let_host_work()
    expect(page.get_by_role("heading", name="Done on pool tank, on trial")).to_be_visible()
    expect(page.get_by_text("On trial. Reverted automatically")).to_be_visible()
    page.get_by_role("link", name="Keep").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Keep it in pool tank").click()
    expect(page.get_by_role("heading", name="Keeping the run was requested")).to_be_visible()
    operator.let_host_work()
    expect(page.get_by_text("This run was on trial and was kept by operator")).to_be_visible()
    operator.host.ahead = timedelta(days=2)
    operator.host.end_trials()
    assert StoredRun.objects.get().state == "applied"


def test_a_trial_that_nobody_keeps_is_taken_back_and_the_page_tells(operator: Desk) -> None:
    page = operator.page
    begin(operator)
    journey.preview(page)
    page.get_by_label("Keep it, or try it first?").select_option(label="Try it for 4 hours")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Apply to pool tank").click()
    operator.let_host_work()
    expect(page.get_by_role("link", name="Undo now")).to_be_visible()
    operator.host.ahead = timedelta(days=1)
    operator.host.end_trials()
    page.reload()
    expect(page.get_by_role("heading", name="The trial has ended, and everything was reverted.")).to_be_visible()
    assert operator.host.executor.state.disks == home_server().disks
