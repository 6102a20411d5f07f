"""`nasadvisor explain`: what a code means that a refusal, a warning, a finding or an error carries."""

import json

import click

from nasadvisor.cli.errors import Misuse, json_option
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.explain.codes import Code, Meaning, codes, nearest
from nasadvisor.explain.procedures import BY_CODE, Procedure, command_for, filled
from nasadvisor.stored.documents import to_document


def _that_begin(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in codes() if code.startswith(incomplete)]


@click.command()
@click.argument("code", required=False, shell_complete=_that_begin)
@click.option("--steps", is_flag=True, help="What to do, step by step, where there is a procedure for the code.")
@json_option
def explain(code: str | None, steps: bool, as_json: bool) -> None:
    """Explain a message code, e.g. too-small. Without one, list all."""
    if code is None:
        every = codes().values()
        if as_json:
            click.echo(json.dumps([to_document(each) for each in every], ensure_ascii=False))
        else:
            table(("CODE", "WHAT"), [(each.code, ", ".join(map(_title, each.meanings))) for each in every])
        return
    found = codes().get(code.strip().lower())
    if found is None:
        near = nearest(code)
        hint = f"Did you mean {', '.join(near)}?" if near else "`nasadvisor explain` lists them all."
        raise Misuse(f"There is no code {code!r}. {hint}")
    procedure = BY_CODE.get(found.code)
    if steps:
        if procedure is None:
            raise Misuse(f"There are no steps for {found.code}; `nasadvisor explain` lists what is known.")
        _print_steps(procedure, found.code)
    elif as_json:
        click.echo(json.dumps(to_document(found), ensure_ascii=False))
    else:
        _print(found)
        if procedure:
            paragraph(f"What to do: nasadvisor explain {found.code} --steps")


def _print_steps(procedure: Procedure, code: str) -> None:
    """The same as on the page; what stands in capitals is to be put in."""
    click.echo(procedure.title)
    paragraph(filled(procedure.lead, {}))
    for number, step in enumerate(procedure.steps_for(code), 1):
        heading(f"{number}. {filled(step.do, {})}")
        paragraph(filled(step.stake, {}))
        for command in step.commands:
            click.echo(f"    {command_for(command, {})}")
        for lead, text in (("  It worked if: ", step.done), ("  If not: ", step.otherwise)):
            if text:
                paragraph(filled(text, {}), lead)


def _print(found: Code) -> None:
    for number, meaning in enumerate(found.meanings):
        if number:
            click.echo()
        click.echo(f"{found.code}: {_title(meaning)}")
        for sentence in meaning.sentences:
            paragraph(f"“{sentence}”")
        if meaning.more:
            heading("What it means")
            for text in meaning.more:
                paragraph(text)
        heading(f"What holds for every {meaning.kind}")
        paragraph(meaning.frame)
        paragraph(f"More: {meaning.guide}")


def _title(meaning: Meaning) -> str:
    levels = f" ({', '.join(meaning.levels)})" if meaning.levels else ""
    return f"{meaning.kind}{levels}"
