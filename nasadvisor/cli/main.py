"""The command `nasadvisor` with all it can do."""

from importlib import import_module
from typing import Any, Final

import click

from nasadvisor import __version__
from nasadvisor.cli.errors import SentenceGroup


class Deferred(click.Command):
    """Stands for a command: its name, its section in the list of commands, what that says of it, and where it is
    (`module:function`). Its examples end its help and its page of the manual.

    Loading all of them takes three times as long as starting Python and click, and nobody calls more than one.
    """

    def __init__(self, name: str, place: str, text: str, section: str = "", examples: tuple[str, ...] = ()) -> None:
        super().__init__(name, help=text, hidden=not section, add_help_option=False)
        self.place = place
        self.section = section
        self.examples = examples

    def load(self) -> click.Command:
        """The command itself."""
        module, _, name = self.place.partition(":")
        command = getattr(import_module(module), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.place} is no command.")
        if self.examples:
            command.epilog = "\n".join(("\b", "Examples:", *(f"  {example}" for example in self.examples)))
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Of the command itself, which click then calls."""
        return self.load().make_context(info_name, args, parent, **extra)


_CLI: Final = "nasadvisor.cli"


@click.group(cls=SentenceGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, message="nasadvisor %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Add log and cache SSDs to OpenZFS pools, and undo it at any time. Without a command: `nasadvisor status`.

    Exit codes: 0 done, 2 usage, 3 refused and nothing changed, 4 failed and put back, 5 needs attention.
    """
    if ctx.invoked_subcommand is None:
        with main.commands["status"].make_context("status", [], parent=ctx) as context:
            context.command.invoke(context)


LOOK: Final = "Look"
ADVISE: Final = "Advise and measure"
CHANGE: Final = "Change and undo"
HEALTH: Final = "Health"
CONSOLE: Final = "Console"
HELP: Final = "Help"

COMMANDS: Final = (
    Deferred(
        "status",
        f"{_CLI}.health.status:status",
        "Show in ten lines how this host is: pools, log and cache, changes, what needs attention.",
        LOOK,
        ("nasadvisor", "nasadvisor status --watch 10"),
    ),
    Deferred(
        "inventory",
        f"{_CLI}.storage.look:inventory",
        "Show this host: its disks, what holds them, and its pools.",
        LOOK,
        ("nasadvisor inventory", "nasadvisor inventory --columns model,serial,use"),
    ),
    Deferred(
        "pools",
        f"{_CLI}.storage.look:pools",
        "Show the imported pools with their logs and caches.",
        LOOK,
        ("nasadvisor pools", "nasadvisor pools --guids"),
    ),
    Deferred(
        "advise",
        f"{_CLI}.evidence.verdicts:advise",
        "Watch POOL and say whether a log or a cache would help. Run it under the usual load.",
        ADVISE,
        ("nasadvisor advise tank", "nasadvisor advise tank --seconds 600 --programs"),
    ),
    Deferred(
        "probe",
        f"{_CLI}.evidence.measuring:probe",
        "Measure synchronous writes on POOL, on a temporary dataset; with --disk also on a blank SSD.",
        ADVISE,
    ),
    Deferred(
        "curve",
        f"{_CLI}.evidence.curves:curve",
        "Trace reads and predict the hit rate for each cache size. Needs bpftrace.",
        ADVISE,
    ),
    Deferred(
        "commits",
        f"{_CLI}.evidence.measuring:commits",
        "Record POOL's synchronous writes for replay with `probe --disk`. Needs bpftrace.",
        ADVISE,
    ),
    Deferred(
        "switching",
        f"{_CLI}.evidence.switching:switching",
        "Test POOL's cache: take it out of service and put it back at random times, for three days.",
        ADVISE,
    ),
    Deferred(
        "report",
        f"{_CLI}.health.report:report",
        "Compare the last `probe` of POOL without a log with the last one with a log; or print health with --pdf.",
        ADVISE,
    ),
    Deferred(
        "plan",
        f"{_CLI}.change.planning:plan",
        "Create a plan for a log or cache. Changes nothing.",
        CHANGE,
        (
            "nasadvisor plan --recommended tank --output plan.json",
            "nasadvisor plan --pool tank --log SERIAL SERIAL --log-size 16G --output plan.json",
        ),
    ),
    Deferred(
        "apply",
        f"{_CLI}.change.runs:apply",
        "Apply a plan file. Each step is checked again, journalled, run and verified.",
        CHANGE,
        ("nasadvisor apply plan.json", "nasadvisor apply plan.json --trial 24h"),
    ),
    Deferred(
        "runs",
        f"{_CLI}.change.runs:runs",
        "List the runs on this host, newest first. Exit code 5 if the journal of one cannot be read.",
        CHANGE,
    ),
    Deferred("show", f"{_CLI}.change.runs:show", "Show one run with its steps, commands and answers.", CHANGE),
    Deferred(
        "undo",
        f"{_CLI}.change.runs:undo",
        "Undo a run: remove what it added, delete its slices, restore the partition tables.",
        CHANGE,
        ("nasadvisor undo RUN",),
    ),
    Deferred("finish", f"{_CLI}.change.runs:finish", "Finish a run that a crash interrupted.", CHANGE),
    Deferred("keep", f"{_CLI}.change.runs:keep", "Keep a trial permanently. `undo` still works at any time.", CHANGE),
    Deferred(
        "health",
        f"{_CLI}.health.sweep:health",
        "Check the health of all disks and pools. Exit code 5 if something needs attention.",
        HEALTH,
        ("nasadvisor health", "nasadvisor health --quiet"),
    ),
    Deferred(
        "wear",
        f"{_CLI}.health.wear:wear",
        "Watch DISK and say who writes to it: guests, datasets, metadata, log, cache. Run it under the usual load.",
        HEALTH,
        ("nasadvisor wear SERIAL", "nasadvisor wear SERIAL --seconds 3600 --price 120:600"),
    ),
    Deferred(
        "replace",
        f"{_CLI}.health.replace:replace",
        "Say how to replace DISK in its pool: which disk, whether it may go now, the commands to type.",
        HEALTH,
        ("nasadvisor replace",),
    ),
    Deferred(
        "forecast",
        f"{_CLI}.health.forecasts:forecast",
        "Forecast the wear of SSDs from SMART readings, without using this host.",
        HEALTH,
    ),
    Deferred(
        "join",
        f"{_CLI}.fleet.joining:join",
        'Let the console at ADDRESS[:PORT] watch this host and work on it. Its page "Add a host" shows this command.',
        CONSOLE,
        ("nasadvisor join console.example",),
    ),
    Deferred(
        "leave",
        f"{_CLI}.fleet.joining:leave",
        "Leave the console on another machine; this host's own console is used again.",
        CONSOLE,
    ),
    Deferred(
        "backup",
        f"{_CLI}.fleet.backup:backup",
        "Write the console of this machine into FILE: its database, keys and settings. It keeps running.",
        CONSOLE,
    ),
    Deferred(
        "restore",
        f"{_CLI}.fleet.backup:restore",
        "Restore the console from FILE (all or nothing). Its services must be stopped.",
        CONSOLE,
    ),
    Deferred(
        "doctor",
        f"{_CLI}.doctor:doctor",
        "Check this installation: OpenZFS, tools, services, space and time.",
        HELP,
    ),
    Deferred(
        "support",
        f"{_CLI}.support:support",
        "Write what belongs to a bug report into FILE (.tar.gz), with pseudonyms instead of names and serial numbers.",
        HELP,
        ("nasadvisor support report.tar.gz",),
    ),
    Deferred(
        "explain",
        f"{_CLI}.explain:explain",
        "Explain a message code, e.g. too-small. Without one, list all.",
        HELP,
        ("nasadvisor explain too-small",),
    ),
    Deferred(
        "pages-address",
        f"{_CLI}.fleet.units:pages_address",
        "Print the address of the pages of this host; ends with 1 where another program has their port.",
    ),
    Deferred(
        "note-installed", f"{_CLI}.releases:note_installed", "Note that this release is installed, and what it writes."
    ),
    Deferred(
        "may-go-back",
        f"{_CLI}.releases:may_go_back",
        "End with exit code 3 if an older release could not read what is stored on this host.",
    ),
)
for command in COMMANDS:
    main.add_command(command)
