"""What `nasadvisor plan --recommended` asks of the planner: the wizard's own defaults, by a look at this moment."""

from collections.abc import Iterator, Mapping

import click

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.services import Services
from nasadvisor.cli.watching import findings_in, reading_in, watch
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.proposal import NOT_NEEDED, Proposal, ProposalFacts, SsdHealth, Wanted, propose
from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.recommendation import recommend_cache, recommend_log
from nasadvisor.domain.evidence.thresholds import SPOT
from nasadvisor.domain.evidence.wanted import wanted_by
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.figures import duration
from nasadvisor.domain.fleet.platforms import vetoes_by_disk
from nasadvisor.domain.health.smart.power_loss import weigh
from nasadvisor.domain.health.ssd_health import ssd_health
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.domain.storage.inventory import Inventory, Pool


def recommended_request(services: Services, inventory: Inventory, pool: Pool, seconds: int) -> PlanRequest:
    """Watch a pool for so long, ask the disks how they are, and choose. What is not proposed is said on standard error.

    Raises:
        Refusal: nothing helps, nothing is fit, or the pool could not be watched.
    """
    click.echo(f"Watching pool {pool.name} for {duration(seconds)}, which is all that this goes by …", err=True)
    wanted = _wanted(services, pool, seconds)
    known = ProposalFacts(
        inventory=inventory,
        pool=pool,
        wanted=wanted,
        health=_health(services),
        vetoes=vetoes_by_disk(services.platforms(inventory).vetoes, inventory),
    )
    proposal = propose(known)
    said = "\n".join(_said(proposal))
    if proposal.request is None:
        raise Refusal(f"Nothing to add to pool {pool.name}.\n{said}")
    if said:
        click.echo(said, err=True)
    return proposal.request


def _wanted(services: Services, pool: Pool, seconds: int) -> Wanted:
    sample, facts = watch(services, pool, seconds, every=5)
    workload = workload_of(sample, facts)
    return wanted_by(
        judge_log(workload, facts, SPOT),
        judge_cache(workload, facts, SPOT),
        recommend_log(workload, facts),
        recommend_cache(workload),
    )


def _health(services: Services) -> Mapping[str, SsdHealth]:
    """What the disks say of themselves now, by key."""
    answers: list[DiskAnswer] = []
    services.health().sweep(answers.extend)
    return {answer.disk_key: _health_of(answer) for answer in answers}


def _health_of(answer: DiskAnswer) -> SsdHealth:
    reading = reading_in(answer)
    findings = findings_in(answer, reading)
    if reading is None:
        return ssd_health(findings, None, "")
    return ssd_health(findings, reading.percent_used, weigh(reading.power_loss).protection.value)


def _said(proposal: Proposal) -> Iterator[str]:
    """Why not more is proposed."""
    if proposal.no_log:
        yield f"No log: {proposal.no_log}"
    if proposal.no_cache:
        yield f"No cache: {proposal.no_cache}"
    yield from (str(reason) for reason in proposal.left_out.values() if reason.code != NOT_NEEDED)
