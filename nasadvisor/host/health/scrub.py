"""Starting a scrub: the one act of ours on a pool's data, which reads all of it and repairs what has another copy."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.change.runs import LOCK_WAIT_S
from nasadvisor.host.errors import CommandFailed, HostError

TIMEOUT_S: Final = 120.0
"""`zpool scrub` returns once the kernel has written down that one runs, which waits for a transaction group."""


class ScrubPoolAway(HostError):  # noqa: N818 - named for what happened
    """The pool that was to be scrubbed is not imported."""

    def __init__(self, guid: str) -> None:
        template = _("No pool with the guid {guid} is imported on this host. No scrub was started.")
        super().__init__(template, guid=guid)


class ScrubRefused(HostError):  # noqa: N818
    """OpenZFS did not begin it: another scan runs, the pool is suspended, or imported read-only."""

    def __init__(self, pool: str, answer: str) -> None:
        template = _(
            "Pool {pool} did not start a scrub. OpenZFS reported: “{answer}”. Nothing was changed. A scrub that is "
            "running already continues; one that is held up by a resilver can be started when that has ended."
        )
        super().__init__(template, pool=pool, answer=answer)


def start_scrub(look: Callable[[], Inventory], runner: Runner, locks: tuple[Path, ...], guid: str) -> None:
    """Start a scrub of the pool with this guid, or continue one that is paused, and not while a run changes the host.

    `zpool scrub` takes a name only, so which pool has it is read under the lock, right before.

    Raises:
        ScrubPoolAway: there is no such pool.
        ScrubRefused: OpenZFS does not begin one now.
        HostBusy: a run is under way.
        HostError: the host cannot be read, or zpool does not answer.
    """
    with host_lock(locks, LOCK_WAIT_S):
        pool = look().pool(guid)
        if pool is None:
            raise ScrubPoolAway(guid)
        try:
            runner.run(Command(Tool.ZPOOL, ("scrub", pool.name), TIMEOUT_S))
        except CommandFailed as error:
            raise ScrubRefused(pool.name, error.stderr.strip()) from error
