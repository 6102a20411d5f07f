from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from nasadvisor.console.change.models import StoredDraft, StoredPlan
from nasadvisor.console.change.wizard.draft import Draft
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.change.actions import AttachLog
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.stored.documents import from_document
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.machines import (
    ARCHIVE,
    NVME1,
    NVME2,
    SATA_SSD,
    SHARED_SSD,
    TANK,
    home_server,
    with_broken_log,
    with_pool,
    with_single_log,
)

LAYOUT = {
    "log_on": "mirror",
    "log_size": "4G",
    "cache_size": "",
    "reserve_percent": "10",
    "naming": "by-partuuid",
}


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


def show(host: SimulatedHost, inventory: Inventory) -> None:
    host.executor.state = inventory
    host.publish_inventory()


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def choose(client: Client, log: list[str], cache: list[str], **sizes: str) -> Any:
    """Tick disks, and perhaps type sizes; nothing is gone on with."""
    return client.post(f"/wizard/{TANK}/devices/answer/?disks", {"log": log, "cache": cache, **sizes})


def press_on(client: Client, log: list[str], cache: list[str], **sizes: str) -> Any:
    """Go on to the review with these."""
    return client.post(f"/wizard/{TANK}/devices/", {"log": log, "cache": cache, **sizes})


def kept(client: Client) -> Draft:
    """The choices that are kept of this user."""
    row = StoredDraft.objects.filter(user=client.session["_auth_user_id"], pool_guid=TANK).first()
    return from_document(Draft, row.document) if row else Draft("nothing kept")


def plan_of(client: Client, **changes: str) -> StoredPlan:
    response = press_on(client, [NVME1, NVME2], [NVME1, NVME2], **{**LAYOUT, **changes})
    assert response.status_code == 302, text(response)
    return StoredPlan.objects.get(pk=response.headers["Location"].split("/")[2])


class TestPool:
    def test_every_pool_is_shown_and_a_degraded_one_says_why_not(self, operator: Client) -> None:
        page = text(operator.get("/wizard/"))
        assert "Add to tank" in page
        assert "Pool archive is DEGRADED, not ONLINE." in page
        assert "Add to archive" not in page

    def test_a_single_log_can_be_made_a_mirror(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_single_log())
        assert "Mirror its single log" in text(operator.get(f"/wizard/{TANK}/"))

    def test_nothing_can_be_chosen_for_a_pool_that_is_refused(self, operator: Client) -> None:
        """It said why not, above thirteen buttons that worked."""
        page = text(operator.get(f"/wizard/{ARCHIVE}/devices/"))
        assert "Pool archive is DEGRADED, not ONLINE." in page
        assert f'href="/pools/{ARCHIVE}/">View pool' in page
        for button in ("Continue to review", "Add anyway", 'name="cache"', 'name="log"'):
            assert button not in page
        assert "wizard.js" not in page, "it looks for the form"

    def test_a_log_that_is_not_online_cannot_be_mirrored(self, operator: Client, host: SimulatedHost) -> None:
        inventory = with_single_log()
        pool = inventory.pool(TANK)
        assert pool
        show(host, with_pool(inventory, logs=(replace(pool.logs[0], state="FAULTED"),)))
        page = text(operator.get(f"/wizard/{TANK}/"))
        assert "Mirror its single log" not in page
        assert "Repair it before you attach a second side." in page

    def test_a_broken_side_of_the_log_can_be_replaced_although_the_pool_is_degraded(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        show(host, with_broken_log())
        page = text(operator.get("/wizard/"))
        assert "Replace the failed side of its log" in page
        assert "Add to tank" not in page

    def test_nothing_is_replaced_while_something_else_ails_the_pool(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        inventory = with_broken_log()
        pool = inventory.pool(TANK)
        assert pool
        show(host, with_pool(inventory, data=tuple(replace(top, state="DEGRADED") for top in pool.data)))
        assert "Replace the failed side of its log" not in text(operator.get("/wizard/"))
        response = operator.post(f"/wizard/{TANK}/", {"goal": "replace"})
        assert response.headers["Location"] == f"/wizard/{TANK}/"

    def test_an_unusable_pool_cannot_be_begun_with(self, operator: Client) -> None:
        response = operator.post(f"/wizard/{ARCHIVE}/", {"goal": "add"})
        assert response.headers["Location"] == f"/wizard/{ARCHIVE}/"

    def test_a_pool_that_lacks_the_log_feature_offers_a_cache_only(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_pool(home_server(), features=()))
        assert "No log, only a cache:" in text(operator.get("/wizard/"))

    def test_an_unknown_pool_is_not_found(self, operator: Client) -> None:
        assert operator.get("/wizard/1/").status_code == 404

    def test_without_pools_the_page_says_what_to_do(self, operator: Client, host: SimulatedHost) -> None:
        show(host, replace(home_server(), pools=()))
        assert "This host has no imported pool." in text(operator.get("/wizard/"))

    def test_without_a_host_the_page_says_what_to_do(self, operator: Client) -> None:
        Node.objects.all().delete()
        assert "No host has reported yet." in text(operator.get("/wizard/"))


class TestDevices:
    def test_every_disk_is_shown_and_unusable_ones_say_why(self, operator: Client) -> None:
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        for disk in home_server().disks:
            assert disk.identity.serial in page
        assert "it has the label of pool backup" in page
        assert "this host boots from it" in page

    def test_of_a_thousand_unusable_disks_a_few_are_shown_first(self, operator: Client, host: SimulatedHost) -> None:
        inventory = home_server()
        boot = inventory.disks[0]
        twins = tuple(
            replace(boot, identity=replace(boot.identity, wwn=f"0x{number}", serial=f"Z{number:04}"))
            for number in range(1000)
        )
        show(host, replace(inventory, disks=(*inventory.disks, *twins)))
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        assert "Show all 1007" in page
        assert "Z0999" not in page
        assert "Z0999" in text(operator.get(f"/wizard/{TANK}/devices/?all"))

    def test_unusable_disks_are_not_accepted(self, operator: Client) -> None:
        response = press_on(operator, [SATA_SSD], [])
        assert response.status_code == 200
        assert "One of the chosen disks is not available." in text(response)

    def test_nothing_chosen_is_a_sentence(self, operator: Client) -> None:
        assert "Choose at least one SSD for the log or the cache." in text(press_on(operator, [], []))

    def test_the_summary_follows_the_choices_and_keeps_what_is_offered(self, operator: Client) -> None:
        summary = f"/wizard/{TANK}/devices/answer/"
        page = text(operator.post(summary, {"log": [NVME1, SATA_SSD], "cache": [NVME1]}))
        assert (kept(operator).log_disks, kept(operator).cache_disks) == ((NVME1,), (NVME1,))
        assert "single log of 4 GiB" in page
        assert "cache" in page
        assert "Nothing is chosen yet." in text(operator.post(summary, {}))
        assert kept(operator).disks == ()
        assert operator.get(summary).status_code == 405

    def test_the_summary_stays_with_choices_that_were_not_accepted(self, operator: Client) -> None:
        assert "Nothing is chosen yet." in text(press_on(operator, [], []))
        chosen = {"log": [NVME1], "log_size": "900G"}
        page = text(operator.post(f"/wizard/{TANK}/devices/answer/", chosen))
        assert "Choose at least one SSD to continue." in page
        assert "Nothing is chosen yet." not in page

    def test_free_space_beside_partitions_is_offered_only_when_asked_for(self, operator: Client) -> None:
        assert press_on(operator, [], [SHARED_SSD]).status_code == 200
        operator.post(f"/wizard/{TANK}/devices/", {"log": [NVME1], "free_space": "offer"})
        assert press_on(operator, [NVME1], [SHARED_SSD]).headers["Location"].startswith("/plans/")

    def test_asking_for_free_space_keeps_what_was_chosen(self, operator: Client) -> None:
        operator.post(f"/wizard/{TANK}/devices/", {"log": [NVME1], "cache": [], "free_space": "offer"})
        draft = kept(operator)
        assert (draft.log_disks, draft.cache_disks, draft.use_free_space) == ((NVME1,), (), True)

    def test_hard_disks_in_a_pool_say_which_pool(self, operator: Client) -> None:
        assert "it is part of pool tank" in text(operator.get(f"/wizard/{TANK}/devices/"))

    def test_a_usb_stick_is_offered_with_a_warning(self, operator: Client) -> None:
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        assert "Free, but not recommended" in page
        assert "is connected by USB" in page

    def test_the_partner_of_a_log_cannot_be_its_own_mirror(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        operator.post(f"/wizard/{TANK}/devices/", {"log": [], "free_space": "offer"})
        assert "Not for the log: Both sides of a mirror would be on" in text(operator.get(f"/wizard/{TANK}/devices/"))
        assert press_on(operator, [NVME1], []).status_code == 200

    def test_attaching_wants_exactly_one_ssd(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        assert "Choose exactly one SSD for the new side of the log." in text(press_on(operator, [], [NVME2]))


class TestSize:
    def test_the_drawing_and_the_memory_follow_the_choices(self, operator: Client) -> None:
        page = text(choose(operator, [NVME1, NVME2], [NVME1, NVME2], **{**LAYOUT, "cache_size": "100G"}))
        assert "<svg" in page
        assert "150 MiB of RAM" in page
        assert "log mirrored across 2 slices of 4 GiB" in page
        assert "2 × 100 GiB cache" in page

    def test_choices_are_kept_for_a_reload(self, operator: Client) -> None:
        choose(operator, [NVME1, NVME2], [NVME1], **{**LAYOUT, "log_size": "7G", "reserve_percent": "20"})
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        assert 'value="7G"' in page
        assert 'value="20"' in page

    def test_a_size_that_is_none_says_what_is_accepted(self, operator: Client) -> None:
        page = text(choose(operator, [NVME1, NVME2], [NVME1], **{**LAYOUT, "log_size": "big"}))
        assert "“big” is not a size." in page

    def test_a_cache_that_does_not_fit_is_refused_with_its_sentence(self, operator: Client) -> None:
        response = press_on(operator, [NVME1, NVME2], [NVME1], **{**LAYOUT, "cache_size": "2T"})
        assert response.status_code == 200
        assert "has room for" in text(response)
        assert not StoredPlan.objects.exists()

    def test_a_single_log_says_what_is_at_risk(self, operator: Client) -> None:
        page = text(choose(operator, [NVME1, NVME2], [NVME1], **{**LAYOUT, "log_on": NVME2}))
        assert "the last ~5 s of synchronous writes are lost, and the pool can be imported only" in page
        assert "the pool itself survives" in page
        assert "single log of 4 GiB" in page

    def test_one_ssd_for_the_log_offers_no_mirror(self, operator: Client) -> None:
        choose(operator, [NVME1], [])
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        assert "To mirror it, choose a second SSD for the log" in page
        assert 'name="log_on"' not in page
        assert "cache_size" not in page

    def test_attaching_asks_for_no_log_size(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        choose(operator, [NVME2], [NVME2])
        page = text(operator.get(f"/wizard/{TANK}/devices/"))
        assert "log_size" not in page
        assert "second log side of 4 GiB" in page

    def test_a_second_ssd_for_the_log_makes_a_mirror_of_it(self, operator: Client) -> None:
        choose(operator, [NVME1], [], **LAYOUT)
        page = text(choose(operator, [NVME1, NVME2], []))
        assert "log mirrored across 2 slices of 4 GiB" in page
        assert 'value="mirror"' in page

    def test_a_single_log_whose_ssd_is_taken_off_leaves_no_answer_behind(self, operator: Client) -> None:
        choose(operator, [NVME1, NVME2], [], **{**LAYOUT, "log_on": NVME1})
        choose(operator, [NVME2], [], **{**LAYOUT, "log_on": NVME1})
        assert "log mirrored across 2 slices of 4 GiB" in text(choose(operator, [NVME1, NVME2], []))

    def test_without_devices_nothing_is_asked_about_sizes(self, operator: Client) -> None:
        assert 'name="reserve_percent"' not in text(operator.get(f"/wizard/{TANK}/devices/"))

    def test_the_plan_is_kept_with_what_was_chosen(self, operator: Client) -> None:
        stored = plan_of(operator, log_size="6G", naming="by-id", reserve_percent="15")
        request = stored.plan.request
        assert request.log_size_bytes == 6 * GIB
        assert request.naming == "by-id"
        assert request.reserve_percent == 15
        assert stored.created_by == User.objects.get(username="operator")

    def test_a_mirror_of_the_existing_log_becomes_an_attach(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_single_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "mirror"})
        press_on(operator, [NVME2], [NVME2], cache_size="")
        assert any(isinstance(action, AttachLog) for action in StoredPlan.objects.get().plan.actions)

    def test_a_replacement_takes_the_broken_side_out_first(self, operator: Client, host: SimulatedHost) -> None:
        show(host, with_broken_log())
        operator.post(f"/wizard/{TANK}/", {"goal": "replace"})
        press_on(operator, [NVME2], [])
        stored = StoredPlan.objects.get()
        assert [action.action for action in stored.plan.actions][-2:] == ["drop-log-side", "attach-log"]
        preview = text(operator.get(f"/plans/{stored.pk}/"))
        assert "zpool detach tank 32" in preview
        assert "The failed side" in preview


@pytest.mark.parametrize(
    "path",
    [
        "/wizard/",
        f"/wizard/{TANK}/",
        f"/wizard/{TANK}/devices/",
        f"/wizard/{TANK}/devices/answer/",
        "/plans/7f0c2a4e-0000-4000-8000-000000000001/",
        "/runs/",
        "/runs/7f0c2a4e-0000-4000-8000-000000000001/",
        "/runs/7f0c2a4e-0000-4000-8000-000000000001/fragment/",
        "/runs/7f0c2a4e-0000-4000-8000-000000000001/undo/",
        "/runs/7f0c2a4e-0000-4000-8000-000000000001/proof/",
    ],
)
def test_anonymous_clients_see_only_the_login(client: Client, path: str) -> None:
    for answer in (client.get(path), client.post(path)):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/login/")


def test_a_viewer_gets_into_no_step_of_the_wizard(viewer: Client) -> None:
    for path in ("/wizard/", f"/wizard/{TANK}/", f"/wizard/{TANK}/devices/"):
        assert viewer.get(path).status_code == 403


class TestDraft:
    def test_the_chosen_single_place_decides_who_carries_the_log(self) -> None:
        assert Draft(TANK, (NVME1, NVME2), log_on=NVME2).log_sides == (NVME2,)

    def test_a_place_that_is_no_longer_chosen_falls_back_to_the_mirror(self) -> None:
        assert Draft(TANK, (NVME1, NVME2), log_on="gone").log_sides == (NVME1, NVME2)
