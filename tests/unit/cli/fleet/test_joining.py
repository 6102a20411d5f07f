"""`nasadvisor join` and `leave`: what they say, and that nobody is asked without a token that is one."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from nasadvisor.cli.fleet import joining
from nasadvisor.domain.fleet.joining import ConsoleAccess, Token
from nasadvisor.host.fleet.joining import ConsoleAddress, Joined, TokenRefused
from tests.unit.cli.conftest import Shell

TOKEN = f"{'s' * 43}.{'f' * 64}"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ConsoleAddress]:
    """The consoles that were asked; each answers."""
    places: list[ConsoleAddress] = []

    def join(place: ConsoleAddress, token: Token, _host: str, path: Path, *, watch_only: bool) -> Joined:
        assert str(token) == TOKEN
        places.append(place)
        path.write_text("{}")
        ahead = timedelta(hours=2) if place.address == "late.example" else timedelta(seconds=3)
        return Joined(ConsoleAccess("nas2", place.address, place.port, "secret", ""), ahead)

    monkeypatch.setattr(joining, "join_console", join)
    return places


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("nas.example", ConsoleAddress("nas.example", 8844)),
        ("nas.example:9", ConsoleAddress("nas.example", 9)),
        ("192.0.2.7:8844", ConsoleAddress("192.0.2.7", 8844)),
        ("[2001:db8::1]:9", ConsoleAddress("2001:db8::1", 9)),
        ("[2001:db8::1]", ConsoleAddress("2001:db8::1", 8844)),
    ],
)
def test_it_asks_the_console_at_that_place(
    shell: Shell, asked: list[ConsoleAddress], text: str, place: ConsoleAddress
) -> None:
    result = shell.run("join", text, TOKEN)
    assert asked == [place]
    assert "as nas2" in result.output
    assert "systemctl restart nasadvisor-host" in result.output
    assert "secret" not in result.output


def test_the_token_is_read_from_standard_input_and_stays_out_of_ps(shell: Shell, asked: list[ConsoleAddress]) -> None:
    result = shell.run("join", "nas.example", stdin=f"{TOKEN}\n")
    assert (result.exit_code, asked) == (0, [ConsoleAddress("nas.example", 8844)])
    assert TOKEN not in result.output
    assert shell.run("join", "nas.example", stdin="").exit_code == 2


def test_clocks_that_are_apart_are_told_and_the_host_joins_all_the_same(
    shell: Shell, asked: list[ConsoleAddress]
) -> None:
    assert "2 h ahead of the console's" in " ".join(shell.run("join", "late.example", TOKEN).output.split())
    assert "clock" not in shell.run("join", "nas.example", TOKEN).output
    told = json.loads(shell.run("join", "late.example", TOKEN, "--json").stdout)
    assert told == {"node": "nas2", "console": "late.example:8844", "clock_ahead_s": 7200}


@pytest.mark.parametrize("text", ["https://nas.example:8844", "nas.example:x", ""])
def test_it_asks_nobody_at_an_address_that_is_none(shell: Shell, asked: list[ConsoleAddress], text: str) -> None:
    assert shell.run("join", text, TOKEN).exit_code == 2
    assert asked == []


def test_it_asks_nobody_without_a_token(shell: Shell, asked: list[ConsoleAddress]) -> None:
    result = shell.run("join", "nas.example", "hello")
    assert result.exit_code == 2
    assert "Copy the whole token" in result.stderr
    assert asked == []


def test_a_refusal_is_a_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def join(place: ConsoleAddress, *_: object, **_options: object) -> Joined:
        raise TokenRefused(str(place))

    monkeypatch.setattr(joining, "join_console", join)
    result = shell.run("join", "nas.example", TOKEN)
    assert result.exit_code == 3
    assert "did not join" in result.stderr


def test_only_root_joins(shell: Shell, asked: list[ConsoleAddress]) -> None:
    shell.is_root = False
    assert shell.run("join", "nas.example", TOKEN).exit_code == 3
    assert asked == []


def test_a_host_leaves_once(shell: Shell, asked: list[ConsoleAddress]) -> None:
    assert "Nothing was changed" in shell.run("leave").stderr
    shell.run("join", "nas.example", TOKEN)
    assert shell.run("leave").exit_code == 0
    assert shell.run("leave").exit_code == 3
    shell.run("join", "nas.example", TOKEN)
    assert json.loads(shell.run("leave", "--json").stdout) == {"left": True}
