"""What the pages say while the console's disk is full or its database does not work; nothing is kept of it."""

from html import unescape

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.host_findings import about_room
from nasadvisor.console.health.alerts.models import StoredAlert
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.domain.statements import Level
from nasadvisor.domain.units import GIB, MIB
from tests.fixtures.machines.build import typical
from tests.unit.console.test_pages import load

FAULT, UNAVAILABLE = 500, 503


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many bytes are free on the console's disk, for tests to change."""
    room = {"free": GIB}

    class Usage:
        def __init__(self, _: object) -> None:
            self.free = room["free"]

    monkeypatch.setattr("shutil.disk_usage", Usage)
    return room


def without_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    """The first page while nothing can be read or written any more."""

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    client.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr("django.db.backends.utils.CursorWrapper.execute", fail)
        page = client.get("/")
    assert page.status_code == UNAVAILABLE
    return unescape(page.content.decode())


def test_a_full_disk_is_named_by_the_page_that_cannot_be_shown(
    viewer: Client, free: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    free["free"] = 0
    assert "is full, so nothing was stored" in without_database(viewer, monkeypatch)


def test_a_database_that_does_not_answer_is_not_called_a_fault(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "database is not responding" in without_database(viewer, monkeypatch)


def test_a_fault_of_a_page_is_still_called_one(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer.raise_request_exception = False
    monkeypatch.setattr("nasadvisor.console.home.overview.current_node", lambda _: 1 / 0)
    page = viewer.get("/")
    assert page.status_code == FAULT
    assert "bug in NAS Advisor" in page.content.decode()


@pytest.mark.parametrize(
    ("free_bytes", "level"), [(255 * MIB, Level.WARNING), (3 * MIB, Level.CRITICAL), (256 * MIB, None)]
)
def test_the_overview_and_an_alert_tell_before_the_disk_of_the_console_is_full(
    viewer: Client, free: dict[str, int], free_bytes: int, level: Level | None
) -> None:
    free["free"] = free_bytes
    load(typical())
    watch(timezone.now())
    told = StoredAlert.objects.filter(code="console-disk-full")
    assert [alert.level for alert in told] == ([level.value] if level else [])
    assert ("where the console stores its database" in viewer.get("/").content.decode()) == bool(level)


def test_the_disk_of_the_console_is_none_of_another_machine(free: dict[str, int]) -> None:
    free["free"] = 0
    load(typical())
    Node.objects.update(access_digest="x")
    assert list(about_room(Node.objects.get())) == []
