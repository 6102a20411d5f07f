"""The page on which hosts on other machines are added, and removing them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from nasadvisor.console.fleet import hosts, nodes
from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote.listening import Listening, listen
from nasadvisor.domain.fleet.joining import Token
from nasadvisor.domain.fleet.questions import READ_INVENTORY
from tests.unit.console.conftest import PASSWORD

ADD = "/settings/hosts/add/"


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[None]:
    """Everything is there but the service itself."""
    with override_settings(STATE_DIR=tmp_path, RUN_DIR=tmp_path):
        listen(Listening(("nas.example", "2001:db8::7"), 8844), timezone.now())
        yield


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, listening: None) -> list[str]:
    """The names for which tokens were made."""
    del listening
    names: list[str] = []

    def new_token(name: str, *_: object) -> Token:
        names.append(name)
        return Token("s" * 43, "f" * 64)

    monkeypatch.setattr(nodes, "new_token", new_token)
    return names


@pytest.mark.parametrize("path", [ADD, "/settings/hosts/tokens/1/take-back/"])
def test_only_administrators_add_hosts(operator: Client, path: str) -> None:
    assert operator.post(path).status_code == 403


def test_a_console_that_is_opened_at_its_own_machine_cannot_tell_its_name(admin: Client) -> None:
    page = admin.get("/settings/hosts/add/", headers={"host": "localhost"}).content.decode()
    assert "listen --address NAME" in page


def test_a_console_that_does_not_listen_says_how_to_begin(admin: Client, tmp_path: Path) -> None:
    with override_settings(STATE_DIR=tmp_path):
        page = admin.get(ADD).content.decode()
        assert "listen --address testserver" in page
        assert "Create token" not in page
        assert admin.post(ADD, {"name": "nas2", "password": PASSWORD}).status_code == 200
    assert not JoinToken.objects.exists()


def test_the_command_for_the_new_host_is_shown_once(admin: Client, made: list[str]) -> None:
    page = admin.post(ADD, {"name": "nas2", "password": PASSWORD}).content.decode()
    assert ">sudo nasadvisor join nas.example:8844<" in page
    assert f">{'s' * 43}.{'f' * 64}<" in page
    assert made == ["nas2"]
    assert "nasadvisor join" not in admin.get(ADD).content.decode()


@pytest.mark.parametrize("name", ["", "a b", "*", "a*", "-a", "a.", "ä", "a" * 254, "nas1"])
def test_a_name_that_could_be_taken_for_another_is_refused(admin: Client, made: list[str], name: str) -> None:
    Node.objects.create(name="nas1")
    admin.post(ADD, {"name": name, "password": PASSWORD})
    assert made == []


def test_without_the_password_no_token_is_made(admin: Client, made: list[str]) -> None:
    assert "Wrong password" in admin.post(ADD, {"name": "nas2", "password": "x"}).content.decode()
    assert made == []


@pytest.mark.usefixtures("listening")
def test_without_the_message_service_no_token_is_made(admin: Client) -> None:
    page = admin.post(ADD, {"name": "nas2", "password": PASSWORD}).content.decode()
    assert "systemctl status nasadvisor-remote-redis" in page
    assert not JoinToken.objects.exists()


@pytest.mark.usefixtures("listening")
def test_tokens_that_wait_are_listed_and_can_be_taken_back(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = timezone.now() + timedelta(hours=1)
    token = JoinToken.objects.create(node_name="nas2", digest="0" * 64, expires_at=soon)
    JoinToken.objects.create(node_name="too-late", digest="1" * 64, expires_at=timezone.now())
    page = admin.get(ADD).content.decode()
    assert "nas2" in page
    assert "too-late" not in page
    monkeypatch.setattr(nodes, "drop_token", JoinToken.delete)
    admin.post(f"/settings/hosts/tokens/{token.pk}/take-back/")
    assert not JoinToken.objects.filter(pk=token.pk).exists()


def test_a_host_on_another_machine_can_be_removed_while_it_answers(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Node.objects.create(name="nas2", access_digest="0" * 64, last_contact=timezone.now())
    Node.objects.create(name="here", last_contact=timezone.now())
    dropped: list[str] = []
    monkeypatch.setattr(hosts, "drop_requests", lambda node: dropped.append(node.name))
    assert "Its access ends immediately" in operator.get("/settings/hosts/nas2/forget/").content.decode()
    operator.post("/settings/hosts/nas2/forget/", {"password": PASSWORD})
    operator.post("/settings/hosts/here/forget/", {"password": PASSWORD})
    assert [node.name for node in Node.objects.all()] == ["here"]
    assert dropped == ["nas2"]


def test_a_host_whose_access_cannot_be_ended_stays(operator: Client, tmp_path: Path) -> None:
    Node.objects.create(name="nas2", access_digest="0" * 64)
    with override_settings(STATE_DIR=tmp_path, RUN_DIR=tmp_path):
        page = operator.post("/settings/hosts/nas2/forget/", {"password": PASSWORD}).content.decode()
    assert "nasadvisor-remote-redis" in page
    assert Node.objects.exists()


def test_what_goes_wrong_with_a_host_elsewhere_names_its_own_message_service(tmp_path: Path) -> None:
    node = Node.objects.create(name="nas2", access_digest="0" * 64)
    with override_settings(STATE_DIR=tmp_path), pytest.raises(hosts.HostUnreachable, match="nasadvisor-remote-redis"):
        hosts.ask(node, READ_INVENTORY, by=None)
