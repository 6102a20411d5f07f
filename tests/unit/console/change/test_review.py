"""The review of a plan: what it says, what must be accepted, and that nothing but the password applies it."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.change.models import StoredPlan, StoredRun
from nasadvisor.console.change.wizard.acceptance import risks_in
from nasadvisor.console.change.wizard.draft import Draft
from nasadvisor.console.change.wizard.plan_summary import gist_of
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.evidence.options import PoolWaiting, Waits
from nasadvisor.domain.evidence.verdict import Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import Browser
from tests.unit.console.change.test_wizard import LAYOUT, kept, plan_of, press_on, show, text
from tests.unit.console.conftest import PASSWORD, Sent, sign_in
from tests.unit.console.home.test_overview import on_host
from tests.unit.machines import NVME1, NVME2, SHARED_SSD, TANK, home_server, with_disk, with_pool


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


class TestReview:
    def test_it_shows_commands_the_way_back_and_every_consequence(self, operator: Client) -> None:
        page = text(operator.get(f"/plans/{plan_of(operator).id}/"))
        assert "zpool add -o ashift=12 tank log mirror /dev/disk/by-partuuid/" in page
        assert "zpool remove tank" in page
        assert "keeps an empty entry (a hole) in place of the log" in page
        assert "the other side of the mirrored log keeps working" in page
        assert "Before" in page
        assert "After" in page

    def test_above_it_stands_the_host_that_is_changed_whichever_is_chosen(self, operator: Client) -> None:
        """Two hosts may each have a pool tank, and the button below applies to one of them."""
        stored = plan_of(operator)
        on_host("another", typical())
        operator.post("/node/", {"node": "another"})
        assert operator.get(f"/plans/{stored.id}/").context["frame"].node == stored.node

    def test_a_change_to_real_disks_is_not_called_simulated(self, operator: Client) -> None:
        page = text(operator.get(f"/plans/{plan_of(operator).id}/"))
        assert "Apply to pool tank" in page
        assert "imulated" not in page

    def test_a_changed_host_makes_the_plan_outdated(self, operator: Client, host: SimulatedHost) -> None:
        stored = plan_of(operator)
        show(host, with_pool(home_server(), name="renamed"))
        page = text(operator.get(f"/plans/{stored.id}/"))
        assert "have changed since this plan was created" in page
        assert "Apply to pool" not in page

    def test_five_lines_say_what_it_comes_to(self, operator: Client) -> None:
        page = text(operator.get(f"/plans/{plan_of(operator, cache_size='100G').id}/"))
        labels = "2 × Samsung SSD 960 EVO 500GB (N1, N2)"
        assert f"Log mirrored across 2 slices of 4 GiB; 2 × 100 GiB cache on {labels}" in page
        assert "Nothing: blank as read <time" in page
        assert "About 150 MiB for cache headers" in page
        assert "the writes of this pool have not been monitored" in page
        assert "A permanent empty entry (a hole) in place of the log; the commands in the pool&#x27;s history" in page

    def test_a_log_on_ssds_without_power_loss_protection_is_warned_of_before_anything_folded(
        self, operator: Client
    ) -> None:
        stored = plan_of(operator)
        StoredDisk.objects.filter(key__in=[NVME1, NVME2]).update(power_loss="unlikely")
        page = text(operator.get(f"/plans/{stored.id}/"))
        unfolded = page.partition('class="review-more"')[0]
        warning = unfolded.partition('<div class="risk risk-warning">')[2].partition("</div></div>")[0]
        assert "These SSDs probably have no power-loss protection" in warning
        assert "risk-critical" not in unfolded

    def test_partitions_that_stay_are_said_to_stay(self, operator: Client) -> None:
        operator.post(f"/wizard/{TANK}/devices/", {"log": [NVME1], "free_space": "offer"})
        press_on(operator, [NVME1, NVME2], [SHARED_SSD], **LAYOUT)
        page = text(operator.get(f"/plans/{StoredPlan.objects.get().pk}/"))
        assert "Nothing: the partitions on Crucial CT500MX500SSD1 (C2) stay as they are" in page

    def test_a_host_that_was_read_long_ago_is_not_said_to_be_looked_at_just_now(self, operator: Client) -> None:
        stored = plan_of(operator)
        Node.objects.update(inventory_read_at=timezone.now() - timedelta(hours=3))
        assert re.search(r"blank as read <time[^>]*>3 hours ago", text(operator.get(f"/plans/{stored.id}/")))

    def test_an_unknown_plan_is_not_found(self, operator: Client) -> None:
        assert operator.get("/plans/7f0c2a4e-0000-4000-8000-000000000001/").status_code == 404


class TestRisks:
    """A critical finding needs its own tick, and the server asks for it."""

    def test_a_single_log_is_not_applied_without_its_tick(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator, log_on=NVME2)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert "Nothing was changed: “I accept a log without a mirror” is not ticked." in text(response)
        assert not sent
        assert not StoredRun.objects.exists()

    def test_with_its_tick_and_the_password_it_is(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator, log_on=NVME2)
        operator.post(f"/plans/{stored.id}/", {"password": PASSWORD, "accept": keys_on(operator, stored)})
        assert len(sent) == 1

    def test_data_that_nobody_recognises_are_not_erased_without_a_tick_of_their_own(
        self, operator: Client, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        show(host, with_disk(home_server(), NVME1, unrecognised_at=4096))
        stored = plan_of(operator)
        (key,) = keys_on(operator, stored)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert "Nothing was changed: “Erase this data” is not ticked." in text(response)
        assert "first at byte 4096" in text(response)
        assert not sent
        operator.post(f"/plans/{stored.id}/", {"password": PASSWORD, "accept": [key]})
        assert len(sent) == 1

    def test_a_disk_with_data_that_nobody_recognises_is_not_called_blank(
        self, operator: Client, host: SimulatedHost
    ) -> None:
        show(host, with_disk(home_server(), NVME1, unrecognised_at=4096))
        stored = plan_of(operator)
        gist = gist_of(stored.plan, with_disk(home_server(), NVME1, unrecognised_at=4096), None, None)
        erased, blank = gist.erased[0], gist.blank[0]
        page = text(operator.get(f"/plans/{stored.id}/"))
        assert f"The data on {erased} that no tool here recognises." in page
        assert f"Nothing on {blank}: blank as read" in page

    def test_the_gain_that_is_expected_stands_beside_what_is_added(self, operator: Client) -> None:
        known = PoolWaiting(Waits(Wait(1800, 3600, 7200), NO_WAIT), Relief(Waiting.COMMITS, 0.5, 0.9), None)
        stored = plan_of(operator)
        assert "Expected gain" not in text(operator.get(f"/plans/{stored.id}/"))
        SampledPool.objects.create(node=stored.node, guid=TANK, name="tank", waiting_document=to_document(known))
        page = text(operator.get(f"/plans/{stored.id}/")).replace("\N{NO-BREAK SPACE}", " ")
        assert "Log: 30 min to 54 min less waiting a day" in page

    def test_the_tick_alone_does_not_stand_for_the_password(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator, log_on=NVME2)
        keys = keys_on(operator, stored)
        page = text(operator.post(f"/plans/{stored.id}/", {"password": "wrong", "accept": keys}))
        assert "Wrong password." in page
        assert f'value="{keys[0]}" id="accept-{keys[0]}" form="apply" required checked' in page
        assert not sent

    def test_a_tick_for_another_sentence_counts_for_nothing(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator, log_on=NVME2)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD, "accept": ["0123456789abcdef"]})
        assert "is not ticked" in text(response)
        assert not sent

    def test_each_risk_has_a_tick_of_its_own(self) -> None:
        findings = [Finding("a", "One.", level=Level.CRITICAL), Finding("a", "Two.", level=Level.CRITICAL)]
        assert len({risk.key for risk in risks_in([*findings, *findings])}) == len(risks_in(findings)) == 2

    def test_a_mirror_asks_for_no_tick(self, operator: Client) -> None:
        assert keys_on(operator, plan_of(operator)) == []


def keys_on(client: Client, stored: StoredPlan) -> list[str]:
    """What the ticks on the page of a plan post."""
    return re.findall(r'name="accept" value="(\w+)"', text(client.get(f"/plans/{stored.id}/")))


class TestApply:
    def test_the_button_names_the_pool(self, operator: Client) -> None:
        assert "Apply to pool tank</button>" in text(operator.get(f"/plans/{plan_of(operator).id}/"))

    def test_the_right_password_starts_the_run(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert response.headers["Location"] == f"/runs/{stored.id}/"
        assert [(task.task, task.queue, task.args) for task in sent] == [
            ("host.apply", "host.nas", [stored.document, 0, "operator"])
        ]
        assert StoredRun.objects.get().state == "requested"

    def test_a_wrong_password_starts_nothing(self, operator: Client, sent: list[Sent]) -> None:
        response = operator.post(f"/plans/{plan_of(operator).id}/", {"password": "wrong"})
        assert "Wrong password." in text(response)
        assert not sent
        assert not StoredRun.objects.exists()

    def test_a_second_post_leads_to_the_same_run(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator)
        for _again in range(2):
            response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
            assert response.headers["Location"] == f"/runs/{stored.id}/"
        assert len(sent) == 1

    @pytest.mark.usefixtures("no_redis")
    def test_without_redis_it_says_so_and_nothing_is_half_done(self, operator: Client) -> None:
        stored = plan_of(operator)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert "The message service (Redis) is not responding" in text(response)
        assert not StoredRun.objects.exists()

    def test_foreign_fields_are_refused(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD, "log_size": "1T"})
        assert response.status_code == 400
        assert not sent

    def test_somebody_elses_plan_is_refused(self, client: Client, sent: list[Sent]) -> None:
        sign_in(client, UserRole.ADMIN)
        stored = plan_of(client)
        sign_in(client, UserRole.OPERATOR)
        response = client.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert response.status_code == 403
        assert "This plan was created by someone else." in text(response)
        assert not sent

    def test_a_viewer_cannot_apply(self, client: Client, sent: list[Sent]) -> None:
        user = sign_in(client, UserRole.OPERATOR)
        stored = plan_of(client)
        set_role(user, UserRole.VIEWER)
        assert client.get(f"/plans/{stored.id}/").status_code == 403
        assert client.post(f"/plans/{stored.id}/", {"password": PASSWORD}).status_code == 403
        assert not sent

    def test_an_outdated_plan_is_not_applied(self, operator: Client, host: SimulatedHost, sent: list[Sent]) -> None:
        stored = plan_of(operator)
        show(host, with_pool(home_server(), name="renamed"))
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert "have changed since this plan was created" in text(response)
        assert not sent

    def test_a_plan_of_another_node_goes_to_that_node_only(self, operator: Client, sent: list[Sent]) -> None:
        stored = plan_of(operator)
        other = Node.objects.create(name="other")
        StoredPlan.objects.filter(pk=stored.pk).update(node=other)
        response = operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert "have changed since this plan was created" in text(response)
        assert not sent

    def test_the_choices_are_forgotten_once_applied(self, operator: Client) -> None:
        stored = plan_of(operator, log_size="6G")
        operator.post(f"/plans/{stored.id}/", {"password": PASSWORD})
        assert kept(operator) == Draft("nothing kept")

    def test_a_passkey_of_ones_own_applies_and_no_other(self, sent: list[Sent]) -> None:
        browser, mine, other = Browser(), Device(), Device()
        sign_in(browser, UserRole.OPERATOR)
        browser.add_passkey(mine)
        stored = plan_of(browser)
        for device, applied in ((other, []), (mine, ["host.apply"])):
            browser.post(f"/plans/{stored.id}/", {"password": "", "passkey": device.sign(browser.asked())})
            assert [each.task for each in sent] == applied
