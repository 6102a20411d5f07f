"""Text for people: what can be pasted stays in one piece."""

import os
import shutil
import sys
from os import terminal_size

import click
import pytest
from click.testing import CliRunner

from nasadvisor.cli.errors import SentenceGroup
from nasadvisor.cli.tables import paragraph, table
from nasadvisor.domain.statements import Level


@pytest.mark.parametrize("width", range(24, 100, 4))
def test_a_line_ends_between_words_so_that_commands_units_and_paths_can_be_pasted(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: terminal_size((width, 24)))
    text = (
        "nasadvisor-host.service does not run. To end it: `nasadvisor switching tank --stop`, or look at "
        "/dev/disk/by-partuuid/aaaaaaaa-0000-4000-8000-000000000001."
    )
    paragraph(text)
    assert capsys.readouterr().out.split() == text.split()


ROWS = (("tank", "ONLINE", "/dev/disk/by-id/nvme-" + "x" * 40), ("a", "ONLINE", "short"))


def test_on_a_terminal_the_longest_column_is_cut_and_the_others_are_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: terminal_size((40, 24)))
    table(("POOL", "STATE", "NAME"), ROWS)
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) == 40
    assert lines[1].startswith("tank  ONLINE  /dev/disk/by-id/")
    assert lines[1].endswith("…")
    assert lines[2] == "a     ONLINE  short"


def test_into_a_pipe_everything_is_written_and_nothing_is_coloured(capsys: pytest.CaptureFixture[str]) -> None:
    table(("POOL", "STATE", "NAME"), ROWS)
    paragraph("The pool is damaged.", "CRITICAL ", Level.CRITICAL)
    out = capsys.readouterr().out
    assert "x" * 40 in out
    assert click.unstyle(out) == out


@pytest.mark.parametrize(("no_colour", "is_coloured"), [("", True), ("1", False)])
def test_colours_are_left_out_where_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch, no_colour: str, is_coloured: bool
) -> None:
    @click.group(cls=SentenceGroup)
    def main() -> None:
        pass

    @main.command()
    def one() -> None:
        paragraph("The pool is damaged.", "CRITICAL ", Level.CRITICAL)

    monkeypatch.setitem(os.environ, "NO_COLOR", no_colour)
    assert ("\x1b" in CliRunner().invoke(main, ["one"], color=True).output) is is_coloured
