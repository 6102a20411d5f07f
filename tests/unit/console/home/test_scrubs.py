"""The scrub of a pool on its page: how far it is, the button, and what became of a request."""

import pytest
from django.test import Client

from nasadvisor.console.accounts.audit_models import Act, AuditEntry
from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import BY_VERB, take_answer
from nasadvisor.domain.fleet.permissions import Verbs, may_not
from nasadvisor.domain.fleet.platforms import PlatformReport, Veto
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.storage.inventory import ScanProgress
from nasadvisor.host.health.scrub import ScrubRefused
from nasadvisor.stored.documents import to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.test_pages import load, page
from tests.unit.machines import TANK, home_server, with_pool

PAGE, START = f"/pools/{TANK}/", f"/pools/{TANK}/scrub/"
BUTTON = f'action="{START}"'


def test_an_operator_starts_a_scrub_and_the_page_waits_for_the_host(operator: Client, sent: list[Sent]) -> None:
    load(home_server())
    assert BUTTON in page(operator, PAGE)
    operator.post(START)
    [task] = sent
    assert (task.task, task.args) == ("host.start_scrub", [TANK, "operator"])
    assert AuditEntry.objects.filter(act=Act.SCRUB, about="nas: tank").exists()
    text = page(operator, PAGE)
    assert BUTTON not in text
    assert "Requested; waiting for the host." in text
    take_answer("nas", "scrub-start", to_document(ScrubStart("nas", TANK)))
    assert BUTTON in page(operator, PAGE)


def test_a_viewer_has_no_button(viewer: Client) -> None:
    load(home_server())
    assert BUTTON not in page(viewer, PAGE)


def test_why_none_began_is_said_until_the_next_request(operator: Client, sent: list[Sent]) -> None:
    load(home_server())
    operator.post(START)
    BY_VERB["start_scrub"]("nas", TANK, to_document(ScrubRefused("tank", "currently resilvering").statement))
    text = page(operator, PAGE)
    assert "currently resilvering" in text
    assert BUTTON in text
    operator.post(START)
    assert "currently resilvering" not in page(operator, PAGE)
    assert len(sent) == 2


@pytest.mark.parametrize("changes", [{"scan": "resilver"}, {"suspended": True}, {"read_only": True}, {"problem": "?"}])
def test_where_openzfs_would_start_none_there_is_no_button(operator: Client, changes: dict[str, object]) -> None:
    load(with_pool(home_server(), **changes))
    assert BUTTON not in page(operator, PAGE)


def test_how_far_one_is_is_drawn(viewer: Client) -> None:
    load(with_pool(home_server(), scan="scrub", scan_progress=ScanProgress("2026-08-25T00:00:00+00:00", 41, 100)))
    text = page(viewer, PAGE)
    assert '<progress class="w-100 mt-1" max="100" value="41"' in text
    assert "scrub, 41 %" in text


def test_one_that_is_paused_is_called_so_and_resumed_by_the_button(operator: Client, sent: list[Sent]) -> None:
    began, paused = "2026-08-25T00:00:00+00:00", "2026-08-25T03:00:00+00:00"
    load(with_pool(home_server(), scan="scrub", scan_progress=ScanProgress(began, 41, 100, paused)))
    text = page(operator, PAGE)
    assert "scrub, 41 % (paused)" in " ".join(text.split())
    assert "Resume scrub" in text.partition(BUTTON)[2]
    operator.post(START)
    assert [task.task for task in sent] == ["host.start_scrub"]


def test_a_host_that_lets_no_console_ask_is_not_asked_and_its_reason_is_shown(
    operator: Client, sent: list[Sent]
) -> None:
    load(home_server())
    report = PlatformReport("nas", "2026-08-25T00:00:00+00:00", vetoes=(Veto(may_not(Verbs.MEASURE), forbids=()),))
    Node.objects.filter(name="nas").update(platform_document=to_document(report))
    text = page(operator, PAGE)
    assert BUTTON not in text
    assert "does not allow a console" in text
    operator.post(START)
    assert (sent, StoredAnswer.objects.count()) == ([], 0)
