"""How a device is replaced on Proxmox VE: by OpenZFS's own commands, except on a disk that it boots from."""

from dataclasses import dataclass

from nasadvisor.domain.health.replacement.advice import Replacement
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.contract.replacing import PlatformWay, ReplacingPlatform


@dataclass(frozen=True)
class ProxmoxReplacing(ReplacingPlatform):
    """It has no page of its own."""

    name = "Proxmox VE"

    def way(self, found: Replacement) -> PlatformWay:
        """Its shell, and what its manual says of a disk that it boots from."""
        template = _(
            "Proxmox VE has no page for this: use its shell as root, with the commands above. If the host boots "
            "from {pool}, partition the new disk first, as its manual says (ZFS, Changing a failed bootable "
            "device)."
        )
        return PlatformWay(Statement("replace-proxmox", template, {"pool": found.member.pool.name}))


PLATFORM = ProxmoxReplacing()
