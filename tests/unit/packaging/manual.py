"""`make manual`: makes the pages of the manual and the completion of shells from the command line itself.

They are kept in packaging/manual, so that building the package needs nothing for them, and the same as one page in
docs/reference/command-line.md; tests hold that they are up to date.
"""

from copy import copy
from pathlib import Path
from typing import Final, TypeVar

import click
from click.shell_completion import BashComplete, ShellComplete, ZshComplete
from click_man.core import write_man_pages

from nasadvisor import __version__
from nasadvisor.cli.main import COMMANDS
from nasadvisor.cli.main import main as nasadvisor

NAME: Final = "nasadvisor"
KEPT: Final = Path(__file__).parents[3] / "packaging" / "manual"
PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "command-line.md"
PAGE_HEAD: Final = """# Command line

What `man nasadvisor` and `nasadvisor COMMAND --help` say too; made by `make manual`. The command line needs neither the
pages nor Redis. Disks are named by serial, by their name in `/dev/disk/by-id`, or by a full persistent path.
"""
DATE: Final = "2025-01-01"
"""Of the pages, as of all files in the package: the same source makes the same bytes."""

C = TypeVar("C", bound=click.Command)

COMPLETIONS: Final[dict[str, type[ShellComplete]]] = {"nasadvisor.bash": BashComplete, "nasadvisor.zsh": ZshComplete}


def write_manual(directory: Path) -> None:
    """Write all pages and completions into a directory that is there."""
    write_man_pages(NAME, _shown(nasadvisor), version=__version__, target_dir=str(directory), date=DATE)
    for command in COMMANDS:
        if not command.hidden:
            _end(directory / f"{NAME}-{command.name}.1", command.examples)
    _end(directory / f"{NAME}.1", next(one.examples for one in COMMANDS if one.name == "status"))
    for name, kind in COMPLETIONS.items():
        shell = kind(nasadvisor, {}, NAME, f"_{NAME.upper()}_COMPLETE")
        (directory / name).write_text(f"{_completion(shell)}\n", encoding="utf-8")


def page() -> str:
    """The page of the documentation: each command for people with its help."""
    asked = {**nasadvisor.context_settings, "terminal_width": 100, "max_content_width": 100}
    group = click.Context(nasadvisor, info_name=NAME, **asked)
    parts = [PAGE_HEAD, f"\n```text\n{(nasadvisor.help or '').strip()}\n```\n"]
    for command in sorted((one for one in COMMANDS if not one.hidden), key=lambda one: str(one.name)):
        said = command.load().get_help(click.Context(command.load(), info_name=command.name, parent=group))
        parts.append(f"\n## {command.name}\n\n```text\n{said}\n```\n")
    return "".join(parts)


def _end(page: Path, examples: tuple[str, ...]) -> None:
    """Add what every page of a manual ends with (man-pages(7)); click-man writes what click knows."""
    codes = " ".join((nasadvisor.help or "").partition("Exit codes: ")[2].split()).rstrip(".").split(", ")
    lines = [".SH EXIT STATUS"]
    for code in codes:
        number, _space, meaning = code.partition(" ")
        lines += [".TP", rf"\fB{number}\fP", meaning]
    if examples:
        lines.append(".SH EXAMPLES")
    for example in examples:
        lines += [".PP", ".nf", rf"\fC{example.replace('-', chr(92) + '-')}\fP", ".fi"]
    others = [f"{NAME}-{one.name}" for one in COMMANDS if not one.hidden] if page.name == f"{NAME}.1" else [NAME]
    lines += [".SH SEE ALSO", ", ".join(rf"\fB{name}\fP(1)" for name in others) + r", \fBzpool\fP(8), \fBzfs\fP(8)"]
    with page.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _completion(shell: ShellComplete) -> str:
    """What the shell reads; `BashComplete.source` would start bash to ask how old it is."""
    return (shell.source_template % shell.source_vars()).strip()


def _shown(group: click.Group) -> click.Group:
    """The group without hidden commands, each with its first sentence in full instead of its first 45 characters."""
    commands = {str(one.name): _with_first_sentence(one.load()) for one in COMMANDS if not one.hidden}
    whole = click.Group(NAME, commands, help=group.help, params=group.params)
    return _with_first_sentence(whole)


def _with_first_sentence(command: C) -> C:
    command = copy(command)  # the command line itself stays as it is
    command.short_help = (command.help or "").split("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")
    return command


def main() -> None:
    """Write what is kept anew."""
    KEPT.mkdir(exist_ok=True)
    for path in KEPT.iterdir():
        path.unlink()
    write_manual(KEPT)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(list(KEPT.iterdir()))} files")


if __name__ == "__main__":
    main()
