"""`nasadvisor join` and `nasadvisor leave`: a console on another machine."""

import json
import platform
import sys

import click

from nasadvisor.cli.errors import Misuse, Refusal, json_option
from nasadvisor.cli.services import services_for
from nasadvisor.cli.tables import paragraph
from nasadvisor.domain.fleet.clocks import clock_findings
from nasadvisor.domain.fleet.joining import PORT, token_of
from nasadvisor.host.fleet.joining import ConsoleAddress
from nasadvisor.host.fleet.joining import join as join_console
from nasadvisor.host.fleet.joining import leave as leave_console

RESTART = "systemctl restart nasadvisor-host"
UNNEEDED = "systemctl disable --now nasadvisor-web nasadvisor-console"


class ConsolePlace(click.ParamType[ConsoleAddress]):
    """ADDRESS or ADDRESS:PORT; an IPv6 address in brackets."""

    name = "address[:port]"

    def convert(
        self, value: str | ConsoleAddress, param: click.Parameter | None, ctx: click.Context | None
    ) -> ConsoleAddress:
        """Read it."""
        if isinstance(value, ConsoleAddress):
            return value
        address, colon, port = value.rpartition(":")
        if not colon or value.endswith("]"):
            address, port = value, str(PORT)
        address = address.removeprefix("[").removesuffix("]")
        if not address or "/" in address or not port.isdecimal():
            self.fail(f"{value!r} is not an address such as nas.example or nas.example:{PORT}.", param, ctx)
        return ConsoleAddress(address, int(port))


@click.command()
@click.argument("console", type=ConsolePlace())
@click.argument("token", required=False)
@click.option("--watch-only", is_flag=True, help="This host refuses every change that the console requests.")
@json_option
@click.pass_context
def join(ctx: click.Context, console: ConsoleAddress, token: str | None, watch_only: bool, as_json: bool) -> None:
    """Let the console at ADDRESS[:PORT] watch this host and work on it. Its page "Add a host" shows this command.

    Without TOKEN it is asked for, or read from standard input: as an argument it can be seen in `ps` and stays in the
    history of the shell.
    """
    services = services_for(ctx)
    read = token_of(token or _asked_token())
    if read is None:
        raise Misuse("This is not a token of NAS Advisor. Copy the whole token from the console's page.")
    joined = join_console(console, read, platform.node(), services.config().access_path, watch_only=watch_only)
    node, apart = joined.access.node, tuple(clock_findings(joined.access.node, joined.ahead))
    if as_json:
        seconds = round(joined.ahead.total_seconds())
        click.echo(json.dumps({"node": node, "console": str(console), "clock_ahead_s": seconds}))
        return
    for finding in apart:
        paragraph(f"{finding} {finding.why}", "WARNING  ")
    click.echo(f"This host joined the console at {console} as {node}. To begin, run:")
    click.echo(f"  {RESTART}")
    click.echo("The web interface is now on the console. To stop the one on this host:")
    click.echo(f"  {UNNEEDED}")


def _asked_token() -> str:
    """The token, typed without an echo where there is a terminal."""
    if sys.stdin.isatty():
        typed: str = click.prompt("Token", hide_input=True, err=True)
        return typed.strip()
    return sys.stdin.read().strip()


@click.command()
@json_option
@click.pass_context
def leave(ctx: click.Context, as_json: bool) -> None:
    """Leave the console on another machine; this host's own console is used again."""
    if not leave_console(services_for(ctx).config().access_path):
        raise Refusal("This host has not joined a console on another machine. Nothing was changed.")
    if as_json:
        click.echo(json.dumps({"left": True}))
        return
    click.echo("This host left its console. Remove it there under Settings as well. To finish, run:")
    click.echo(f"  {RESTART}")
