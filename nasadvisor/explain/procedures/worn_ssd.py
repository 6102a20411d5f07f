"""An SSD that is worn out."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep

WORN_SSD: Final = Procedure(
    name="worn-ssd",
    title=_("The SSD is worn out"),
    lead=_(
        "The rating is what the vendor guarantees, not the day of failure. With spare blocks left and no errors, there "
        "are usually weeks to order a replacement. Read-only or without spare blocks, act today."
    ),
    codes=frozenset({"worn", "worn-soon", "disk-spare-below-threshold", "disk-media-read-only"}),
    steps=(
        ProcedureStep(
            do=_("See how bad it is."),
            stake=_("This changes nothing."),
            commands=("smartctl -x {path}",),
            done=_("Available Spare is above its threshold, and there are no media errors: plan the replacement."),
            otherwise=_(
                "If the spare is below its threshold, errors grow or the SSD is read-only, do the next steps today."
            ),
        ),
        ProcedureStep(
            do=_("See what the SSD does in its pool."),
            stake=_(
                "A cache holds only copies. A log matters only at a crash. On a data or special vdev, the SSD holds "
                "data: what is lost with it depends on its mirror or raidz."
            ),
            commands=("zpool status -P", "nasadvisor inventory"),
            done=_("You know its role, its pool, and whether a second device has the same data."),
            otherwise=_("If it belongs to no pool, only its own contents are at stake: copy them."),
        ),
        ProcedureStep(
            do=_("If it holds data without a mirror or raidz: back up now what has no other copy."),
            stake=_("If the SSD fails before that, the data of this vdev is lost, and usually the pool with it."),
            done=_("The backup is complete, and you have read one file from it."),
            otherwise=_("If reading fails, copy what is still readable, the most important first."),
        ),
        ProcedureStep(
            do=_("If it is a cache: remove it, and add a new one later."),
            stake=_("Nothing is lost. Reads are slower until the new cache is warm."),
            commands=("zpool status -g", "zpool remove POOL GUID"),
            done=_("`zpool status` no longer lists the cache."),
            otherwise=_("A checkpoint prevents every removal: `zpool checkpoint -d POOL` discards it."),
        ),
        ProcedureStep(
            do=_("If it is a log: undo the run that added it, then add one on new SSDs."),
            stake=_(
                "Nothing is lost. Synchronous writes are slower in between; connect the new SSDs first to keep that "
                "short."
            ),
            commands=(
                "nasadvisor runs",
                "nasadvisor undo RUN",
                "nasadvisor plan --pool POOL --log DISK1 DISK2 --log-size 4G",
            ),
            done=_("The new plan is applied, and the pool is ONLINE with the new log."),
            otherwise=_(
                "A log that no run added is removed with `zpool remove POOL GUID`. If the SSD fails before that, "
                "continue with “My log SSD failed”."
            ),
        ),
        ProcedureStep(
            do=_("If it holds data: replace it while it still works."),
            stake=_(
                "The old SSD helps to fill the new one, so the protection does not become less. Leave it connected "
                "until the resilver has ended."
            ),
            commands=("zpool replace POOL GUID /dev/disk/by-id/NEW", "zpool status POOL"),
            done=_("The resilver ends with 0 errors, and the old SSD is no longer listed."),
            otherwise=_("“Device is too small”: choose one with at least as many sectors. Never use `zpool add`."),
        ),
    ),
)
