"""`nasadvisor switching`: prove what a cache does by taking it out of service and putting it back at random hours."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import click

from nasadvisor.cli.change.runs import Progress, ask_first, yes_option
from nasadvisor.cli.errors import ExitCode, json_option
from nasadvisor.cli.options import TrialLength
from nasadvisor.cli.services import Services, services_for, who
from nasadvisor.cli.storage.disks import find_pool
from nasadvisor.cli.tables import minute_of, paragraph
from nasadvisor.domain.evidence.switch_words import not_back, result_of
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.evidence.switching import USUAL_PAIRS, USUAL_PERIOD_S, USUAL_SETTLE_S
from nasadvisor.domain.figures import duration
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.evidence.switching import start_switching, stop_switching
from nasadvisor.stored.documents import to_document


@click.command()
@click.argument("pool", metavar="POOL")
@click.option("--start", is_flag=True, help="Start it. The service nasadvisor-host carries it out.")
@click.option("--stop", is_flag=True, help="End it now and put the cache back into service.")
@click.option("--pairs", type=int, default=USUAL_PAIRS, show_default=True, help="How many pairs of periods, 8 to 240.")
@click.option(
    "--period", type=TrialLength(), default=USUAL_PERIOD_S, metavar="TIME", help="One period, e.g. 1h or 90m."
)
@click.option(
    "--settle",
    type=TrialLength(),
    default=USUAL_SETTLE_S,
    metavar="TIME",
    help="How much time after each switch to ignore, e.g. 20m; at most half a period.",
)
@yes_option
@json_option
@click.pass_context
def switching(
    ctx: click.Context,
    pool: str,
    start: bool,
    stop: bool,
    pairs: int,
    period: int,
    settle: int,
    yes: bool,
    as_json: bool,
) -> None:
    """Test POOL's cache: take it out of service and put it back at random times, for three days.

    Nothing on it is lost, and at the end it is in service. Without an option: how it stands, and what it says by now.
    Exit code 5 if a cache could not be put back.
    """
    services = services_for(ctx)
    if start and stop:
        raise click.UsageError("Give either --start or --stop.")
    chosen = find_pool(services.inventory(), pool)
    record = services.switch_host().records.newest_of(chosen.guid)
    if stop:
        record = stop_switching(services.switch_host(), chosen.guid, who(), Progress(services.report))
    elif start:
        record = _start(services, chosen, SwitchOrder(str(uuid4()), chosen.guid, pairs, period, settle), yes=yes)
    _show(chosen, record, as_json)
    if record and record.problem:
        ctx.exit(ExitCode.ATTENTION)


def _start(services: Services, pool: Pool, order: SwitchOrder, *, yes: bool) -> CacheSwitching:
    if not yes:
        whole = duration(2 * order.pairs * order.period_s)
        click.echo(f"For {whole} all caches of pool {pool.name} are out of service half of the time.", err=True)
        ask_first(f"Switch them at random, every {duration(order.period_s)} at most?")
    return start_switching(services.switch_host(), order, who())


def _show(pool: Pool, record: CacheSwitching | None, as_json: bool) -> None:
    sentence = str(result_of(record)[1]) if record else ""
    if as_json:
        document = to_document(record) if record else None
        click.echo(json.dumps({"switching": document, "sentence": sentence}, ensure_ascii=False))
    elif record is None:
        click.echo(
            f"No cache of pool {pool.name} was ever switched here. To begin: nasadvisor switching {pool.name} --start"
        )
    else:
        _print(record, sentence)


def _print(record: CacheSwitching, sentence: str) -> None:
    paragraph(f"The cache of pool {record.pool_name}: {_stands(record)}")
    finding = not_back(record)
    if finding:
        paragraph(str(finding))
    counted = f"{len(record.seen)} of {2 * record.plan.pairs} periods were counted."
    paragraph(f"{counted} {sentence}")


def _stands(record: CacheSwitching) -> str:
    if record.ended_at:
        return f"switched until {minute_of(record.over_at)} UTC. {record.why_over}"
    if record.over_at:
        return f"not switched any more since {minute_of(record.over_at)} UTC, and put back as soon as that can be."
    until = datetime.fromtimestamp(record.plan.end, UTC).isoformat()
    return f"switched at random until {minute_of(until)} UTC, by the service nasadvisor-host."
