"""The pages of the manual and the completion of shells."""

from pathlib import Path

from click.shell_completion import BashComplete

from nasadvisor.cli import main
from nasadvisor.cli.main import COMMANDS
from tests.unit.packaging.manual import KEPT, PAGE, page, write_manual


def test_what_is_kept_is_what_the_command_line_says_today(tmp_path: Path) -> None:
    write_manual(tmp_path)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in KEPT.iterdir()}
    assert kept == made, "run `make manual`"


def test_the_page_of_the_documentation_is_what_the_command_line_says_today() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make manual`"


def test_every_command_for_people_has_a_page() -> None:
    shown = {name for name, command in main.commands.items() if not command.hidden}
    assert {f"nasadvisor-{name}.1" for name in shown} | {"nasadvisor.1"} == {path.name for path in KEPT.glob("*.1")}


def test_every_page_ends_with_exit_status_and_see_also_and_an_example_where_there_is_one() -> None:
    for command in COMMANDS:
        if not command.hidden:
            page = (KEPT / f"nasadvisor-{command.name}.1").read_text(encoding="utf-8")
            assert page.index(".SH EXIT STATUS") < page.index(".SH SEE ALSO")
            assert (".SH EXAMPLES" in page) is bool(command.examples)


def test_what_is_hidden_is_not_in_the_manual() -> None:
    assert "may-go-back" not in (KEPT / "nasadvisor.1").read_text(encoding="utf-8")


def test_the_package_brings_the_pages_and_the_completion_of_both_shells() -> None:
    stage = (KEPT.parent / "deb" / "nasadvisor" / "stage.sh").read_text(encoding="utf-8")
    for place in ("/usr/share/man/man1", "/usr/share/bash-completion/completions", "/usr/share/zsh/vendor-completions"):
        assert place in stage


def test_a_shell_completes_commands_and_codes() -> None:
    shell = BashComplete(main, {}, "nasadvisor", "_NASADVISOR_COMPLETE")
    assert [each.value for each in shell.get_completions([], "ex")] == ["explain"]
    assert "too-small" in [each.value for each in shell.get_completions(["explain"], "too-s")]
