# ruff: noqa: N802 - named like the statements they make
"""What is refused about whole disks, besides the rules that hold everywhere."""

from nasadvisor.domain.inventory import Disk, Vdev
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _


def ProtectionInformation(disk: Disk) -> Refused:
    return Refused(
        "protection-information",
        _(
            "{disk} is formatted with protection information (DIF), which TrueNAS does not take. Format it without, or "
            "choose another SSD."
        ),
        {"disk": disk.label},
    )


def RoleTwice(disk: Disk) -> Refused:
    return Refused(
        "role-twice",
        _(
            "{disk} cannot be log and cache at once here: TrueNAS gives each a whole disk. Choose another SSD for one "
            "of them, or slices."
        ),
        {"disk": disk.label},
    )


def RemoveWipesMore(disk: Disk) -> Refused:
    return Refused(
        "remove-wipes-more",
        _(
            "TrueNAS's own removal is not used: it wipes the whole disk {disk}, and there is more on it than this log "
            "or cache, or only a slice of it is used. Nothing was changed. Undo the run that made the slices instead."
        ),
        {"disk": disk.label},
    )


def LeafUnknown(leaf: Vdev) -> Refused:
    return Refused(
        "leaf-unknown",
        _(
            "TrueNAS does not show which disk {path} is on, so nobody can tell what its removal would wipe. Nothing "
            "was changed. Plug the disk in, or take the device out in TrueNAS."
        ),
        {"path": leaf.path or leaf.name},
    )


def DisksDiffer(pool_name: str) -> Refused:
    return Refused(
        "disks-differ",
        _("The SSDs of a mirrored log for pool {pool} must have the same size. Choose two of one size."),
        {"pool": pool_name},
    )
