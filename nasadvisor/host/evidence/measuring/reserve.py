"""Testing what a reserve does for a blank SSD: all of it is one slice for hours, and less and less of it stays free."""

import re
from typing import Final
from uuid import uuid4

from nasadvisor.domain.change.plan import PlanIds, PlanRequest, room_on
from nasadvisor.domain.evidence.measuring.reserve import (
    BLOCK_BYTES,
    FREE_PERCENTS,
    LONGEST_S,
    QUARTERS,
    QUARTERS_OF_A_SHARE,
    WRITERS,
    Begin,
    Part,
    ReserveFigures,
    ReserveOrder,
    ReserveProgress,
    ReserveResult,
)
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.names import MEASURE_ID
from nasadvisor.domain.units import MIB, align_down
from nasadvisor.host.adapters.fio import FioJob, Pattern, run_fio
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.measuring.candidate import MadeSlice, place_on, slice_for_test
from nasadvisor.host.evidence.measuring.measure import MeasureHost, OrderForeign, clean_up, pool_to_measure

DISCARD_S: Final = 600.0
"""Some SSDs take minutes to discard all they have."""


class CannotDiscard(HostError):  # noqa: N818 - named for what happened
    """The SSD cannot be told what is free."""

    def __init__(self, disk: str, why: str) -> None:
        template = _(
            "{disk} cannot be told what is free (discard): {why}. Whatever was written to it once counts as in use, so "
            "a reserve cannot be tested. It was not written to."
        )
        super().__init__(template, disk=disk, why=why)


def measure_reserve(host: MeasureHost, order: ReserveOrder, begin: Begin) -> ReserveResult:
    """Measure the sustained rate of a blank SSD for each share of `FREE_PERCENTS`. All of it is written several times.

    The pool of the order is not touched; its host's locks are held until the end.

    Raises:
        OrderForeign, MeasurementRefused, HostBusy, CandidateRefused, ToolMissing: nothing was changed.
        CannotDiscard: nothing was written, and the slice is gone.
        HostError: it could not be measured; the slice is gone, or its record stays for the next clean-up.
    """
    if not re.fullmatch(MEASURE_ID, order.id) or not 1 <= order.quarter_s <= order.most_s <= LONGEST_S:
        raise OrderForeign
    clean_up(host)
    inventory = host.inventory()
    pool = pool_to_measure(host, inventory, order.pool_guid, order.disk_key)
    disk = inventory.disk(order.disk_key)
    room_bytes = align_down(room_on(disk, inventory.host, 0).size_bytes) if disk else 0
    request = PlanRequest(pool.guid, (order.disk_key,), room_bytes, reserve_percent=0)
    ids = PlanIds.fresh(request, uuid4, host.probes.clock(), order.id)
    with slice_for_test(host.candidates, request, ids) as made:
        _discard(made)
        figures = tuple(_measure(made, order, number, begin) for number in range(len(FREE_PERCENTS)))
    return ReserveResult(order, made.disk, made.record.at, figures)


def _discard(made: MadeSlice) -> None:
    """Tell the SSD that nothing of it is in use."""
    made.refuse_if_used()
    command = Command(Tool.BLKDISCARD, (made.slice.partuuid_path,), DISCARD_S, frozenset({0, 1}))
    answer = made.runner.run(command)
    if answer.code:
        raise CannotDiscard(made.disk, answer.stderr.strip() or str(command))


def _measure(made: MadeSlice, order: ReserveOrder, number: int, begin: Begin) -> ReserveFigures:
    """Fill all but the free share, then write to it scattered, until two quarters can be compared."""
    free_percent = FREE_PERCENTS[number]
    area = made.slice.size_bytes * (100 - free_percent) // 100 // (WRITERS * MIB) * WRITERS * MIB
    left_s = (len(FREE_PERCENTS) - number) * QUARTERS_OF_A_SHARE * order.quarter_s
    found = {}
    for part, quarters in QUARTERS.items():
        begin(ReserveProgress(free_percent, part, left_s))
        made.refuse_if_used()
        found[part] = run_fio(made.runner, _job(made, part, area, quarters * order.quarter_s))
        left_s -= quarters * order.quarter_s
    return ReserveFigures(
        free_percent,
        area,
        found[Part.FILL].operations * MIB,
        (found[Part.SETTLE].operations + found[Part.EARLIER].operations) * BLOCK_BYTES,
        found[Part.EARLIER].bytes_per_s,
        found[Part.LATER].bytes_per_s,
    )


def _job(made: MadeSlice, part: Part, area_bytes: int, seconds: int) -> FioJob:
    if part is Part.FILL:
        return FioJob(place_on(made.slice, area_bytes, 1), MIB, 1, seconds, "", ends_after_once=True)
    place = place_on(made.slice, area_bytes, WRITERS)
    return FioJob(place, BLOCK_BYTES, WRITERS, seconds, "", pattern=Pattern.DRAWN_ANEW)
