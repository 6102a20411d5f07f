"""The choices in a few words, for the side of the wizard, the apply button and the history."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from nasadvisor.console.statements import localized, said, unbroken
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.storage.sizing import header_memory
from nasadvisor.domain.units import size_text


@dataclass(frozen=True)
class Summary:
    """A plan in words; "" where it has no such part. `steps` is what is done instead where nothing is added."""

    pool: str
    log: str
    cache: str
    memory: str
    steps: str

    def __str__(self) -> str:
        return "; ".join(part for part in (self.log, self.cache, self.steps) if part)


def summary_of(plan: Plan) -> Summary:
    """What the plan adds, each part in a few words."""
    logs = [piece.size_bytes for piece in plan.slices if piece.role is Role.LOG]
    caches = [piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE]
    memory = unbroken(localized(size_text(header_memory(sum(caches)).typical_bytes)))
    return Summary(
        pool=plan.pool_name,
        log=_log_words(plan, logs),
        cache=_("%(sizes)s cache") % {"sizes": _counted(caches)} if caches else "",
        memory=_("%(size)s RAM for the cache's headers") % {"size": memory} if caches else "",
        steps="" if plan.slices else "; ".join(said(action.describe()) for action in plan.actions),
    )


def _log_words(plan: Plan, sizes: list[int]) -> str:
    if not sizes:
        return ""
    size = unbroken(localized(size_text(sizes[0])))
    if plan.request.replaces:
        return _("new side of %(size)s for the log, instead of the broken one") % {"size": size}
    if plan.request.attach_to:
        return _("second side of %(size)s for the log") % {"size": size}
    if plan.request.dead_log and len(sizes) == 1:
        return _("instead of the dead log: one slice of %(size)s") % {"size": size}
    if plan.request.dead_log:
        values = {"count": len(sizes), "size": size}
        return _("instead of the dead log: a mirror of %(count)s slices of %(size)s") % values
    if len(sizes) == 1:
        return _("single log of %(size)s") % {"size": size}
    return _("log mirrored over %(count)s slices of %(size)s") % {"count": len(sizes), "size": size}


def _counted(sizes: Iterable[int]) -> str:
    """Equal sizes together."""
    counts = Counter(unbroken(localized(size_text(size))) for size in sizes)
    return " + ".join(f"{count} × {size}" if count > 1 else size for size, count in counts.items())
