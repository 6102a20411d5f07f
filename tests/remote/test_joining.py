"""Joining a console: once, in time, by nobody else, and with a certificate that the token names."""

import socket
import stat
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

import pytest
import redis.exceptions
from django.core.management import CommandError, call_command
from django.utils import timezone

from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote import access as joining
from nasadvisor.console.fleet.remote.certificates import make_server_certificate
from nasadvisor.console.fleet.remote.listening import Listening, command, folder, listen, renew_if_due, use_certificate
from nasadvisor.domain.fleet.joining import token_of
from nasadvisor.host.config import config_from
from nasadvisor.host.fleet.joining import (
    AnotherConsole,
    ClockWrong,
    ConsoleAddress,
    ConsoleUnreachable,
    TokenRefused,
    leave,
    sign_in,
)
from tests.remote.conftest import Console


def test_a_host_joins_under_the_name_that_was_chosen_on_the_console(console: Console) -> None:
    access = console.join("nas1")
    assert access.node == "nas1"
    assert Node.objects.get().is_remote
    sign_in(access)


def test_what_the_host_keeps_is_for_root_only_and_is_its_configuration_from_then_on(console: Console) -> None:
    access = console.join("nas1")
    kept = console.root / "nas1.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.rename(console.root / "console.json")
    config = config_from({"NASADVISOR_HOST_STATE": str(console.root), "NASADVISOR_NODE": "other"})
    assert config.access == access
    assert config.node == "nas1"
    assert leave(config.access_path)
    assert not leave(config.access_path)


def test_a_token_is_good_once(console: Console) -> None:
    token = console.token("nas1")
    first = console.join("nas1", token)
    kept = (console.root / "nas1.json").read_text()
    with pytest.raises(TokenRefused, match="was already used"):
        console.join("nas1", token)
    assert (console.root / "nas1.json").read_text() == kept
    sign_in(first)


def test_after_its_host_has_the_answer_nothing_of_a_token_is_left(console: Console) -> None:
    token = console.token("nas1")
    console.join("nas1", token)
    JoinToken.objects.update(used_at=timezone.now() - joining.ANSWER_KEPT)
    console.look()
    assert not JoinToken.objects.exists()
    with pytest.raises(TokenRefused):
        console.join("nas1", token)


def test_a_token_expires(console: Console) -> None:
    token = console.token("nas1")
    JoinToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    console.look()
    with pytest.raises(TokenRefused, match="Create a new token"):
        console.join("nas1", token)
    assert not Node.objects.exists()


def test_a_token_can_be_taken_back_and_a_newer_one_replaces_it(console: Console) -> None:
    first = console.token("nas1")
    second = console.token("nas1")
    with pytest.raises(TokenRefused):
        console.join("nas1", first)
    joining.drop_token(JoinToken.objects.get())
    with pytest.raises(TokenRefused):
        console.join("nas1", second)


def test_of_tokens_and_passwords_only_hashes_are_kept_on_the_console(console: Console) -> None:
    token = console.token("nas1")
    access = console.join("nas1", token)
    users = str(command(console.inbox.service, "ACL", "LIST"))
    files = b"".join(file.read_bytes() for file in console.root.glob("remote/*"))
    stored = str(list(JoinToken.objects.values())) + str(list(Node.objects.values()))
    for secret in (token.secret, access.password):
        assert secret not in users + stored
        assert secret.encode() not in files


def test_a_host_says_its_token_only_to_the_console_that_made_it(console: Console) -> None:
    token = console.token("nas1")
    with pytest.raises(AnotherConsole, match="Nothing was sent to it"):
        console.join("nas1", replace(token, fingerprint="0" * 64))
    console.join("nas1", token)  # so it has not been said


def test_a_host_does_not_join_by_a_name_that_is_not_in_the_certificate(console: Console) -> None:
    token = console.token("nas1")
    with pytest.raises(ConsoleUnreachable, match="did not join"):
        console.join("nas1", token, ConsoleAddress("localhost", console.port))
    console.join("nas1", token)


def test_a_host_and_its_console_compare_their_clocks(console: Console) -> None:
    access = console.join("nas1")
    assert abs(sign_in(access)) < timedelta(seconds=10)


@pytest.mark.parametrize("days", [-40, 700])
def test_a_host_whose_clock_is_wrong_by_far_is_told_so(
    console: Console, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(days=days)

    token = console.token("nas1")
    monkeypatch.setattr("nasadvisor.host.fleet.joining.datetime", Wrong)
    with pytest.raises(ClockWrong, match="timedatectl"):
        console.join("nas1", token)
    monkeypatch.undo()
    console.join("nas1", token)


def test_a_host_joins_by_each_name_that_the_console_was_given(console: Console) -> None:
    addresses = ["127.0.0.1", "localhost", *(["::1"] if socket.has_dualstack_ipv6() else [])]
    call_command("listen", *(word for each in addresses for word in ("--address", each)), "--port", console.port)
    for number, each in enumerate(addresses):
        access = console.join(f"nas{number}", place=ConsoleAddress(each, console.port))
        assert access.address == each
        sign_in(access)
    with pytest.raises(CommandError, match="neither a name nor an IP address"):
        call_command("listen", "--address", "127.0.0.1", "--address", "https://nas.example")


def test_nobody_there_is_said_in_a_sentence(console: Console) -> None:
    token = console.token("nas1")
    with pytest.raises(ConsoleUnreachable, match="firewall"):
        console.join("nas1", token, ConsoleAddress("127.0.0.1", 1))


def test_a_renewed_certificate_is_taken_without_a_restart_and_hosts_need_not_be_told(console: Console) -> None:
    access = console.join("nas1")
    old = console.token("nas2")
    listen(Listening(("127.0.0.1",), console.port), timezone.now())
    use_certificate()
    sign_in(access)
    with pytest.raises(AnotherConsole, match="renewed since"):
        console.join("nas2", old)
    console.join("nas2")


def test_the_certificate_is_renewed_in_time(console: Console) -> None:
    before = (console.root / "remote/server.pem").read_bytes()
    renew_if_due(timezone.now() + timedelta(days=300))
    assert (console.root / "remote/server.pem").read_bytes() == before
    renew_if_due(timezone.now() + timedelta(days=350))
    assert (console.root / "remote/server.pem").read_bytes() != before
    authority = (console.root / "remote/authority.pem").read_bytes()
    listen(Listening(("127.0.0.1",), console.port), timezone.now())
    assert (console.root / "remote/authority.pem").read_bytes() == authority


def test_a_certificate_that_ended_while_the_console_was_off_is_renewed_at_its_start(console: Console) -> None:
    access = console.join("nas1")
    make_server_certificate(folder(), ("127.0.0.1",), timezone.now() - timedelta(days=400))
    console.stop()
    console.start()
    with pytest.raises(redis.exceptions.ConnectionError, match="certificate has expired"):
        sign_in(access)
    console.enrolment._renewed_at = float("-inf")
    console.look()
    sign_in(access)


@pytest.mark.parametrize("text", ["", "x", "a" * 43, f"{'a' * 43}.{'g' * 64}", f"{'a' * 43}.{'0' * 63}"])
def test_what_is_no_token_is_known_before_anybody_is_asked(text: str) -> None:
    assert token_of(text) is None
