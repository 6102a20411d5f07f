"""Every command answers in JSON, or the README says which not and why."""

from pathlib import Path

from nasadvisor.cli.main import COMMANDS

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
WITHOUT = {"forecast"}


def test_every_command_for_people_takes_json_but_those_that_the_readme_names() -> None:
    shown = {command.name: command.load() for command in COMMANDS if not command.hidden}
    without = {name for name, command in shown.items() if all("--json" not in each.opts for each in command.params)}
    assert without == WITHOUT
    for name in without:
        assert f"`{name}`" in README.partition("--json")[2].partition("Exit codes")[0]
