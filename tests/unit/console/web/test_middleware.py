"""The pages answer to known names alone, and nobody keeps them."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.test import Client, override_settings
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.web.middleware import MISDIRECTED
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.console.worker.tasks import clear_sessions
from nasadvisor.runtime.own_names import names_of_origins, own_names

KNOWN = override_settings(HOST_NAMES=["nas.example", ".home.example"])


@KNOWN
@pytest.mark.parametrize(
    "name",
    [
        "nas.example",
        "NAS.example:8843",
        "nas.example.",
        "a.home.example",
        "192.0.2.7",
        "192.0.2.7:8843",
        "[2001:db8::7]:8843",
    ],
)
def test_it_answers_to_its_names_and_to_every_address(client: Client, name: str) -> None:
    assert client.get("/login/", headers={"host": name}).status_code == 200


@KNOWN
@pytest.mark.parametrize(
    "name", ["evil.example", "nas.example.evil.example", "evilnas.example", "127.0.0.1.nip.io", "7"]
)
@pytest.mark.parametrize("path", ["/", "/login/", "/api/v1/", "/metrics", "/no/such/page/"])
def test_another_name_gets_a_page_that_says_what_to_do_and_nothing_else(operator: Client, name: str, path: str) -> None:
    """Proves that somebody who is signed in is shown nothing by that name either."""
    answer = operator.get(path, headers={"host": name, "accept-language": "de"})
    page = answer.content.decode()
    assert answer.status_code == MISDIRECTED
    assert f"NASADVISOR_ALLOWED_HOSTS={name}" in page
    assert "Unbekannter Hostname" in page
    assert "operator" not in page


@override_settings(HOST_NAMES=["*"])
def test_a_star_lets_any_name_in(client: Client) -> None:
    assert client.get("/login/", headers={"host": "any.example"}).status_code == 200


def test_a_machine_knows_its_names_without_asking_a_name_server(tmp_path: Path) -> None:
    hosts, resolver = tmp_path / "hosts", tmp_path / "resolv.conf"
    hosts.write_text(
        "127.0.0.1 localhost\n192.0.2.7 PVE.lab.example pve storage # the NAS\n192.0.2.8 other.example other\n"
    )
    resolver.write_text("# made by hand\nnameserver 192.0.2.1\nsearch lab.example home.arpa\n")
    assert set(own_names("pve", hosts, resolver)) == {
        *("localhost", "pve", "pve.local", "pve.lab.example", "storage", "pve.home.arpa")
    }
    assert set(own_names("nas.example", tmp_path / "none", tmp_path)) == {
        "localhost",
        "nas.example",
        "nas",
        "nas.local",
    }


def test_where_forms_may_come_from_pages_may_be_asked_for() -> None:
    origins = ["https://nas.example", "https://*.example.org:8443"]
    assert list(names_of_origins(origins)) == ["nas.example", ".example.org"]


def test_any_name_is_not_what_it_begins_with() -> None:
    assert "*" not in django_settings.HOST_NAMES


@pytest.mark.parametrize("path", ["/", "/settings/", "/wear/", "/wear.csv", "/pools/", "/nowhere/", "/password/"])
def test_no_browser_and_no_proxy_keeps_a_page(viewer: Client, path: str) -> None:
    assert "no-store" in viewer.get(path).headers["Cache-Control"]


def test_sessions_that_are_over_are_forgotten_every_day(viewer: Client) -> None:
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1))
    clear_sessions()
    assert not Session.objects.filter(session_key="old").exists()
    assert viewer.get("/").status_code == 200
    create_schedules()
    schedule = PeriodicTask.objects.get(name="console.clear_sessions")
    assert (schedule.task, schedule.interval.every, schedule.enabled) == ("console.clear_sessions", 86400, True)
