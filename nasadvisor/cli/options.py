"""Kinds of option values, and options that take several values."""

from collections.abc import Iterator

import click

from nasadvisor.domain.change.trial import parse_length
from nasadvisor.domain.units import parse_size


class Size(click.ParamType[int]):
    """A size such as 4G, in bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        try:
            return value if isinstance(value, int) else parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class SizeOrMax(click.ParamType[int | None]):
    """A size, or "max" for as much as fits, which is None."""

    name = "size|max"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Read it."""
        return None if value == "max" else Size().convert(value, param, ctx)


class TrialLength(click.ParamType[int]):
    """How long to try, such as 24h, in seconds."""

    name = "time"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        try:
            return value if isinstance(value, int) else parse_length(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Percent(click.ParamType[int]):
    """A share such as 10% or 10."""

    name = "percent"
    largest = 90

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        text = str(value).strip().removesuffix("%").strip()
        if not text.isdecimal() or int(text) > self.largest:
            self.fail(f"{value!r} is not a share from 0% to {self.largest}%.", param, ctx)
        return int(text)


class SpreadCommand(click.Command):
    """A command without arguments of its own, whose repeatable options take several values: `--log A B`.

    Each further value is given its option again before click parses: `--log A --log B`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse."""
        return super().parse_args(ctx, list(self._spread(args)))

    def _spread(self, args: list[str]) -> Iterator[str]:
        repeatable = {name for param in self.params if getattr(param, "multiple", False) for name in param.opts}
        current, values = "", 0
        for arg in args:
            if arg.startswith("-"):
                name, equals, _ = arg.partition("=")
                current, values = (name if name in repeatable else ""), len(equals)
            elif current and values:
                yield current
            values += not arg.startswith("-")
            yield arg
