"""The worst open thing in one sentence, the same on the first page, in reports and in what is sent with them."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.alerts.open_issues import IssueKind, Trouble
from nasadvisor.domain.health.urgency import FAILING
from nasadvisor.domain.statements import Level


def words_of(troubles: Sequence[Trouble], place: str) -> str:
    """The first of them, which is in this place, and how many there are of its kind; "" where there is none."""
    if not troubles:
        return ""
    worst = troubles[0]
    what = _what(worst)
    return f"{_counted(what, sum(_what(each) == what for each in troubles))}: {worst.name} {place}".strip()


def place_of(trouble: Trouble, *, has_others: bool) -> str:
    """ "in tank, mirror-1 on nas2", as far as there is something to say."""
    disk, words = trouble.disk, []
    if disk and disk.pool_name:
        words.append(_("in %(pool)s") % {"pool": ", ".join(filter(None, (disk.pool_name, disk.vdev_name)))})
    if has_others and trouble.kind is not IssueKind.HOST:
        words.append(_("on %(host)s") % {"host": trouble.node.name})
    return " ".join(words)


def _what(trouble: Trouble) -> str:
    """What is said of a thing in a headline: one of the sentences of `_counted`."""
    code = trouble.worst.finding.code
    if trouble.kind is IssueKind.DISK:
        return "disk-failing" if code in FAILING else "disk"
    if trouble.kind is IssueKind.POOL:
        return "pool-critical" if trouble.level is Level.CRITICAL else "pool"
    if trouble.kind is IssueKind.RUN:
        return "run"
    return "host-silent" if code == "host-silent" else "host"


def _counted(what: str, count: int) -> str:
    words = {
        "disk-failing": ngettext("%(count)s disk is failing", "%(count)s disks are failing", count),
        "disk": ngettext("%(count)s disk needs a look", "%(count)s disks need a look", count),
        "pool-critical": ngettext("%(count)s pool is in trouble", "%(count)s pools are in trouble", count),
        "pool": ngettext("%(count)s pool needs a look", "%(count)s pools need a look", count),
        "run": ngettext("%(count)s run waits for you", "%(count)s runs wait for you", count),
        "host-silent": ngettext("%(count)s host is silent", "%(count)s hosts are silent", count),
        "host": ngettext("%(count)s host needs a look", "%(count)s hosts need a look", count),
    }
    return words[what] % {"count": count}
