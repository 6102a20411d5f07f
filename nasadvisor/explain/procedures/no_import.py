"""A pool that will not import."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep

NO_IMPORT: Final = Procedure(
    name="no-import",
    title=_("The pool will not import"),
    lead=_(
        "The data on the disks does not change while the pool is not imported, so there is no hurry. Most such pools "
        "only lack a disk, a cable or their log. Options that can lose data stand only in the steps where they help."
    ),
    codes=frozenset(
        {
            "pool-away",
            "pool-gone",
            "pool-not-there",
            "single-log-dies-and-crash",
            "bug-multihost-hole",
            "slice-needed",
        }
    ),
    steps=(
        ProcedureStep(
            do=_("See which pools are on the disks."),
            stake=_("This changes nothing: without a pool, the command only looks."),
            commands=("zpool import", "zpool import -d /dev/disk/by-id"),
            done=_("The pool is listed with its id (the guid), a state for each disk, and an action."),
            otherwise=_(
                "“No pools available” means that not one of its disks is readable: check power, cables and "
                "controller, and whether `zpool list` shows the pool as imported already."
            ),
        ),
        ProcedureStep(
            do=_("Bring missing disks back before anything else."),
            stake=_(
                "Nothing can be lost. Without them, a mirror or raidz may still import, but with less protection, and "
                "the missing disks have to be resilvered later."
            ),
            commands=("lsblk -d -o NAME,MODEL,SERIAL,SIZE",),
            done=_("Every disk of the pool is listed by its serial, and `zpool import` shows all of them ONLINE."),
            otherwise=_(
                "If a disk does not come back in another slot and with another cable, continue without it. The next "
                "steps say whether that is enough."
            ),
        ),
        ProcedureStep(
            do=_("Import the pool by its guid."),
            stake=_("Nothing is lost: this import also writes what is still in the log to the pool."),
            commands=("zpool import {guid}",),
            done=_("The command returns without a message, and `zpool list` shows the pool."),
            otherwise=_("Read the message, and go to the step below that quotes it. Add no option before that."),
        ),
        ProcedureStep(
            do=_("Only for “previously in use from another system”: switch that host off, then import the pool."),
            stake=_(
                "Two hosts that have a pool imported at the same time destroy it within minutes. Be certain that the "
                "other host is off or has exported the pool. After a reinstallation, the other system is this host."
            ),
            commands=("zpool import -f {guid}",),
            done=_("`zpool list` shows the pool."),
            otherwise=_(
                "If the pool has multihost=on and once had a log, some releases refuse it wrongly (openzfs 18823): "
                "OpenZFS 2.3.9 and 2.4.4 have the fix."
            ),
        ),
        ProcedureStep(
            do=_("Only for “use '-m' to import the pool anyway”: import it without its log."),
            stake=_(
                "After a crash, the synchronous writes of the last seconds are lost, normally up to 5 s. After a clean "
                "shutdown, nothing is lost. Try the log SSD in another slot first."
            ),
            commands=("zpool import -m {guid}",),
            done=_("`zpool status` shows the pool as DEGRADED, with a failed log. Continue with “My log SSD failed”."),
            otherwise=_("If disks with data are missing too, this option does not help: bring them back first."),
        ),
        ProcedureStep(
            do=_("Only if the import fails with an error: read the data without writing."),
            stake=_("Nothing is written to the disks, not even what waits in the log. Copies can be made from here."),
            commands=("zpool import -o readonly=on -R /mnt {guid}",),
            done=_("The filesystems are below /mnt. Copy what has no other copy, then run `zpool export {pool}`."),
            otherwise=_("Continue with the next step. Do not repeat it with other options."),
        ),
        ProcedureStep(
            do=_("Ask whether the pool would import without its last seconds."),
            stake=_("With `-n`, nothing changes. It says to which time the pool would return, and how much is lost."),
            commands=("zpool import -F -n {guid}",),
            done=_(
                "It names a time a few seconds before the failure. Then `zpool import -F {guid}` does it, and what was "
                "written after that time is lost permanently."
            ),
            otherwise=_(
                "Stop here. Copy the disks with ddrescue to others before any further attempt, and ask with the output "
                "of `zpool import`. Extreme rewinds (`-X`) can destroy what is still readable."
            ),
        ),
        ProcedureStep(
            do=_("After the import, check what is damaged."),
            stake=_("A scrub reads everything and repairs what has a second copy. It loses nothing and takes hours."),
            commands=("zpool status -v {pool}", "zpool scrub {pool}"),
            done=_("The scrub ends with 0 errors, and no file is listed."),
            otherwise=_("Restore the files that are listed from a backup, then run the scrub again."),
        ),
    ),
)
