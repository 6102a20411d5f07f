"""What came of what was asked for, in the audit log: who asked stands there already."""

from typing import Final

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.fleet import audit

RESULTS: Final = frozenset(
    {
        StoredRunState.APPLIED,
        StoredRunState.REFUSED,
        StoredRunState.UNDONE,
        StoredRunState.PUT_BACK,
        StoredRunState.INTERRUPTED,
        StoredRunState.ATTENTION,
    }
)


def note_result(node_name: str, stored: StoredRun, before: str, state: str) -> None:
    """Write down that a run came to rest in another state than before; `before` is "" where it was not known."""
    if state != before and state in RESULTS:
        audit.record_result(node_name, f"{stored.pool_name} {stored.pk}: {state}")
