"""The command `nasadvisor` with all it can do."""

import click

from nasadvisor import __version__
from nasadvisor.cli.change.planning import plan
from nasadvisor.cli.change.running import apply, finish, keep, undo
from nasadvisor.cli.change.runs import runs, show
from nasadvisor.cli.doctor import doctor
from nasadvisor.cli.errors import SentenceGroup
from nasadvisor.cli.evidence.measuring import probe
from nasadvisor.cli.evidence.verdicts import advise
from nasadvisor.cli.explain import explain
from nasadvisor.cli.fleet.joining import join, leave
from nasadvisor.cli.health.forecasts import forecast
from nasadvisor.cli.health.report import report
from nasadvisor.cli.health.sweep import health
from nasadvisor.cli.releases import may_go_back, note_installed
from nasadvisor.cli.storage.look import inventory, pools


@click.group(cls=SentenceGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="nasadvisor %(version)s")
def main() -> None:
    """Add log and cache SSDs to OpenZFS pools, and take them back.

    Exit codes: 0 done, 2 usage, 3 refused and nothing changed, 4 failed and put back, 5 needs attention.
    """


COMMANDS = (
    *(inventory, pools, advise, probe, plan, apply, runs, show, undo, finish, keep),
    *(health, report, forecast, explain, join, leave, doctor),
    *(note_installed, may_go_back),
)
for command in COMMANDS:
    main.add_command(command)
