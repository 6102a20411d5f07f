"""The table of options of one pool, the same on the page and on the command line."""

from nasadvisor.domain.evidence.metadata_options import metadata_row, special_row
from nasadvisor.domain.evidence.options import Known, OptionsTable, waits_of
from nasadvisor.domain.evidence.read_options import cache_row, memory_row
from nasadvisor.domain.evidence.write_options import log_row, nothing_row, property_row


def options_of(known: Known) -> OptionsTable:
    """Every option has its row, whatever is known."""
    waits, memory = waits_of(known.workload, known.waited), memory_row(known)
    rows = (
        nothing_row(known, waits),
        property_row(known, memory),
        memory,
        log_row(known),
        cache_row(known),
        metadata_row(known),
        special_row(known),
    )
    return OptionsTable(waits, rows)
