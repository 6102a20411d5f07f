"""The choices made in the wizard so far, one set for each user and pool, kept until a plan of them was applied."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet

from nasadvisor.console.change.models import StoredDraft
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.change.actions import Naming
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.proposal import USUAL_RESERVE_PERCENT, cache_bytes_each
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB, parse_size
from nasadvisor.stored.documents import from_document, to_document

MIRROR = "mirror"
"""The value of `Draft.log_on` for a log on every SSD chosen for it."""

DEFAULT_LOG_SIZE = "4G"
"""openzfs-docs, "Hardware": a log "rarely" has "more than 4GB in use"."""


@dataclass(frozen=True)
class Draft:
    """The choices for one pool. Sizes are as typed, and were checked; `cache_size` "" means as much as fits.

    As long as nobody typed a size, `cache_total` is how many bytes all caches together should have, else 0.
    `log_on` is `MIRROR` or the key of the one SSD that carries a single log. `attach_to` is the guid of a single log
    that is to become a mirror, else ""; or of the side that works, while `replaces` is that of the broken one.
    `dead_log` is the guid of a dead log that the new one replaces, else "".
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
    dead_log: str = ""

    @property
    def disks(self) -> tuple[str, ...]:
        """Every chosen disk once, log disks first."""
        return tuple(dict.fromkeys((*self.log_sides, *self.cache_disks)))

    @property
    def log_sides(self) -> tuple[str, ...]:
        """The disks that carry the log."""
        if self.log_on in self.log_disks and not self.attach_to:
            return (self.log_on,)
        return self.log_disks

    def request(self) -> PlanRequest:
        """What is asked of the planner."""
        return PlanRequest(
            pool_guid=self.pool_guid,
            log_disks=self.log_sides,
            log_size_bytes=parse_size(self.log_size),
            cache_disks=self.cache_disks,
            cache_size_bytes=parse_size(self.cache_size) if self.cache_size else None,
            reserve_percent=self.reserve_percent,
            naming=self.naming,
            use_free_extents=self.use_free_space,
            attach_to=self.attach_to,
            replaces=self.replaces,
            dead_log=self.dead_log,
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


@dataclass(frozen=True)
class DraftStore:
    """Where the choices of one user for one pool of a host are kept."""

    user: User
    node: Node
    pool_guid: str

    @property
    def rows(self) -> QuerySet[StoredDraft]:
        """The one row, or none."""
        return StoredDraft.objects.filter(user=self.user, node=self.node, pool_guid=self.pool_guid)

    def save(self, draft: Draft, asked_at: datetime) -> None:
        """Keep a draft, unless a request that came later than at `asked_at` brought another."""
        document = to_document(draft)
        if not self.rows.filter(asked_at__lte=asked_at).update(document=document, asked_at=asked_at):
            defaults = {"document": document, "asked_at": asked_at}
            StoredDraft.objects.get_or_create(
                user=self.user, node=self.node, pool_guid=self.pool_guid, defaults=defaults
            )

    def drop(self) -> None:
        """Forget the choices; they are done with."""
        self.rows.delete()

    def load(self, inventory: Inventory, proposed: Callable[[], Draft]) -> "Loaded":
        """The choices without disks that are gone, or what is proposed where there are none."""
        row = self.rows.first()
        if row is None:
            return Loaded(proposed())
        draft = _read(row.document)
        if draft is None:
            return Loaded(proposed(), is_unreadable=True)
        known = {disk.key for disk in inventory.disks}
        there = replace(
            draft,
            log_disks=tuple(key for key in draft.log_disks if key in known),
            cache_disks=tuple(key for key in draft.cache_disks if key in known),
        )
        return Loaded(there, row.asked_at, misses_disks=there != draft)


@dataclass(frozen=True)
class Loaded:
    """The draft to go on with. `asked_at` is when its choices were made, None of what is only proposed.

    `is_unreadable` says that choices were kept which this release cannot read, `misses_disks` that some of the chosen
    disks are gone.
    """

    draft: Draft
    asked_at: datetime | None = None
    is_unreadable: bool = False
    misses_disks: bool = False


def _read(document: object) -> Draft | None:
    try:
        draft = from_document(Draft, document)
        draft.request()
    except ValueError:  # DocumentError is one; so is what a size says that is none
        return None
    return draft
