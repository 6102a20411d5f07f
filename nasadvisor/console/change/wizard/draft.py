"""The choices made in the wizard so far, one set for each pool, kept in the session until a plan was applied."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.contrib.sessions.backends.base import SessionBase

from nasadvisor.domain.change.actions import Naming
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.proposal import is_free_ssd
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import parse_size
from nasadvisor.stored.documents import DocumentError, from_document, to_document

MIRROR = "mirror"
"""The value of `Draft.log_on` for a log on every SSD chosen for it."""

DEFAULT_LOG_SIZE = "4G"
"""openzfs-docs, "Hardware": a log "rarely" has "more than 4GB in use"."""

DEFAULT_RESERVE_PERCENT = 10
LEGS_OF_A_MIRROR = 2

_IN_SESSION = "wizard"


@dataclass(frozen=True)
class Draft:
    """The choices for one pool. Sizes are as typed, and were checked; `cache_size` "" means as much as fits.

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
    reserve_percent: int = DEFAULT_RESERVE_PERCENT
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


def recommended_draft(pool_guid: str, inventory: Inventory, log_size: str = DEFAULT_LOG_SIZE) -> Draft:
    """What we would choose: a log on two free SSDs and a cache on all."""
    free = tuple(disk.key for disk in inventory.disks if is_free_ssd(disk))
    return Draft(pool_guid, log_disks=free[:LEGS_OF_A_MIRROR], cache_disks=free, log_size=log_size)


def draft_for_log(pool_guid: str, inventory: Inventory, attach_to: str, replaces: str) -> Draft:
    """What we would choose to give a log one new side: a free SSD, and a cache on all if nothing is to be replaced."""
    free = tuple(disk.key for disk in inventory.disks if is_free_ssd(disk))
    caches = () if replaces else free
    return Draft(pool_guid, log_disks=free[:1], cache_disks=caches, attach_to=attach_to, replaces=replaces)


def default_log_size() -> str:
    """The size of a log where nothing was measured."""
    return DEFAULT_LOG_SIZE


def load_draft(
    session: SessionBase, pool_guid: str, inventory: Inventory, log_size: Callable[[], str] = default_log_size
) -> Draft:
    """The draft of this pool without disks that are gone, or the recommended one with a log of this size."""
    document = session.get(_IN_SESSION, {}).get(pool_guid)
    try:
        draft = from_document(Draft, document) if document else None
    except DocumentError:
        draft = None
    if draft is None:
        return recommended_draft(pool_guid, inventory, log_size=log_size())
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
