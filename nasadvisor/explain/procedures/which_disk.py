"""Which disk it is, and how it comes out of the rack."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep

OF_POOLS: Final = frozenset({"pool-member", "pool-not-online", "device-errors", "slow-io"})
OF_DISKS: Final = frozenset(
    {
        "disk-failing",
        "disk-gone",
        "disk-persistent-memory-unreliable",
        "disk-prefail",
        "disk-reliability-degraded",
        "disk-unanswered",
        "media-errors",
        "pending-sectors",
        "reallocated-growing",
        "self-test-failed",
    }
)

WHICH_DISK: Final = Procedure(
    name="which-disk",
    title=_("Which disk is it"),
    lead=_(
        "The pool keeps working as long as each mirror and raidz has enough disks. The greatest danger now is to pull "
        "a healthy disk by mistake: compare the serial number before you touch one."
    ),
    codes=OF_POOLS | OF_DISKS,
    steps=(
        ProcedureStep(
            do=_("See which device of the pool has failed or has errors."),
            stake=_("This changes nothing. Both commands list the devices in the same order: guids, then paths."),
            commands=("zpool status -g -s {pool}", "zpool status -P {pool}"),
            done=_("One line is not ONLINE, or has numbers below READ, WRITE, CKSUM or SLOW."),
            otherwise=_(
                "If several disks on one controller or cable have errors, it is rarely the disks: check cable, "
                "backplane and power before you replace one."
            ),
        ),
        ProcedureStep(
            do=_("Note model and serial of that disk."),
            stake=_(
                "This changes nothing. Names such as sda move to another disk at the next boot or when a disk fails; "
                "the serial is printed on the label of the disk."
            ),
            commands=("lsblk -d -o NAME,MODEL,SERIAL,WWN,SIZE", "smartctl -i {path}"),
            done=_("You have a serial, and only one disk of the host has it."),
            otherwise=_(
                "If the disk is no longer listed, it is the one whose serial is missing from this list. Its page here "
                "and `zpool status` still name its path, which usually contains the serial."
            ),
        ),
        ProcedureStep(
            do=_("Make its light blink."),
            stake=_("This changes nothing on the disk. `ledctl` needs an enclosure or backplane with lights."),
            commands=("ledctl locate={path}", "ledctl locate_off={path}"),
            done=_("One slot blinks until the second command."),
            otherwise=_("Use the activity light: the next step makes a disk that still works busy for a while."),
        ),
        ProcedureStep(
            do=_("Without such lights: read from the disk and watch the activity light."),
            stake=_("This only reads. Do not exchange if= and of=, which would overwrite the disk."),
            commands=("dd if={path} of=/dev/null bs=1M count=4000 iflag=direct",),
            done=_("One light stays on while the command runs."),
            otherwise=_("If the disk does not answer, read from its siblings: theirs light up, its own stays dark."),
        ),
        ProcedureStep(
            do=_("Check that the pool can do without it."),
            stake=_(
                "A mirror needs one disk, raidz1 all but one, raidz2 all but two. With one disk less than that, the "
                "pool stops, and its data may be lost."
            ),
            commands=("zpool status {pool}", "nasadvisor replace DISK"),
            done=_("Every other disk of its mirror or raidz is ONLINE, and no resilver is running."),
            otherwise=_(
                "Do not pull it. Connect the new disk in addition and replace the old one while it still works: it "
                "then helps to fill the new one."
            ),
        ),
        ProcedureStep(
            do=_("Take it offline before you pull it, unless it has failed already."),
            stake=_("OpenZFS refuses if the pool needs it. Until it is replaced, there is less protection."),
            commands=("zpool offline {pool} {guid}",),
            done=_("The disk is OFFLINE, and the pool is DEGRADED and works. `zpool online {pool} {guid}` ends it."),
            otherwise=_("“No valid replicas”: the pool needs this disk. Leave it in, see the step before."),
        ),
        ProcedureStep(
            do=_("Compare the serial on the label, then pull the disk."),
            stake=_("If it was the wrong one, push it back at once: OpenZFS catches up within seconds to minutes."),
            commands=("zpool status {pool}",),
            done=_("Only the disk that you wanted is missing."),
            otherwise=_("Push it back. If it stays REMOVED, `zpool online {pool} GUID` with its guid brings it back."),
        ),
    ),
)
