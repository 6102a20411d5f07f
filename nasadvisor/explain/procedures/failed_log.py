"""The SSD of a log failed."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep

STILL_WRITTEN: Final = frozenset({"log-failing", "log-has-errors"})
ONE_SIDE: Final = frozenset({"log-one-side"})
LOST: Final = frozenset({"log-lost"})
OUT: Final = frozenset({"log-missing", "log-lost"})

FAILED_LOG: Final = Procedure(
    name="failed-log",
    title=_("My log SSD failed"),
    lead=_(
        "While the host is running, no acknowledged write is lost: memory holds everything that was in the log. Only a "
        "crash within seconds of the failure can lose synchronous writes. The rest of the pool is not affected."
    ),
    codes=STILL_WRITTEN | ONE_SIDE | OUT,
    steps=(
        ProcedureStep(
            do=_("Leave the host running, and see which device failed."),
            stake=_("This changes nothing. OpenZFS reads the log only at an import, so a restart can wait."),
            commands=("zpool status -g {pool}",),
            done=_(
                "Only devices below “logs” are FAULTED, UNAVAIL, REMOVED or DEGRADED. The number at the start of a "
                "line is the guid of that device."
            ),
            otherwise=_(
                "If a device above “logs” is not ONLINE, a disk with data has failed as well. Start with “Which disk "
                "is it”."
            ),
        ),
        ProcedureStep(
            do=_("Have everything written to the disks of the pool."),
            stake=_("Nothing can be lost. Once the command returns, the log holds nothing that is not on the disks."),
            commands=("zpool sync {pool}",),
            done=_("The command returns without a message, usually within seconds."),
            otherwise=_(
                "If it has not returned after a minute, the SSD hangs instead of failing. Unplug it: OpenZFS then "
                "continues without it. Do not type `zpool remove` before; it would hang as well."
            ),
            codes=ONE_SIDE | STILL_WRITTEN | frozenset({"log-missing"}),
        ),
        ProcedureStep(
            do=_("Take the failing device out of use."),
            stake=_(
                "Nothing is lost while the host is running. Removing a log that has errors and is still written can "
                "hang permanently and block every zpool command; this step prevents that."
            ),
            commands=("zpool offline -f {pool} {guids}",),
            done=_("`zpool status` shows the device as FAULTED. Nothing waits for it any longer."),
            otherwise=_("If the command does not return, unplug the SSD. It is then REMOVED, with the same effect."),
            codes=STILL_WRITTEN,
        ),
        ProcedureStep(
            do=_("Detach the failed side of the mirror."),
            stake=_(
                "The other side has every write and keeps working alone. Until there is a second side again, a crash "
                "together with its failure loses up to about 5 s of synchronous writes."
            ),
            commands=("zpool detach {pool} {guid}",),
            done=_("The pool is ONLINE, and the log is a single device."),
            otherwise=_(
                "“No valid replicas” means that the guid is that of the working side, or that no side works. Compare "
                "it with the first step."
            ),
            codes=ONE_SIDE,
        ),
        ProcedureStep(
            do=_("Check what writes synchronously: databases, virtual machines, NFS clients."),
            stake=_(
                "If the host crashed before the import, their last seconds of acknowledged writes are missing. The "
                "pool itself is consistent."
            ),
            done=_("Their own checks find no error, for example the recovery of the database at its start."),
            otherwise=_("Restore that database or machine from its backup, or from a snapshot before the crash."),
            codes=LOST,
        ),
        ProcedureStep(
            do=_("Remove the failed log from the pool."),
            stake=_(
                "Nothing is lost. Synchronous writes are slower until there is a new log. With the failed log still "
                "in the pool, the next import can be refused."
            ),
            commands=("zpool remove {pool} {guid}",),
            done=_("`zpool status` lists no failed log, and the pool is ONLINE."),
            otherwise=_(
                "“Mount encrypted datasets to replay logs” means that writes wait in the log, even without "
                "encryption. Load the keys with `zfs load-key -a`, mount with `zfs mount -a`, and try again."
            ),
            codes=OUT | STILL_WRITTEN,
        ),
        ProcedureStep(
            do=_("Add a new log on two SSDs, or a second side to the one that works."),
            stake=_(
                "The plan changes nothing yet, and names what each step does. A log on one SSD has the same risk as "
                "the one that failed."
            ),
            commands=("nasadvisor plan --pool {pool} --log DISK1 DISK2 --log-size 4G",),
            done=_("The plan is printed without a refusal. “Add log or cache” on the page of the pool does the same."),
            otherwise=_("Without a free SSD, leave it out: the pool works without a log, only slower."),
        ),
    ),
)
