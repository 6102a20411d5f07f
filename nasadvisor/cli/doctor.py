"""`nasadvisor doctor`: whether everything is in place, and what to do where it is not."""

import json
from dataclasses import asdict

import click

from nasadvisor.cli.checkup import checkup
from nasadvisor.cli.errors import ExitCode, json_option
from nasadvisor.cli.services import any_services
from nasadvisor.cli.tables import paragraph
from nasadvisor.host.config import load_environment


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this installation: OpenZFS, tools, services, space and time."""
    services = any_services(ctx)
    findings = tuple(checkup(services.config(), services.machine(), load_environment(), is_root=services.is_root()))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            paragraph(f"{finding.what}: {finding.sentence}", "OK       " if finding.ok else "PROBLEM  ")
    ctx.exit(ExitCode.DONE if all(finding.ok for finding in findings) else ExitCode.ATTENTION)
