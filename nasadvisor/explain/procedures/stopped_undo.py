"""An undo, or another run, that stopped."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep

UNREADABLE: Final = frozenset({"run-unreadable", "journal-damaged"})
INTERRUPTED: Final = frozenset({"run-interrupted"})
READABLE: Final = frozenset({"run-attention", "run-stopped", "undo-uncertain"}) | INTERRUPTED

STOPPED_UNDO: Final = Procedure(
    name="stopped-undo",
    title=_("An undo stopped"),
    lead=_(
        "The pool works in its current state, and its data is not affected: an undo removes only logs, caches and "
        "slices that the run made. Nothing continues on its own, so there is time."
    ),
    codes=READABLE | UNREADABLE,
    steps=(
        ProcedureStep(
            do=_("Leave the host running, and check the pool."),
            stake=_(
                "This changes nothing. If an SSD holds other partitions, the kernel still knows them from before; it "
                "reads their table again only at a restart."
            ),
            commands=("zpool status {pool}",),
            done=_("The disks of the pool are ONLINE."),
            otherwise=_("If a disk of the pool has failed, start with “Which disk is it”: the undo can wait."),
        ),
        ProcedureStep(
            do=_("See at which step it stopped, and why."),
            stake=_("This changes nothing. The journal has every step that was started."),
            commands=("nasadvisor runs", "nasadvisor show {run}"),
            done=_("The last step carries a sentence with the cause and what to do."),
            otherwise=_("If the journal is damaged, this says what is still known of it; continue with the last step."),
        ),
        ProcedureStep(
            do=_("Remove the cause that it names."),
            stake=_(
                "Most often something uses the slice, a disk does not answer, a dataset is locked or the pool has a "
                "checkpoint. Each code has an explanation with its remedy."
            ),
            commands=("nasadvisor explain",),
            done=_("What the sentence asked for is done."),
            otherwise=_("If a command hangs in the kernel, only the device or a restart releases it: see `dmesg`."),
            codes=READABLE,
        ),
        ProcedureStep(
            do=_("Try the undo again."),
            stake=_(
                "It continues where it stopped, checks each step on the host before, and removes nothing that the run "
                "did not make. It can be repeated as often as needed."
            ),
            commands=("nasadvisor undo {run}",),
            done=_("It ends with “undone”, and the host shows no slice of the run."),
            otherwise=_("It stops with a new sentence: return to the step before."),
            codes=READABLE,
        ),
        ProcedureStep(
            do=_("Or finish the run instead, if you want what it adds."),
            stake=_("The steps that are left are checked again and then done. A finished run can still be undone."),
            commands=("nasadvisor finish {run}",),
            done=_("It ends with “applied”."),
            otherwise=_("If it is refused, undo it: the refusal names what has changed in between."),
            codes=INTERRUPTED,
        ),
        ProcedureStep(
            do=_("Only if the journal cannot be read: remove what is left by hand."),
            stake=_(
                "Removing a log or a cache keeps all data of the pool. Never name a device that stands above “logs” "
                "and “cache”: those hold the data."
            ),
            commands=("zpool status -g {pool}", "zpool remove {pool} GUID", "lsblk -o NAME,SIZE,PARTUUID"),
            done=_("The log or cache is no longer listed, and its slice is free."),
            otherwise=_("If a log cannot be removed, leave it: it does no harm. Restore the journal from a backup."),
            codes=UNREADABLE,
        ),
    ),
)
