"""What can be known of a pool and of disks at this moment, without a console that has watched them."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from nasadvisor.cli.errors import Refusal
from nasadvisor.cli.services import Services
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.health.disk_findings import Subject, disk_findings, unanswered
from nasadvisor.domain.health.smart.reading import SmartReading, decode_answer
from nasadvisor.domain.health.sweep import DiskAnswer, SweepOutcome
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.stored.documents import unpack


@contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while something takes long; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


def watch(services: Services, pool: Pool, seconds: int, every: int) -> tuple[Sample, PoolFacts]:
    """Take samples for so long; everything that was seen, and the pool's properties.

    Raises:
        Refusal: the pool was not there all the time, or OpenZFS is not loaded.
    """
    return watch_pools(services, (pool,), seconds, every)[pool.guid]


def watch_pools(
    services: Services, pools: Sequence[Pool], seconds: int, every: int
) -> dict[str, tuple[Sample, PoolFacts]]:
    """The same of several pools at once, by their guids.

    Raises:
        Refusal: one of them was not there all the time, or OpenZFS is not loaded.
    """
    sampler = services.sampler()
    readings = [sampler.sample()]
    waited = 0
    with progress(f"Watching pool {', '.join(pool.name for pool in pools)}", seconds) as advance:
        while waited < seconds:
            pause = min(every, seconds - waited)
            services.wait(pause)
            waited += pause
            readings.append(sampler.sample())
            advance(pause)
    return {pool.guid: _seen_of(pool, readings) for pool in pools}


def _seen_of(pool: Pool, readings: Sequence[Reading]) -> tuple[Sample, PoolFacts]:
    samples = [each for reading in readings for each in reading.samples if each.pool_guid == pool.guid]
    facts = [each for reading in readings for each in reading.facts if each.guid == pool.guid]
    if not samples or not facts:
        raise Refusal(f"Pool {pool.name} could not be watched: it was not imported throughout. Nothing was changed.")
    return merge(samples), facts[-1]


def reading_in(answer: DiskAnswer) -> SmartReading | None:
    """What a disk said, with what nvme-cli adds about power-loss protection; None where it said nothing."""
    document = _json(answer.smartctl) if answer.outcome is SweepOutcome.READ else None
    return None if document is None else decode_answer(document, _json(answer.id_ctrl), _json(answer.ocp))


def findings_in(answer: DiskAnswer, reading: SmartReading | None) -> tuple[Finding, ...]:
    """What an answer gives reason to say."""
    identity = answer.identity
    label = f"{identity.model or 'Unnamed disk'} ({identity.serial})"
    subject = Subject(label, answer.disk_key, answer.disk_key, "")
    silent = (unanswered(subject, answer.problem),) if answer.outcome is SweepOutcome.FAILED else ()
    return (*silent, *(disk_findings(subject, reading) if reading else ()))


def _json(packed: str) -> Any:
    """What a packed text holds; None where it is empty or no JSON."""
    try:
        return json.loads(unpack(packed))
    except (ValueError, RecursionError):
        return None
