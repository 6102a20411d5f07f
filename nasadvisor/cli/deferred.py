"""Commands that are loaded when they are called: the help, the version and completion need only their names."""

from importlib import import_module
from typing import Any

import click


class Deferred(click.Command):
    """Stands for a command: its name, what the list of commands says of it, and where it is (`module:function`).

    Loading all of them takes three times as long as starting Python and click, and nobody calls more than one.
    """

    def __init__(self, name: str, place: str, text: str, *, hidden: bool = False) -> None:
        super().__init__(name, help=text, hidden=hidden, add_help_option=False)
        self.place = place

    def load(self) -> click.Command:
        """The command itself."""
        module, _, name = self.place.partition(":")
        command = getattr(import_module(module), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.place} is no command.")
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Of the command itself, which click then calls."""
        return self.load().make_context(info_name, args, parent, **extra)
