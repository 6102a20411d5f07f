"""Exit codes, and how an expected error becomes one sentence and a code."""

import json
import os
from enum import IntEnum
from typing import IO, Any

import click

JSON_WANTED = "nasadvisor.json"
"""The key in a context's `meta` that tells whether the answer shall be JSON."""


class ExitCode(IntEnum):
    """What the command ended with; the numbers are part of the interface."""

    DONE = 0
    USAGE = 2
    REFUSED = 3
    PUT_BACK = 4
    ATTENTION = 5


class Problem(click.ClickException):
    """An expected error, said in a sentence for an administrator."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it, without click's "Error:"."""
        click.echo(self.message, file=file, err=True)


class Misuse(Problem):
    """What was asked for makes no sense; nothing was changed."""

    exit_code = ExitCode.USAGE


class Refusal(Problem):
    """It may not or cannot be done; nothing was changed."""

    exit_code = ExitCode.REFUSED


class Attention(Problem):
    """Something is half done."""

    exit_code = ExitCode.ATTENTION


class SentenceGroup(click.Group):
    """Ends expected errors of the services with a sentence and exit code 3: they happen before anything changed.

    With --json the sentence is on standard output too, as `{"error": …}`. Where NO_COLOR is set, nothing is coloured
    (https://no-color.org). The list of commands has the sections that its commands name, and says all of each.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """See click."""
        return super().make_context(info_name, args, parent, **(_without_colour() | extra))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own
        """List the commands in the order in which they were added, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            if not command.hidden:
                text = (command.help or "").partition("\n\n")[0].replace("\n", " ")
                sections.setdefault(getattr(command, "section", "Commands"), []).append((name, text))
        width = max((len(name) for lines in sections.values() for name, _text in lines), default=0)
        for section, lines in sections.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in lines])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand."""
        problem: click.ClickException
        try:
            return super().invoke(ctx)
        except (Problem, click.UsageError) as error:
            problem = error
        except _expected() as error:
            problem = Refusal(str(error))
        if ctx.meta.get(JSON_WANTED):
            click.echo(json.dumps({"error": problem.format_message()}, ensure_ascii=False))
        raise problem


def _without_colour() -> dict[str, Any]:
    return {"color": False} if os.environ.get("NO_COLOR") else {}


def _expected() -> tuple[type[Exception], ...]:
    """The errors of the services. Help and version raise none, and are not to wait until these are loaded."""
    from nasadvisor.host.errors import HostError  # noqa: PLC0415
    from nasadvisor.stored.documents import DocumentError  # noqa: PLC0415

    return HostError, DocumentError


def remember_json(ctx: click.Context, _: click.Parameter, wanted: bool) -> bool:
    """Note the wish for JSON where errors can see it."""
    ctx.meta[JSON_WANTED] = wanted
    return wanted


json_option = click.option("--json", "as_json", is_flag=True, is_eager=True, callback=remember_json, help="Print JSON.")
