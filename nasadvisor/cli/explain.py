"""`nasadvisor explain`: what a code means that a refusal, a warning, a finding or an error carries."""

import json

import click

from nasadvisor.cli.errors import Misuse, json_option
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.explain.codes import Code, Meaning, codes, nearest
from nasadvisor.stored.documents import to_document


def _that_begin(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in codes() if code.startswith(incomplete)]


@click.command()
@click.argument("code", required=False, shell_complete=_that_begin)
@json_option
def explain(code: str | None, as_json: bool) -> None:
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
    if as_json:
        click.echo(json.dumps(to_document(found), ensure_ascii=False))
    else:
        _print(found)


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
