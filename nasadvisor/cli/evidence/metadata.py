"""The part of `nasadvisor advise` about metadata: counting the blocks of a pool, and what to do about it."""

from typing import Any

import click

from nasadvisor.cli.services import Services
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.metadata_blocks import KIND_NAMES
from nasadvisor.domain.evidence.metadata_choice import advise_metadata
from nasadvisor.domain.evidence.metadata_size import Counted, counted_of
from nasadvisor.domain.evidence.options import NAMES, Known
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.figures import duration
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import MINUTE_S, size_text
from nasadvisor.stored.documents import to_document


def count_metadata(services: Services, pool: Pool, facts: PoolFacts, minutes: int) -> Counted:
    """Count the blocks of a pool; what that costs is said first.

    Raises:
        HostError: they cannot be counted, or not now.
    """
    click.echo(
        f"Counting the blocks of pool {pool.name}: zdb reads all its metadata, at the lowest I/O priority. That takes "
        f"minutes to hours and is ended after {duration(minutes * MINUTE_S)}. Nothing is written …",
        err=True,
    )
    return counted_of(services.blocks().count(pool.guid, minutes * MINUTE_S), pool, facts)


def print_metadata(known: Known) -> None:
    """What to do about metadata, and the figures it rests on."""
    advice = advise_metadata(known)
    heading(f"Metadata: {NAMES[advice.option] if advice.option else 'cannot tell'}")
    paragraph(str(advice.because))
    for each in advice.looked:
        paragraph(str(each))
    if known.counted:
        _print_counted(known.counted)


def metadata_document(known: Known) -> dict[str, Any]:
    """The same as JSON."""
    advice = advise_metadata(known)
    return {
        **to_document(advice),
        "sentence": str(advice.because),
        "counted": to_document(known.counted) if known.counted else None,
    }


def _print_counted(counted: Counted) -> None:
    size = counted.size
    rows = (
        (
            KIND_NAMES[each.kind],
            str(each.blocks),
            size_text(each.allocated_bytes),
            size_text(each.stored_bytes),
            size_text(each.bytes_at(size.ashift)),
        )
        for each in counted.count.metadata
    )
    click.echo()
    table(("METADATA", "BLOCKS", "IN THE POOL", "IN MEMORY", "ON A SPECIAL VDEV"), rows, "<>>>>")
    click.echo()
    cut_offs = (
        (
            f"{size_text(each.block_bytes)}{' *' if each.block_bytes == size.cut_off else ''}",
            str(each.blocks),
            size_text(each.added_bytes),
            size_text(size.metadata_bytes + each.added_bytes),
        )
        for each in size.cut_offs
    )
    table(("SPECIAL_SMALL_BLOCKS", "BLOCKS OF DATA", "MORE", "THEN IN ALL"), cut_offs, ">>>>")
