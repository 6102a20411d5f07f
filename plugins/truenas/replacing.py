"""How a device is replaced on TrueNAS: by its page, or its API, which partition the new disk themselves."""

import json
import shlex
from dataclasses import dataclass

from nasadvisor.domain.health.replacement.advice import Replacement
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.contract.replacing import PlatformWay, ReplacingPlatform
from plugins.truenas import PLATFORM_NAME


@dataclass(frozen=True)
class TrueNasReplacing(ReplacingPlatform):
    """Only its own way is supported there."""

    name = PLATFORM_NAME

    def way(self, found: Replacement) -> PlatformWay:
        """The page, and pool.replace of its API: `label` is the guid, `disk` the identifier of a disk."""
        template = _(
            "On TrueNAS, use its page: Storage, pool {pool}, View VDEVs, the disk, Replace. TrueNAS partitions the "
            "new disk itself and does not support `zpool replace`. Its API does the same with this command."
        )
        pool, best = found.member.pool, found.best
        serial = best.disk.identity.serial if best else "SERIAL"
        query = shlex.join(("midclt", "call", "pool.query", json.dumps([["name", "=", pool.name]])))
        options = shlex.quote(json.dumps({"label": found.member.leaf.guid, "disk": f"{{serial}}{serial}"}))
        command = f"midclt call --job pool.replace \"$({query} | jq '.[0].id')\" {options}"
        return PlatformWay(Statement("replace-truenas", template, {"pool": pool.name}), command, is_only=True)


PLATFORM = TrueNasReplacing()
