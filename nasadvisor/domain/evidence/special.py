"""Special vdevs and the ZIL: whether they take it where there is no log depends on the release."""

from collections.abc import Iterator

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.workload import Reach, Workload
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S, size_text


def about_special(workload: Workload, facts: PoolFacts) -> Iterator[Statement]:
    """What special vdevs do for those who wait; nothing where there is a log, which goes before them."""
    if not facts.leaves_of(VdevClass.SPECIAL) or facts.leaves_of(VdevClass.LOG) or not workload.busy_seconds:
        return
    synchronous = sum(each.sync_bytes_per_s for each in workload.datasets if each.reach is Reach.LOG)
    values = {"day": size_text(int(synchronous * workload.block_overhead * DAY_S))}
    if facts.tunables.zil_on_special:
        template = _(
            "Without a log, this OpenZFS writes the ZIL to the special vdevs, so they already do the work of a log. A "
            "log would relieve them of {day} of writes a day."
        )
        yield Statement("special-takes-zil", template, values)
        return
    template = _(
        "With this OpenZFS, the special vdevs do not take the ZIL. From 2.4 on, they do if there is no log: an update "
        "may do the work of a log, and writes {day} a day to them."
    )
    yield Statement("special-later", template, values)
