"""How the command line starts: with nothing loaded that is not needed."""

import sys
from collections.abc import Iterator

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from nasadvisor.cli.main import COMMANDS, Deferred

SLOW = {"attr", "cattrs", "celery", "django", "kombu", "pyudev", "redis", "weasyprint"}
OWN = ("nasadvisor.domain", "nasadvisor.stored", "nasadvisor.host", "nasadvisor.explain", "plugins")


@pytest.fixture
def started() -> Iterator[None]:
    """As in a process that begins: nothing of the product nor of what it stands on is loaded yet."""
    before = dict(sys.modules)
    for name in before:
        if name.split(".")[0] in SLOW | {"nasadvisor", "plugins"}:
            del sys.modules[name]
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]
    sys.modules.update(before)


def loaded() -> set[str]:
    """What of the services, and of the commands, is there."""
    few = {"nasadvisor.cli", "nasadvisor.cli.main", "nasadvisor.cli.errors"}
    return {
        name
        for name in sys.modules
        if name.split(".")[0] in SLOW or (name.startswith((*OWN, "nasadvisor.cli")) and name not in few)
    }


@pytest.mark.parametrize("asked", ["--help", "-h", "--version"])
def test_help_and_version_load_nothing_of_the_services(started: None, asked: str) -> None:
    from nasadvisor.cli.main import main  # noqa: PLC0415 - anew

    answer = CliRunner().invoke(main, [asked], prog_name="nasadvisor", catch_exceptions=False)
    assert "nasadvisor" in answer.output
    assert loaded() == set()


def test_a_shell_that_completes_the_name_of_a_command_loads_none(started: None) -> None:
    from nasadvisor.cli.main import main  # noqa: PLC0415 - anew

    shell = BashComplete(main, {}, "nasadvisor", "_NASADVISOR_COMPLETE")
    assert [each.value for each in shell.get_completions([], "in")] == ["inventory"]
    assert loaded() == set()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_list_of_commands_says_what_each_says_of_itself(command: Deferred) -> None:
    real = command.load()
    assert (command.name, command.hidden) == (real.name, real.hidden)
    assert " ".join((command.help or "").split()) == " ".join((real.help or "").split("\n\n")[0].split())
    for width in (20, 45, 200):
        assert command.get_short_help_str(width) == real.get_short_help_str(width)
