from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts import platforms
from nasadvisor.console.accounts.roles import UserRole
from nasadvisor.console.change.models import Pending, StoredPlan, StoredRun, StoredRunState
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.change.refusals import PlatformUntested
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.change.undo import cannot_be_undone, undo_steps
from nasadvisor.domain.change.unreadable_runs import Unreadable, UnreadableRun
from nasadvisor.domain.fleet.platforms import Platform, PlatformReport, Veto
from nasadvisor.domain.statements import Statement
from nasadvisor.host.change.lock import HostBusy
from nasadvisor.host.errors import CommandFailed
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.simulated_host import Killed, SimulatedHost, simulated_host
from tests.unit.console.conftest import PASSWORD, Sent, sign_in
from tests.unit.console.home.test_overview import on_host
from tests.unit.machines import NVME1, NVME2, TANK, home_server, with_pool

BUSY = Statement("host-busy", "Another disk operation is running on this host.")
LAYOUT = {"log_on": "mirror", "log_size": "4G", "cache_size": "", "reserve_percent": "10", "naming": "by-partuuid"}


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


@pytest.fixture
def requested(host: SimulatedHost, client: Client) -> StoredRun:
    """A run that an operator asked for and no host has taken up."""
    del host
    sign_in(client, UserRole.OPERATOR)
    client.post(f"/wizard/{TANK}/devices/", {"log": [NVME1, NVME2], "cache": [NVME1, NVME2], **LAYOUT})
    client.post(f"/plans/{StoredPlan.objects.get().pk}/", {"password": PASSWORD})
    return StoredRun.objects.get()


@pytest.fixture
def applied(requested: StoredRun, host: SimulatedHost, sent: list[Sent]) -> StoredRun:
    """A run that its host carried out."""
    deliver(host, sent)
    return StoredRun.objects.get(pk=requested.pk)


@pytest.fixture
def interrupted(requested: StoredRun, host: SimulatedHost, sent: list[Sent]) -> StoredRun:
    """A run whose host worker died in the middle, and which the host has found so."""
    host.kill_at = 6
    with pytest.raises(Killed):
        deliver(host, sent)
    host.kill_at = 0
    StoredRun.objects.update(state=StoredRunState.INTERRUPTED)
    document = {**StoredRun.objects.get().document, "state": "interrupted"}
    StoredRun.objects.update(document=document)
    return StoredRun.objects.get(pk=requested.pk)


def deliver(host: SimulatedHost, sent: list[Sent]) -> None:
    """Hand the waiting tasks to the host."""
    while sent:
        task = sent.pop(0)
        host.answer(task.task, task.args)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def on_the_dummy(monkeypatch: pytest.MonkeyPatch, host: SimulatedHost) -> None:
    """The host is of the dummy platform, of a version that nobody has tried; the console is not on it."""
    report = PlatformReport(
        "nas",
        home_server().read_at,
        platforms=(Platform("Dummy NAS", "3.0"),),
        vetoes=(Veto(PlatformUntested("Dummy NAS", "3.0", "1.5", "3")),),
    )
    take_answer("nas", "platform-report", to_document(report))
    dummy = SimpleNamespace(during_runs=Statement("waits", "The dummy waits."))
    monkeypatch.setattr(platforms, "known", lambda: {"Dummy NAS": dummy})


@pytest.mark.parametrize("page", ["", "proof/", "undo/"])
def test_above_a_run_stands_its_host_whichever_is_chosen(client: Client, applied: StoredRun, page: str) -> None:
    on_host("another", typical())
    client.post("/node/", {"node": "another"})
    assert client.get(f"/runs/{applied.pk}/{page}").context["frame"].node == applied.node


class TestPlatform:
    def test_what_its_users_should_know_is_said_while_a_run_is_on(
        self, client: Client, requested: StoredRun, on_the_dummy: None
    ) -> None:
        assert "The dummy waits." not in text(client.get(f"/runs/{requested.pk}/"))
        StoredRun.objects.update(document={**requested.document, "seq": 1}, seq=1, state=StoredRunState.APPLYING)
        assert "The dummy waits." in text(client.get(f"/runs/{requested.pk}/"))

    def test_before_an_undo_it_warns_of_a_version_that_nobody_has_tried(
        self, client: Client, applied: StoredRun, on_the_dummy: None
    ) -> None:
        assert "This undo is on Dummy NAS 3.0" in text(client.get(f"/runs/{applied.pk}/undo/"))


class TestRunPage:
    def test_before_the_host_answers_it_waits_and_polls(self, client: Client, requested: StoredRun) -> None:
        page = text(client.get(f"/runs/{requested.pk}/"))
        assert "Waiting for nas to pick up the plan." in page
        assert 'hx-trigger="every 1s"' in page
        assert f"/runs/{requested.pk}/undo/" not in page

    def test_at_the_end_it_says_what_changed_and_polls_no_more(self, client: Client, applied: StoredRun) -> None:
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "Done on pool tank: log mirrored across 2 slices of 4 GiB; 2 × 415 GiB cache" in page
        assert "hx-trigger" not in page
        assert f'href="/runs/{applied.pk}/undo/"' in page
        assert f'href="/runs/{applied.pk}/proof/"' in page

    def test_commands_and_answers_are_folded_on_the_page(self, client: Client, applied: StoredRun) -> None:
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "<details" in page
        assert "zpool add -o ashift=12 tank log mirror" in page
        assert "(simulated)" in page

    def test_the_fragment_has_no_news_until_something_changes(self, client: Client, requested: StoredRun) -> None:
        page = text(client.get(f"/runs/{requested.pk}/fragment/"))
        shown = page.split("?shown=")[1].split('"')[0]
        assert client.get(f"/runs/{requested.pk}/fragment/?shown={shown}").status_code == 204
        StoredRun.objects.update(state=StoredRunState.UNANSWERED, pending=Pending.NOTHING)
        assert client.get(f"/runs/{requested.pk}/fragment/?shown={shown}").status_code == 200

    def test_a_request_that_nobody_took_up_says_that_nothing_was_changed(
        self, client: Client, requested: StoredRun
    ) -> None:
        StoredRun.objects.update(state=StoredRunState.UNANSWERED, pending=Pending.NOTHING)
        page = text(client.get(f"/runs/{requested.pk}/"))
        assert "nas did not pick up the plan in time." in page
        assert "nothing was changed, and nothing will be" in page
        assert "hx-trigger" not in page

    def test_a_silent_host_in_the_middle_of_a_run_is_mentioned(
        self, client: Client, requested: StoredRun, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        host.kill_at = 4
        with pytest.raises(Killed):
            deliver(host, sent)
        Node.objects.update(last_contact=timezone.now() - timedelta(seconds=90))
        page = text(client.get(f"/runs/{requested.pk}/"))
        assert "nas last responded 9" in page
        assert "s ago. The run continues there" in page

    def test_a_refused_run_shows_the_reason(
        self, client: Client, requested: StoredRun, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        host.executor.state = with_pool(host.executor.state, checkpoint="1G")
        deliver(host, sent)
        page = text(client.get(f"/runs/{requested.pk}/"))
        assert "The host refused the plan. Nothing was changed." in page
        assert "have changed since this plan was created" in page or "has a checkpoint (1G)" in page

    def test_an_unknown_run_is_not_found(self, operator: Client) -> None:
        assert operator.get("/runs/7f0c2a4e-0000-4000-8000-000000000001/").status_code == 404

    def test_a_run_whose_document_is_none_says_that_it_cannot_be_read(self, client: Client, applied: StoredRun) -> None:
        StoredRun.objects.update(document={"from": "another version"})
        assert "This run cannot be read." in text(client.get(f"/runs/{applied.pk}/"))

    def test_every_state_has_its_words(self, client: Client, applied: StoredRun) -> None:
        for state in RunState:
            StoredRun.objects.update(state=state, document={**applied.document, "state": state.value})
            assert client.get(f"/runs/{applied.pk}/").status_code == 200, state


class TestProof:
    def test_each_part_is_shown_as_the_pool_has_it(self, client: Client, applied: StoredRun) -> None:
        page = text(client.get(f"/runs/{applied.pk}/proof/"))
        assert page.count("/dev/disk/by-partuuid/") == 4
        assert "not in the pool" not in page

    def test_a_part_that_is_missing_is_said_to_be(
        self, client: Client, applied: StoredRun, host: SimulatedHost
    ) -> None:
        host.executor.state = with_pool(host.executor.state, logs=())
        host.publish_inventory()
        assert text(client.get(f"/runs/{applied.pk}/proof/")).count("not in the pool") == 2

    def test_an_inventory_from_before_the_run_is_said_to_be_old(
        self, client: Client, applied: StoredRun, host: SimulatedHost
    ) -> None:
        host.executor.state = with_pool(host.executor.state, logs=())
        host.publish_inventory()
        node = Node.objects.get()
        Node.objects.update(
            inventory_document={**(node.inventory_document or {}), "read_at": "2020-01-01T00:00:00+00:00"},
            inventory_version=uuid4(),
        )
        page = text(client.get(f"/runs/{applied.pk}/proof/"))
        assert "has not been read since the run ended" in page
        assert "not in the pool" not in page
        assert page.count("not checked yet") == 2


class TestUndo:
    def test_it_says_what_stays_and_names_the_pool(self, client: Client, applied: StoredRun) -> None:
        page = text(client.get(f"/runs/{applied.pk}/undo/"))
        steps = page.partition("left-steps")[2].partition("</ul>")[0]
        assert steps.count("<li>") == len(undo_steps(applied.run.plan)) > 0
        assert "Undo on pool tank" in page
        assert cannot_be_undone(applied.run.plan)[0].code == "log-leaves-hole"
        assert "keeps an empty entry (a hole)" in page

    def test_the_right_password_asks_the_host_and_both_facts_are_said(
        self, client: Client, applied: StoredRun, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        response = client.post(f"/runs/{applied.pk}/undo/", {"password": PASSWORD})
        assert response.headers["Location"] == f"/runs/{applied.pk}/"
        assert [(task.task, task.args) for task in sent] == [("host.undo", [str(applied.pk), "operator"])]
        assert "Undo requested. Waiting for nas." in text(client.get(f"/runs/{applied.pk}/"))
        deliver(host, sent)
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "Everything that this run did was undone." in page
        assert "No slice is left." in page
        assert "keeps an empty entry (a hole)" in page
        assert host.executor.state.disks == home_server().disks

    def test_a_wrong_password_asks_nobody(self, client: Client, applied: StoredRun, sent: list[Sent]) -> None:
        page = text(client.post(f"/runs/{applied.pk}/undo/", {"password": "wrong"}))
        assert "Wrong password." in page
        assert not sent

    def test_without_redis_it_says_so(self, client: Client, applied: StoredRun, request: pytest.FixtureRequest) -> None:
        request.getfixturevalue("no_redis")
        page = text(client.post(f"/runs/{applied.pk}/undo/", {"password": PASSWORD}))
        assert "The message service (Redis) is not responding" in page
        assert StoredRun.objects.get().pending == Pending.NOTHING

    def test_it_is_asked_for_only_once(self, client: Client, applied: StoredRun, sent: list[Sent]) -> None:
        for _again in range(2):
            client.post(f"/runs/{applied.pk}/undo/", {"password": PASSWORD})
        assert len(sent) == 1

    def test_a_run_in_progress_cannot_be_undone(self, client: Client, requested: StoredRun, sent: list[Sent]) -> None:
        sent.clear()
        client.post(f"/runs/{requested.pk}/undo/", {"password": PASSWORD})
        assert not sent

    def test_a_viewer_sees_the_run_and_no_button(self, client: Client, applied: StoredRun, sent: list[Sent]) -> None:
        sign_in(client, UserRole.VIEWER)
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert f"/runs/{applied.pk}/undo/" not in page
        assert client.post(f"/runs/{applied.pk}/undo/", {"password": PASSWORD}).status_code == 403
        assert f"/runs/{applied.pk}/undo/" not in text(client.get("/runs/"))
        assert not sent

    def test_foreign_fields_are_refused(self, client: Client, applied: StoredRun, sent: list[Sent]) -> None:
        response = client.post(f"/runs/{applied.pk}/undo/", {"password": PASSWORD, "pool": "other"})
        assert response.status_code == 400
        assert not sent


class TestFinish:
    def test_an_interrupted_run_offers_both_ways(self, client: Client, interrupted: StoredRun) -> None:
        page = text(client.get(f"/runs/{interrupted.pk}/"))
        assert "The run was interrupted after" in page
        assert f'href="/runs/{interrupted.pk}/finish/"' in page
        assert f'href="/runs/{interrupted.pk}/undo/"' in page
        assert "hx-trigger" not in page

    def test_finishing_does_the_rest(
        self, client: Client, interrupted: StoredRun, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        assert "Finish on pool tank" in text(client.get(f"/runs/{interrupted.pk}/finish/"))
        client.post(f"/runs/{interrupted.pk}/finish/", {"password": PASSWORD})
        deliver(host, sent)
        assert StoredRun.objects.get().state == StoredRunState.APPLIED

    def test_undoing_takes_back_what_was_done(
        self, client: Client, interrupted: StoredRun, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        client.post(f"/runs/{interrupted.pk}/undo/", {"password": PASSWORD})
        deliver(host, sent)
        assert StoredRun.objects.get().state == StoredRunState.UNDONE
        assert host.executor.state.disks == home_server().disks

    def test_a_run_that_is_done_cannot_be_finished(self, client: Client, applied: StoredRun, sent: list[Sent]) -> None:
        client.post(f"/runs/{applied.pk}/finish/", {"password": PASSWORD})
        assert not sent


class TestHistory:
    def test_it_is_empty_at_first_and_says_so(self, operator: Client) -> None:
        assert "Nothing has been changed yet." in text(operator.get("/runs/"))

    def test_it_lists_who_did_what_where_with_its_undo(self, client: Client, applied: StoredRun) -> None:
        page = text(client.get("/runs/"))
        assert "operator" in page
        assert "log mirrored across 2 slices of 4 GiB" in page
        assert f'href="/runs/{applied.pk}/undo/"' in page

    @pytest.mark.usefixtures("applied")
    def test_it_filters_by_result_and_pool(self, client: Client) -> None:
        assert "No matching runs." in text(client.get("/runs/?state=undone"))
        assert "No matching runs." in text(client.get("/runs/?pool=1"))
        assert "log mirrored" in text(client.get(f"/runs/?state=applied&pool={TANK}"))

    def test_a_record_of_another_version_is_listed_all_the_same(self, client: Client, applied: StoredRun) -> None:
        StoredRun.objects.filter(pk=applied.pk).update(document={"from": "another version"})
        page = text(client.get("/runs/"))
        assert "This record cannot be read." in page
        assert "tank" in page

    @pytest.mark.parametrize("path", ["fragment/", "undo/", "finish/", "proof/"])
    def test_its_pages_say_that_a_newer_release_stored_it(self, client: Client, applied: StoredRun, path: str) -> None:
        StoredRun.objects.update(document={**applied.document, "version": 99})
        response = client.get(f"/runs/{applied.pk}/{path}")
        assert response.status_code == 404
        assert "a newer release of NAS Advisor wrote it" in text(response)

    def test_the_page_of_a_run_that_cannot_be_read_says_what_is_known_of_it(
        self, client: Client, applied: StoredRun
    ) -> None:
        StoredRun.objects.update(document={**applied.document, "version": 99})
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "This run cannot be read." in page
        assert "Pool tank on nas, requested by operator" in page

    def test_the_report_of_a_run_that_cannot_be_read_says_so(self, client: Client, applied: StoredRun) -> None:
        StoredRun.objects.update(document={**applied.document, "version": 99})
        response = client.get(f"/evidence/{TANK}/report/{applied.pk}/")
        assert response.status_code == 404
        assert "a newer release of NAS Advisor wrote it" in text(response)


class TestARunWhoseJournalCannotBeRead:
    PROBLEM = Statement("journal-damaged", "The journal is damaged in line 3.")

    def lost(self, run: StoredRun, **changes: Any) -> UnreadableRun:
        lost = UnreadableRun(str(run.pk), run.node.name, Unreadable.DAMAGED, self.PROBLEM)
        return replace(lost, **changes)

    def test_its_page_keeps_what_was_told_says_the_problem_and_offers_nothing(
        self, client: Client, applied: StoredRun
    ) -> None:
        take_answer(applied.node.name, "unreadable-run", to_document(self.lost(applied)))
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "can no longer read it" in page
        assert "damaged in line 3" in page
        assert "zpool add" in page
        assert "/undo/" not in page
        assert "/undo/" not in text(client.get("/runs/"))
        assert client.get(f"/runs/{applied.pk}/undo/").status_code == 302
        assert "cannot read the journal of run" in text(client.get("/"))

    def test_one_that_the_console_never_heard_of_is_in_the_history_with_what_is_known(
        self, client: Client, applied: StoredRun
    ) -> None:
        lost = self.lost(applied, id=str(uuid4()), pool_name="backup", by="root", started_at="yesterday")
        take_answer(applied.node.name, "unreadable-run", to_document(lost))
        page = text(client.get("/runs/"))
        assert "backup" in page
        assert "Damaged" in page
        assert "damaged in line 3" in text(client.get(f"/runs/{lost.id}/"))

    def test_a_journal_that_was_put_back_is_read_again_however_short(self, client: Client, applied: StoredRun) -> None:
        take_answer(applied.node.name, "unreadable-run", to_document(self.lost(applied)))
        take_answer(applied.node.name, "run", to_document(replace(applied.run, seq=2, state=RunState.INTERRUPTED)))
        stored = StoredRun.objects.get()
        assert (stored.state, stored.error) == ("interrupted", None)
        assert f"/runs/{applied.pk}/undo/" in text(client.get(f"/runs/{applied.pk}/"))

    def test_a_trial_of_it_is_no_longer_announced(self, applied: StoredRun) -> None:
        StoredRun.objects.update(trial_until=timezone.now())
        take_answer(applied.node.name, "unreadable-run", to_document(self.lost(applied)))
        assert StoredRun.objects.get().trial_until is None

    def test_another_node_cannot_say_so(self, applied: StoredRun) -> None:
        take_answer("other", "unreadable-run", to_document(self.lost(applied, node="other")))
        assert StoredRun.objects.get().state == StoredRunState.APPLIED
        with pytest.raises(ValueError, match="came from other"):
            take_answer("other", "unreadable-run", to_document(self.lost(applied)))


class TestAHostThatDidNotBegin:
    def test_it_is_refused_with_the_sentence_if_nothing_was_begun(self, requested: StoredRun, client: Client) -> None:
        take_error(requested.node.name, "apply", str(requested.pk), to_document(BUSY))
        assert StoredRun.objects.get().state == StoredRunState.REFUSED
        assert "Another disk operation" in text(client.get(f"/runs/{requested.pk}/"))

    def test_it_keeps_the_state_of_a_run_that_is_under_way(self, applied: StoredRun, client: Client) -> None:
        take_error(applied.node.name, "apply", str(applied.pk), to_document(BUSY))
        assert StoredRun.objects.get().state == StoredRunState.APPLIED
        assert "Another disk operation" in text(client.get(f"/runs/{applied.pk}/"))

    def test_it_takes_no_word_from_another_node(self, requested: StoredRun) -> None:
        take_error("other", "apply", str(requested.pk), to_document(BUSY))
        assert StoredRun.objects.get().error is None


class TestInGerman:
    """Steps, their notes and the host's errors are said in the reader's language; the record keeps templates."""

    @pytest.fixture(autouse=True)
    def german(self, client: Client) -> None:
        client.cookies.load({"nasadvisor_language": "de"})

    def test_the_steps_are_translated(self, applied: StoredRun, client: Client) -> None:
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert "Dem Pool tank einen Spiegel aus 2 Slices als Log hinzufügen" in page
        assert "Dem Pool tank 2 Cache-Slices hinzufügen" in page
        assert "Add a mirror" not in page

    def test_the_steps_that_are_left_are_translated(self, interrupted: StoredRun, client: Client) -> None:
        assert "Cache-Slices hinzufügen" in text(client.get(f"/runs/{interrupted.pk}/finish/"))

    def test_a_failed_step_says_why_with_the_reasons_inside_it(self, applied: StoredRun, client: Client) -> None:
        failed = to_document(CommandFailed("zpool add", 1, "no such device", mutates=True).statement)
        del failed["version"]  # of a statement that stands for itself
        document = applied.document
        document["steps"][0]["note"] = failed
        StoredRun.objects.update(document=document)
        page = text(client.get(f"/runs/{applied.pk}/"))
        assert (
            "Der Befehl zpool add schlug mit dem Exit-Code 1 fehl. Die Meldung lautet: „no such device“. Der Vorgang"
            in page
        )

    def test_what_the_host_said_is_translated(self, applied: StoredRun, client: Client) -> None:
        take_error(applied.node.name, "apply", str(applied.pk), to_document(HostBusy(Path("/run/x")).statement))
        assert "läuft eine andere Plattenoperation" in text(client.get(f"/runs/{applied.pk}/"))
