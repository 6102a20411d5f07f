"""TrueNAS for the console, which runs there as an app and never on TrueNAS itself."""

from dataclasses import dataclass

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.contract.console import ConsolePlatform
from plugins.truenas import PLATFORM_NAME, SUPPORTS

SCRUBS = Statement("truenas-scrubs", _("Schedule scrubs in TrueNAS under Data Protection: one task per pool, monthly."))


@dataclass(frozen=True)
class TrueNasConsole(ConsolePlatform):
    """What the pages say of hosts that are TrueNAS."""

    name = PLATFORM_NAME
    supports = SUPPORTS
    scrub_advice = SCRUBS

    def detect(self) -> bool:
        """An app knows nothing of the TrueNAS around it."""
        return False


PLATFORM = TrueNasConsole()
