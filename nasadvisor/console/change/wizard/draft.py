"""The choices made in the wizard so far, one set for each pool, kept in the session until a plan was applied."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.contrib.sessions.backends.base import SessionBase

from nasadvisor.domain.change.actions import Naming
from nasadvisor.domain.change.cache_sizes import cache_bytes_each
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.proposal import USUAL_RESERVE_PERCENT
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB, parse_size
from nasadvisor.stored.documents import DocumentError, from_document, to_document

MIRROR = "mirror"
"""The value of `Draft.log_on` for a log on every SSD chosen for it."""

DEFAULT_LOG_SIZE = "4G"
"""openzfs-docs, "Hardware": a log "rarely" has "more than 4GB in use"."""

_IN_SESSION = "wizard"


@dataclass(frozen=True)
class Draft:
    """The choices for one pool. Sizes are as typed, and were checked; `cache_size` "" means as much as fits.

    As long as nobody typed a size, `cache_total` is how many bytes all caches together should have, else 0.
    `log_on` is `MIRROR` or the key of the one SSD that carries a single log. `attach_to` is the guid of a single log
    that is to become a mirror, else ""; or of the side that works, while `replaces` is that of the broken one.
    """

    pool_guid: str
    log_disks: tuple[str, ...] = ()
    cache_disks: tuple[str, ...] = ()
    use_free_space: bool = False
    log_on: str = MIRROR
    log_size: str = DEFAULT_LOG_SIZE
    cache_size: str = ""
    cache_total: int = 0
    reserve_percent: int = USUAL_RESERVE_PERCENT
    naming: Naming = Naming.PARTUUID
    attach_to: str = ""
    replaces: str = ""

    @property
    def disks(self) -> tuple[str, ...]:
        """Every chosen disk once, log disks first."""
        return tuple(dict.fromkeys((*self.log_legs, *self.cache_disks)))

    @property
    def log_legs(self) -> tuple[str, ...]:
        """The disks that carry the log."""
        if self.log_on in self.log_disks and not self.attach_to:
            return (self.log_on,)
        return self.log_disks

    def request(self) -> PlanRequest:
        """What is asked of the planner."""
        return PlanRequest(
            pool_guid=self.pool_guid,
            log_disks=self.log_legs,
            log_size_bytes=parse_size(self.log_size),
            cache_disks=self.cache_disks,
            cache_size_bytes=parse_size(self.cache_size) if self.cache_size else None,
            reserve_percent=self.reserve_percent,
            naming=self.naming,
            use_free_extents=self.use_free_space,
            attach_to=self.attach_to,
            replaces=self.replaces,
        )


def sized(draft: Draft, inventory: Inventory) -> Draft:
    """The draft with caches of the size that is recommended for so many, unless somebody typed another."""
    if not draft.cache_total:
        return draft
    size_bytes = cache_bytes_each(inventory, draft.request(), draft.cache_total)
    return replace(draft, cache_size=typed_size(size_bytes) if size_bytes else "")


def typed_size(size_bytes: int) -> str:
    """A size in whole GiB or MiB as somebody would type it."""
    return f"{size_bytes // MIB}M" if size_bytes % GIB else f"{size_bytes // GIB}G"


def load_draft(session: SessionBase, pool_guid: str, inventory: Inventory, proposed: Callable[[], Draft]) -> Draft:
    """The draft of this pool without disks that are gone, or what is proposed."""
    document = session.get(_IN_SESSION, {}).get(pool_guid)
    try:
        draft = from_document(Draft, document) if document else None
    except DocumentError:
        draft = None
    if draft is None:
        return proposed()
    known = {disk.key for disk in inventory.disks}
    return replace(
        draft,
        log_disks=tuple(key for key in draft.log_disks if key in known),
        cache_disks=tuple(key for key in draft.cache_disks if key in known),
    )


def save_draft(session: SessionBase, draft: Draft) -> None:
    """Keep the draft for later requests of the same browser."""
    session[_IN_SESSION] = {**session.get(_IN_SESSION, {}), draft.pool_guid: to_document(draft)}


def drop_draft(session: SessionBase, pool_guid: str) -> None:
    """Forget the choices for a pool; they are done with."""
    drafts = dict(session.get(_IN_SESSION, {}))
    drafts.pop(pool_guid, None)
    session[_IN_SESSION] = drafts
