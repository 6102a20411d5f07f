"""`nasadvisor plan`: from a wish to a plan file and a preview. It changes nothing."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import click
from click.core import ParameterSource

from nasadvisor.cli.change.preview import preview_document, print_details, print_preview
from nasadvisor.cli.errors import Refusal, json_option
from nasadvisor.cli.options import Percent, Size, SizeOrMax, SpreadCommand
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.storage.disks import find_disk, find_pool
from nasadvisor.cli.tables import heading
from nasadvisor.cli.watching import findings_in, reading_in, watch
from nasadvisor.domain.change.actions import Naming
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.proposal import NOT_NEEDED, Proposal, ProposalFacts, SsdHealth, propose
from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.evidence.options import known_of
from nasadvisor.domain.evidence.thresholds import SPOT
from nasadvisor.domain.evidence.wanted import wanted_by
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.figures import duration
from nasadvisor.domain.fleet.platforms import vetoes_by_disk, vetoes_of
from nasadvisor.domain.health.disk_findings import ssd_health
from nasadvisor.domain.health.smart.power_loss import weigh
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import BrokenSide, broken_log_sides, is_dead
from nasadvisor.stored.documents import to_document


def recommended_request(services: Services, inventory: Inventory, pool: Pool, seconds: int) -> PlanRequest:
    """Watch a pool for so long, ask the disks how they are, and choose. What is not proposed is said on standard error.

    Raises:
        Refusal: nothing helps, nothing is fit, or the pool could not be watched.
    """
    click.echo(f"Watching pool {pool.name} for {duration(seconds)}, the only data for this plan …", err=True)
    sample, facts = watch(services, pool, seconds, every=5)
    seen = known_of(workload_of(sample, facts), facts, SPOT)
    answers: list[DiskAnswer] = []
    services.health().sweep(answers.extend)
    health: dict[str, SsdHealth] = {}
    for answer in answers:
        reading = reading_in(answer)
        percent_used = None if reading is None else reading.percent_used
        protection = "" if reading is None else weigh(reading.power_loss).protection.value
        health[answer.disk_key] = ssd_health(findings_in(answer, reading), percent_used, protection)
    known = ProposalFacts(
        inventory=inventory,
        pool=pool,
        wanted=wanted_by(seen.log, seen.cache, seen.log_size, seen.cache_size),
        health=health,
        vetoes=vetoes_by_disk(services.platforms(inventory).vetoes, inventory),
    )
    proposal = propose(known)
    said = "\n".join(_said(proposal))
    if proposal.request is None:
        raise Refusal(f"Nothing to add to pool {pool.name}.\n{said}")
    if said:
        click.echo(said, err=True)
    return proposal.request


def _said(proposal: Proposal) -> Iterator[str]:
    """Why not more is proposed."""
    if proposal.no_log:
        yield f"No log: {proposal.no_log}"
    if proposal.no_cache:
        yield f"No cache: {proposal.no_cache}"
    yield from (str(reason) for reason in proposal.left_out.values() if reason.code != NOT_NEEDED)


WITH_RECOMMENDED = frozenset({"recommended", "seconds", "naming", "output", "verbose", "as_json"})
"""What can be said with --recommended."""


@dataclass(frozen=True)
class Wish:
    """The options of `plan` as typed. Sizes are bytes; `cache_size` None is as much as fits."""

    pool: str
    log: tuple[str, ...]
    log_size: int | None
    cache: tuple[str, ...]
    cache_size: int | None
    reserve: int
    naming: str
    use_free_space: bool
    mirror_existing_log: str | None
    replace_log_side: str | None
    replace_dead_log: str | None
    remove_dead_log: str | None
    offline_cache: str | None

    def check(self) -> None:
        """See whether the options go together.

        Raises:
            UsageError: they do not.
        """
        if self._stands_alone():
            return
        if not self.log and not self.cache:
            raise click.UsageError("Say which SSDs to use, with --log, --cache or both.")
        if self.log_size and not self.log:
            raise click.UsageError("--log-size needs --log.")
        if self.replace_dead_log is not None and not self.log:
            raise click.UsageError("--replace-dead-log needs an SSD for the new log, given with --log.")
        options = {"--mirror-existing-log": self.mirror_existing_log, "--replace-log-side": self.replace_log_side}
        given = [option for option, text in options.items() if text is not None]
        if len(given) > 1:
            raise click.UsageError(f"{given[0]} and {given[1]} do not go together.")
        if given:
            if len(self.log) != 1:
                raise click.UsageError(f"{given[0]} needs exactly one SSD, given with --log.")
            if self.log_size:
                raise click.UsageError(f"--log-size does not go with {given[0]}: both sides have one size.")
        elif self.log and not self.log_size:
            raise click.UsageError("Set the size of each log slice, for example --log-size 4G.")

    def _stands_alone(self) -> bool:
        """Whether it takes something out and adds nothing.

        Raises:
            UsageError: more is wished for beside it.
        """
        alone = {"--offline-cache": self.offline_cache, "--remove-dead-log": self.remove_dead_log}
        lone = [option for option, text in alone.items() if text is not None]
        others = (self.mirror_existing_log, self.replace_log_side, self.replace_dead_log)
        is_more = self.log or self.cache or len(lone) > 1 or any(text is not None for text in others)
        if lone and is_more:
            raise click.UsageError(f"{lone[0]} cannot be combined with another SSD or another of these options.")
        return bool(lone)

    def request(self, inventory: Inventory) -> PlanRequest:
        """The request it stands for on this host.

        Raises:
            UsageError: a pool, disk or log that is not there or not clear.
        """
        pool = find_pool(inventory, self.pool)
        dead = self.replace_dead_log or self.remove_dead_log
        broken = _broken_side(pool, self.replace_log_side) if self.replace_log_side else None
        attach_to = _existing_side(pool, self.mirror_existing_log) if self.mirror_existing_log else ""
        return PlanRequest(
            pool_guid=pool.guid,
            log_disks=tuple(find_disk(inventory, text).key for text in self.log),
            log_size_bytes=self.log_size or 0,
            cache_disks=tuple(find_disk(inventory, text).key for text in self.cache),
            cache_size_bytes=self.cache_size,
            reserve_percent=self.reserve,
            naming=Naming(self.naming),
            use_free_extents=self.use_free_space,
            attach_to=broken.partner.guid if broken else attach_to,
            replaces=broken.side.guid if broken else "",
            dead_log=_dead_log(pool, dead) if dead else "",
            offline_cache=_cache(pool, self.offline_cache) if self.offline_cache else "",
        )


@click.command(cls=SpreadCommand)
@click.option("--pool", metavar="POOL", help="The pool's name or guid.")
@click.option("--recommended", metavar="POOL", help="Watch this pool and plan what helps, on the SSDs that fit best.")
@click.option("--seconds", type=click.IntRange(20, 86400), default=60, show_default=True, help="How long to watch it.")
@click.option("--log", multiple=True, metavar="DISK [DISK]", help="One SSD for a single log, two for a mirror.")
@click.option("--log-size", type=Size(), metavar="SIZE", help="Size of each log slice, for example 4G.")
@click.option("--cache", multiple=True, metavar="DISK [DISK]", help="SSDs for the cache; several are striped.")
@click.option("--cache-size", type=SizeOrMax(), default="max", metavar="SIZE", help="Size of each cache slice, or max.")
@click.option("--reserve", type=Percent(), default="10%", show_default=True, help="Share of each SSD to leave empty.")
@click.option(
    "--naming",
    type=click.Choice([str(naming) for naming in Naming]),
    default=str(Naming.PARTUUID),
    show_default=True,
    help="Which persistent names OpenZFS gets for the slices.",
)
@click.option("--use-free-space", is_flag=True, help="Also use SSDs with partitions; only their free space.")
@click.option(
    "--mirror-existing-log", metavar="GUID|auto", help="Make an existing log a mirror with the one --log SSD."
)
@click.option("--replace-log-side", metavar="GUID|auto", help="Replace a log mirror's failed side with the --log SSD.")
@click.option(
    "--replace-dead-log", metavar="GUID|auto", help="Remove a failed log first; the --log SSDs become the new one."
)
@click.option("--remove-dead-log", metavar="GUID|auto", help="Remove a log of which no side works.")
@click.option(
    "--offline-cache", metavar="GUID|auto", help="Take a cache out of service; an undo puts it back into service."
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the plan here.")
@click.option("--verbose", "-v", is_flag=True, help="Show each step, what an undo runs, and what a failed SSD means.")
@json_option
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    recommended: str | None,
    seconds: int,
    output: Path | None,
    verbose: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Create a plan for a log or cache. Changes nothing.

    With --recommended the pool is watched while it does its work, and only what helps is planned, at the size that was
    measured; where nothing helps, that is said, and why.

    DISK is a name from /dev/disk/by-id, a full persistent path or a serial; `nasadvisor inventory` lists them.
    """
    _check_together(ctx, recommended)
    services = services_for(ctx)
    if recommended:
        inventory = services.inventory()
        request = recommended_request(services, inventory, find_pool(inventory, recommended), seconds)
        request = replace(request, naming=Naming(str(options["naming"])))
    else:
        wish = Wish(**options)  # type: ignore[arg-type]
        wish.check()
        inventory = services.inventory()
        request = wish.request(inventory)
    made = make_plan_for(request, inventory)
    report = services.platforms(inventory)
    forbidden = vetoes_of(report.vetoes, Goal.APPLY, made)
    if forbidden:
        raise Refusal("\n".join(map(str, forbidden)))
    warnings = (*report.cautions, *warnings_for(made, inventory))
    if output:
        _write(output, made)
    if as_json:
        click.echo(json.dumps(preview_document(made, inventory, warnings), ensure_ascii=False))
    else:
        print_preview(made, inventory, warnings)
        if verbose:
            print_details(made, inventory)
        heading("Nothing was changed.")
        if output:
            click.echo(f"To apply it: nasadvisor apply {output}")
        else:
            click.echo("To apply it, write the plan to a file with --output plan.json.")


def _check_together(ctx: click.Context, recommended: str | None) -> None:
    """See whether what was typed goes with --recommended, or without.

    Raises:
        UsageError: it does not.
    """
    typed = {name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if not recommended and "pool" not in typed:
        raise click.UsageError("Say which pool, with --pool or --recommended.")
    if not recommended and "seconds" in typed:
        raise click.UsageError("--seconds needs --recommended.")
    extra = [f"--{name.replace('_', '-')}" for name in ctx.params if name in typed and name not in WITH_RECOMMENDED]
    if recommended and extra:
        raise click.UsageError(f"--recommended chooses the SSDs and sizes. Omit {', '.join(extra)}.")


def make_plan_for(request: PlanRequest, inventory: Inventory) -> Plan:
    """A plan with fresh identifiers.

    Raises:
        Refusal: it is refused, with every reason.
    """
    made = make_plan(request, inventory, PlanIds.fresh(request, uuid4, datetime.now(UTC)))
    if isinstance(made, PlanRefused):
        raise Refusal(str(made))
    return made


def _existing_side(pool: Pool, text: str) -> str:
    """The guid of the log side to mirror; with "auto", the only log's first side."""
    sides = [leaf for top in pool.logs for leaf in top.leaves()]
    if not sides:
        raise Refusal(f"Pool {pool.name} has no log that could become a mirror.")
    if text == "auto":
        if len(pool.logs) > 1:
            raise click.UsageError(f"Pool {pool.name} has several logs. Say which one: {_listed(sides)}.")
        return sides[0].guid
    if text not in [leaf.guid for leaf in sides]:
        raise Refusal(f"Pool {pool.name} has no log with the guid {text}. It has: {_listed(sides)}.")
    return text


def _broken_side(pool: Pool, text: str) -> BrokenSide:
    """The broken side of a mirrored log, by guid; with "auto", the first there is."""
    found = broken_log_sides(pool)
    if not found:
        raise Refusal(f"Pool {pool.name} has no mirrored log with one failed side and one working side.")
    sides = found if text == "auto" else [each for each in found if each.side.guid == text]
    if not sides:
        listed = _listed([each.side for each in found])
        raise Refusal(f"Pool {pool.name} has no failed log side with the guid {text}. It has: {listed}.")
    return sides[0]


def _dead_log(pool: Pool, text: str) -> str:
    """The guid of a log that does not work; with "auto", the only dead one. Whether it is dead the plan's rules say."""
    guids = [top.guid for top in pool.logs if is_dead(top)]
    if text == "auto" and len(guids) == 1:
        return guids[0]
    if text == "auto" and not guids and len(pool.logs) == 1:
        return pool.logs[0].guid
    if not pool.logs:
        raise click.UsageError(f"Pool {pool.name} has no log.")
    if text not in [top.guid for top in pool.logs]:
        raise click.UsageError(f"Say which log of pool {pool.name}. It has: {_listed(pool.logs)}.")
    return text


def _cache(pool: Pool, text: str) -> str:
    """The guid of the cache to take out of service; with "auto", the only one."""
    guids = [top.guid for top in pool.caches]
    if not guids:
        raise Refusal(f"Pool {pool.name} has no cache.")
    if text == "auto" and len(guids) > 1:
        raise click.UsageError(f"Say which cache of pool {pool.name}. It has: {_listed(pool.caches)}.")
    if text not in ("auto", *guids):
        raise Refusal(f"Pool {pool.name} has no cache with the guid {text}. It has: {_listed(pool.caches)}.")
    return guids[0] if text == "auto" else text


def _listed(sides: Iterable[Vdev]) -> str:
    return ", ".join(f"{side.guid} ({side.path or side.name})" for side in sides)


def _write(path: Path, made: Plan) -> None:
    try:
        path.write_text(json.dumps(to_document(made), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The plan cannot be written to {path}: {error.strerror}.") from error
