"""How a device is replaced in the platform's own way, where it has one."""

import json
import shlex
from dataclasses import dataclass

from nasadvisor.domain.health.replacement.advice import Replacement
from nasadvisor.domain.health.replacement.may_now import DATA
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


@dataclass(frozen=True)
class PlatformWay:
    """What to do there, and the command of its own that does it; "" where it has none.

    `is_only` is where the commands of OpenZFS must not be used instead.
    """

    said: Statement
    command: str = ""
    is_only: bool = False


def platform_way(platform: str, found: Replacement) -> PlatformWay | None:
    """For a device with data on a platform of this name; None where OpenZFS's own commands are all there is."""
    if found.member.vdev_class not in DATA or not any("replace" in each.argv for each in found.commands):
        return None
    values = {"pool": found.member.pool.name}
    match platform.casefold():
        case "truenas":
            template = _(
                "On TrueNAS, use its page: Storage, pool {pool}, View VDEVs, the disk, Replace. TrueNAS partitions the "
                "new disk itself and does not support `zpool replace`. Its API does the same with this command."
            )
            return PlatformWay(Statement("replace-truenas", template, values), _truenas(found), is_only=True)
        case "proxmox ve" | "proxmox":
            template = _(
                "Proxmox VE has no page for this: use its shell as root, with the commands above. If the host boots "
                "from {pool}, partition the new disk first, as its manual says (ZFS, Changing a failed bootable "
                "device)."
            )
            return PlatformWay(Statement("replace-proxmox", template, values))
        case _:
            return None


def _truenas(found: Replacement) -> str:
    """pool.replace of its API: `label` is the guid, `disk` the identifier of a disk."""
    pool, best = found.member.pool, found.best
    serial = best.disk.identity.serial if best else "SERIAL"
    query = shlex.join(("midclt", "call", "pool.query", json.dumps([["name", "=", pool.name]])))
    options = shlex.quote(json.dumps({"label": found.member.leaf.guid, "disk": f"{{serial}}{serial}"}))
    return f"midclt call --job pool.replace \"$({query} | jq '.[0].id')\" {options}"
