"""What the commands share that follow what a pool does for a while: `nasadvisor curve`, `nasadvisor commits`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from nasadvisor.domain.evidence.curve import LONGEST_S, SHORTEST_S
from nasadvisor.domain.figures import duration
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import MINUTE_S

FC = TypeVar("FC", bound=Callable[..., Any])


def minutes_option(help_text: str) -> Callable[[FC], FC]:
    """How long something is followed."""
    lengths = click.IntRange(SHORTEST_S // MINUTE_S, LONGEST_S // MINUTE_S)
    return click.option("--minutes", type=lengths, default=60, show_default=True, help=help_text)


def say_what_is_followed(what: str, pool: Pool, minutes: int) -> None:
    """So that nobody takes an hour of silence for a program that hangs. On stderr, so that an answer stays alone."""
    click.echo(f"Tracing the {what} of pool {pool.name} for {duration(minutes * MINUTE_S)} …", err=True)
