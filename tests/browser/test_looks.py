"""Each page of the wizard and of runs: it fits at three widths in both languages, and axe-core finds nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.trials import keep_trial_verdicts
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.layout import check_layout
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import NVME2, TANK, with_broken_log, with_dead_log, with_single_log


def pools(desk: Desk) -> None:
    desk.open(f"/wizard/{TANK}/")


def devices(desk: Desk) -> None:
    desk.open(f"/wizard/{TANK}/devices/")


def chosen(desk: Desk) -> None:
    """A log and caches on the SSDs that fit best, though nothing shows that they help."""
    devices(desk)
    desk.page.locator("button[name=anyway]").click()


def preview(desk: Desk) -> None:
    chosen(desk)
    go_on_to_preview(desk)


def go_on_to_preview(desk: Desk) -> None:
    """With the devices that are chosen."""
    desk.page.locator("button[form=devices]").click()
    desk.page.wait_for_url("**/plans/**")


def attach(desk: Desk) -> None:
    """The single log of the pool is about to become a mirror."""
    desk.host.executor.state = with_single_log()
    desk.host.publish_inventory()
    pools(desk)
    desk.page.locator("button[value=mirror]").click()
    desk.page.locator("button[value=offer]").click()


def attach_preview(desk: Desk) -> None:
    attach(desk)
    go_on_to_preview(desk)


def broken_pool(desk: Desk) -> None:
    """A side of the pool's mirrored log is broken."""
    desk.host.executor.state = with_broken_log()
    desk.host.publish_inventory()
    pools(desk)


def replace_devices(desk: Desk) -> None:
    broken_pool(desk)
    desk.page.locator("button[value=replace]").click()


def replace_preview(desk: Desk) -> None:
    replace_devices(desk)
    go_on_to_preview(desk)


def dead_log(desk: Desk) -> None:
    """The single log of the pool is dead."""
    desk.host.executor.state = with_dead_log()
    desk.host.publish_inventory()
    pools(desk)


def dead_log_pool(desk: Desk) -> None:
    dead_log(desk)
    desk.open(f"/pools/{TANK}/")


def instead_devices(desk: Desk) -> None:
    dead_log(desk)
    desk.page.locator("button[value=instead]").click()


def instead_preview(desk: Desk) -> None:
    instead_devices(desk)
    go_on_to_preview(desk)


def take_out_preview(desk: Desk) -> None:
    dead_log_pool(desk)
    desk.page.locator("form[action*=take-out] button").click()
    desk.page.wait_for_url("**/plans/**")


def requested(desk: Desk) -> None:
    preview(desk)
    desk.page.fill("input[name=password]", PASSWORD)
    desk.page.locator("main form button.btn-primary").click()
    desk.page.wait_for_url("**/runs/**")


def applied(desk: Desk) -> None:
    requested(desk)
    desk.let_host_work()
    desk.page.reload()
    desk.page.locator("#run details summary").last.click()


def proof(desk: Desk) -> None:
    applied(desk)
    desk.open(f"/runs/{StoredRun.objects.get().pk}/proof/")


def undo(desk: Desk) -> None:
    applied(desk)
    desk.open(f"/runs/{StoredRun.objects.get().pk}/undo/")


def undone(desk: Desk) -> None:
    undo(desk)
    desk.page.fill("input[name=password]", PASSWORD)
    desk.page.locator("main form button.btn-danger").click()
    desk.page.wait_for_url("**/runs/**")
    desk.let_host_work()
    desk.page.reload()


def interrupted(desk: Desk) -> None:
    applied(desk)
    run = StoredRun.objects.get()
    steps = run.document["steps"]
    for step in steps[5:]:
        step.update(state="pending", ended_at="", ran=[])
    StoredRun.objects.update(state="interrupted", document={**run.document, "state": "interrupted", "steps": steps})
    desk.page.reload()


def on_trial(desk: Desk) -> None:
    preview(desk)
    desk.page.select_option("select[name=trial]", "86400")
    desk.page.fill("input[name=password]", PASSWORD)
    desk.page.locator("main form button.btn-primary").click()
    desk.page.wait_for_url("**/runs/**")
    desk.let_host_work()
    desk.page.reload()


def keep(desk: Desk) -> None:
    on_trial(desk)
    desk.open(f"/runs/{StoredRun.objects.get().pk}/keep/")


def trial_over(desk: Desk) -> None:
    """A day later, with what was seen of the pool before and meanwhile."""
    on_trial(desk)
    desk.host.ahead = timedelta(days=2)
    desk.host.end_trials()
    fill(1)
    keep_trial_verdicts(timezone.now())
    desk.page.reload()


def trial_over_overview(desk: Desk) -> None:
    trial_over(desk)
    desk.open("/")


def history(desk: Desk) -> None:
    undone(desk)
    desk.open("/runs/")


def no_history(desk: Desk) -> None:
    desk.open("/runs/")


def refused(desk: Desk) -> None:
    chosen(desk)
    ask_for_too_much(desk)


def ask_for_too_much(desk: Desk) -> None:
    """A cache that does not fit."""
    desk.page.locator("#id_cache_size").fill("2T")
    desk.page.locator("#refusals .reason").first.wait_for()


def single(desk: Desk) -> None:
    chosen(desk)
    choose_one(desk)


def choose_one(desk: Desk) -> None:
    """The log on one SSD alone."""
    desk.page.locator(f"input[name=log_on][value='{NVME2}']").check()
    desk.page.locator("#notes").get_by_text("5 s").wait_for()


def single_preview(desk: Desk) -> None:
    """With a risk to accept."""
    single(desk)
    desk.page.locator("button[form=devices]").click()
    desk.page.wait_for_url("**/plans/**")


def unfolded_preview(desk: Desk) -> None:
    preview(desk)
    unfold(desk)


def unfold(desk: Desk) -> None:
    for summary in desk.page.locator(".review-more summary").all():
        summary.click()


PAGES: dict[str, Callable[[Desk], None]] = {
    "1-pool": pools,
    "2-devices": devices,
    "2-devices-chosen": chosen,
    "2-devices-refused": refused,
    "2-devices-single": single,
    "4-preview": preview,
    "4-preview-single": single_preview,
    "4-preview-unfolded": unfolded_preview,
    "2-devices-attach": attach,
    "4-preview-attach": attach_preview,
    "1-pool-broken": broken_pool,
    "2-devices-replace": replace_devices,
    "4-preview-replace": replace_preview,
    "1-pool-dead-log": dead_log,
    "1-pool-page-dead-log": dead_log_pool,
    "2-devices-instead": instead_devices,
    "4-preview-instead": instead_preview,
    "4-preview-take-out": take_out_preview,
    "5-run-requested": requested,
    "5-run-applied": applied,
    "5-run-interrupted": interrupted,
    "5-run-on-trial": on_trial,
    "5-run-keep": keep,
    "5-run-trial-over": trial_over,
    "5-run-trial-over-overview": trial_over_overview,
    "6-proof": proof,
    "7-undo": undo,
    "7-run-undone": undone,
    "8-history": history,
    "8-history-empty": no_history,
}


AGAIN: dict[str, Callable[[Desk], None]] = {
    "2-devices-refused": ask_for_too_much,
    "2-devices-single": choose_one,
    "4-preview-unfolded": unfold,
}
"""What is done once more where a reload does not bring it back; which SSDs are chosen is kept."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_both_languages(operator: Desk, name: str) -> None:
    PAGES[name](operator)

    def reload() -> None:
        operator.page.goto(operator.page.url)
        if name in AGAIN:
            AGAIN[name](operator)

    check_layout(operator, name, reload)
