"""Text for people: what can be pasted stays in one piece."""

import shutil
from os import terminal_size

import pytest

from nasadvisor.cli.tables import paragraph


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
