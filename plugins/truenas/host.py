"""TrueNAS SCALE on the host: its version, what it does to slices, its mail."""

import json
from pathlib import Path

from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.platforms import Notice, Veto
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.process import Runner
from nasadvisor.host.config import load_environment
from plugins.contract.host import HostPlatform
from plugins.truenas import hazards
from plugins.truenas.api.access import access_from, is_set_up
from plugins.truenas.api.mail import send_mail
from plugins.truenas.api.session import session_with
from plugins.truenas.versions import PLATFORM_NAME, SUPPORTS


class TrueNASHost(HostPlatform):
    """TrueNAS SCALE 25.10 and 26."""

    name = PLATFORM_NAME
    supports = SUPPORTS

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    @property
    def notifies(self) -> bool:  # type: ignore[override]
        """Only where somebody entered where TrueNAS is, and an API key."""
        return is_set_up(load_environment())

    def detect(self) -> bool:
        """The middleware's client is part of every installation."""
        return (self.root / "usr/bin/midclt").exists()

    def version(self, runner: Runner) -> str:
        """From the file that the middleware reads it from (middlewared/utils, sw_info), "25.10.1"."""
        try:
            manifest = json.loads((self.root / "data/manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        version = manifest.get("version") if isinstance(manifest, dict) else None
        return version if isinstance(version, str) else ""

    def tail_bytes(self) -> int:
        """ "Expand pool" writes 1 MiB just before 2 GiB before the end of the disk (middleware, pool_/expand.py)."""
        return 2 * GIB + MIB

    def vetoes(self, runner: Runner, inventory: Inventory) -> tuple[Veto, ...]:
        """Slices only on SSDs that are blank."""
        return tuple(hazards.vetoes(inventory))

    def findings(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """What must not be done in TrueNAS's own pages while a pool has slices."""
        return tuple(hazards.findings(inventory))

    def cautions(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """That the vendor does not support slices."""
        return (hazards.NOT_SUPPORTED,)

    def notify(self, runner: Runner, notice: Notice) -> None:
        """By `mail.send`: TrueNAS takes no alerts of others."""
        access = access_from(load_environment())
        send_mail(lambda: session_with(access), notice.subject, notice.text)


PLATFORM = TrueNASHost()
