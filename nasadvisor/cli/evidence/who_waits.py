"""Who waits, as the host has traced it by itself: the part of `nasadvisor advise` that looks back a week."""

from typing import Any, Final

from nasadvisor.cli.services import Services
from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.options import OptionsTable
from nasadvisor.domain.evidence.spells import added
from nasadvisor.domain.evidence.waited import Wait, Waited, waited_of
from nasadvisor.domain.evidence.who_waits import who_waits
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.evidence.kept_spells import KEPT_S, kept_spells
from nasadvisor.stored.documents import to_document

SHOWN: Final = 12


def waited_lately(services: Services, pool: Pool, now: int) -> Waited | None:
    """What the service of this host has traced in the last week; None where that is nothing, or too little."""
    return waited_of(added(kept_spells(services.config().spells, pool.guid, now - KEPT_S)))


def print_who_waits(waited: Waited | None, options: OptionsTable) -> None:
    """The sentence and the table; nothing where nothing was traced."""
    if waited is None:
        return
    heading(f"Who waits (traced by itself, last {duration(waited.seconds)})")
    paragraph(str(who_waits(waited, options) or "No program waits for synchronous writes on this pool."))
    rows = (
        (
            each.program or "all others",
            each.dataset or "-",
            duration(each.wait.likely_s),
            _range(each.wait),
            str(each.most),
        )
        for each in waited.programs[:SHOWN]
        if each.wait.likely_s
    )
    table(("PROGRAM", "DATASET", "WAITS/DAY", "RANGE", "AT ONCE"), rows, "<<>>>")
    paragraph(f"{waited.spells} spells, {percent(waited.cost_share)} of one core; 9 of 10 ranges hold the true value.")


def who_waits_document(waited: Waited | None, options: OptionsTable) -> dict[str, Any] | None:
    """The same as JSON."""
    if waited is None:
        return None
    return {**to_document(waited), "sentence": str(who_waits(waited, options) or "")}


def _range(wait: Wait) -> str:
    return f"{duration(wait.low_s)} - {duration(wait.high_s)}"
