"""What the package asks before it lets another release take its place. Not for people, so not in the help."""

import click

from nasadvisor.cli.services import services_for
from nasadvisor.host.change.releases import note_release, refuse_older


@click.command(hidden=True)
@click.argument("release")
@click.pass_context
def note_installed(ctx: click.Context, release: str) -> None:
    """Note that this release is installed, and what it writes."""
    note_release(services_for(ctx).config().state_dir, release)


@click.command(hidden=True)
@click.argument("release")
@click.pass_context
def may_go_back(ctx: click.Context, release: str) -> None:
    """End with exit code 3 if an older release could not read what is stored on this host."""
    refuse_older(services_for(ctx).config().state_dir, release)
