"""`nasadvisor status`, and `nasadvisor` alone: how this host is, in about ten lines. No disk is asked."""

import json
from dataclasses import dataclass
from typing import Final

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.tables import minute_of, paragraph, table
from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.figures import percent
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.health.urgency import worst_first
from nasadvisor.domain.statements import Allowed, Finding, Level
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool, Vdev
from nasadvisor.domain.units import size_text
from nasadvisor.host.change.runs import list_runs

FINDINGS_SHOWN: Final = 3
RUNS_SHOWN: Final = 2
LEADS: Final = {Level.CRITICAL: "Critical: ", Level.WARNING: "Warning: ", Level.INFO: "Note: "}


@dataclass(frozen=True)
class Status:
    """What there is to say: findings the worst first, runs that left something the newest first, SSDs that are free."""

    inventory: Inventory
    findings: tuple[Finding, ...]
    runs: tuple[Run, ...]
    free_ssds: tuple[Disk, ...]

    @property
    def headline(self) -> str:
        """The whole in a few words."""
        critical, warnings = (
            sum(each.level is level for each in self.findings) for level in (Level.CRITICAL, Level.WARNING)
        )
        words = (f"{critical} critical" * bool(critical), f"{warnings} warning{'s' * (warnings > 1)}" * bool(warnings))
        if any(words):
            return ", ".join(filter(None, words))
        return "pools are fine" if self.inventory.pools else "no pool is imported"


@click.command()
@click.option("--watch", "every_s", type=click.IntRange(2, 3600), metavar="SECONDS", help="Show it again and again.")
@json_option
@click.pass_context
def status(ctx: click.Context, every_s: int | None, as_json: bool) -> None:
    """Show in ten lines how this host is: pools, log and cache, changes, what needs attention."""
    services = services_for(ctx)
    if as_json:
        click.echo(json.dumps(_document(read_status(services)), ensure_ascii=False))
        return
    while True:
        found = read_status(services)
        if every_s:
            click.clear()
        _print(found)
        if not every_s:
            return
        try:
            services.wait(every_s)
        except KeyboardInterrupt:
            return


def read_status(services: Services) -> Status:
    """Read the host and its runs."""
    inventory = services.inventory()
    findings = (*findings_of(inventory), *services.platforms(inventory).cautions)
    free = (disk for disk in inventory.disks if not disk.rotational and disk.is_blank)
    return Status(
        inventory=inventory,
        findings=tuple(each for each in worst_first(findings) if each.level is not Level.INFO),
        runs=tuple(run for run in list_runs(services.run_host()).runs if run.is_in_place),
        free_ssds=tuple(disk for disk in free if isinstance(can_use_disk(disk), Allowed)),
    )


def _print(found: Status) -> None:
    host = found.inventory.host
    click.secho(f"{host.node}: {found.headline}", bold=True)
    if found.inventory.pools:
        table(("POOL", "STATE", "FULL", "SIZE", "LOG", "CACHE"), map(_row, found.inventory.pools), "<<>><<")
    if found.free_ssds:
        click.echo(f"Free SSDs: {', '.join(disk.label for disk in found.free_ssds)}")
    for run in found.runs[:RUNS_SHOWN]:
        click.echo(f"Change: {_said_of(run)}")
    for finding in found.findings[:FINDINGS_SHOWN]:
        paragraph(str(finding), LEADS[finding.level], finding.level)
    more = len(found.findings) - FINDINGS_SHOWN
    rest = f"{more} more findings, and how each disk is" if more > 0 else "How each disk is"
    click.echo(f"{rest}: nasadvisor health")


def _row(pool: Pool) -> tuple[str, ...]:
    full = percent(pool.allocated_bytes / pool.size_bytes) if pool.size_bytes else "-"
    log, cache = (_devices(tops) for tops in (pool.logs, pool.caches))
    return pool.name, pool.state, full, size_text(pool.size_bytes), log, cache


def _devices(tops: tuple[Vdev, ...]) -> str:
    """Like "mirror of 2"; the state where it is not ONLINE."""
    if not tops:
        return "-"
    leaves = [leaf for top in tops for leaf in top.leaves()]
    broken = [leaf for leaf in leaves if leaf.state != "ONLINE"]
    kind = f"{tops[0].kind} of {len(leaves)}" if tops[0].children and len(tops) == 1 else str(len(leaves))
    return f"{kind}, {len(broken)} {broken[0].state}" if broken else kind


def _said_of(run: Run) -> str:
    """A run that is in place, and the command for what can be done with it."""
    began = f"pool {run.plan.pool_name}, {minute_of(run.started_at)} UTC"
    if run.trial and run.is_on_trial:
        return f"{began}, on trial until {minute_of(run.trial.until)} UTC. To keep it: nasadvisor keep {run.id}"
    if run.state is RunState.APPLIED:
        return f"{began}. To undo it: nasadvisor undo {run.id}"
    return f"{began}, {run.state}. What to do: nasadvisor show {run.id}"


def _document(found: Status) -> dict[str, object]:
    return {
        "node": found.inventory.host.node,
        "read_at": found.inventory.read_at,
        "headline": found.headline,
        "pools": [
            {
                "name": pool.name,
                "guid": pool.guid,
                "state": pool.state,
                "size_bytes": pool.size_bytes,
                "allocated_bytes": pool.allocated_bytes,
                "logs": [leaf.state for top in pool.logs for leaf in top.leaves()],
                "caches": [leaf.state for top in pool.caches for leaf in top.leaves()],
            }
            for pool in found.inventory.pools
        ],
        "free_ssds": [disk.path for disk in found.free_ssds],
        "runs": [{"run": run.id, "pool": run.plan.pool_name, "state": run.state} for run in found.runs],
        "findings": [{"code": each.code, "level": each.level, "text": str(each)} for each in found.findings],
    }
