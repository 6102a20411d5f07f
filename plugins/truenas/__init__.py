"""TrueNAS SCALE: what it is called, and for which of its versions this integration was written."""

from typing import Final

from plugins.contract import VersionRange

PLATFORM_NAME: Final = "TrueNAS"
SUPPORTS: Final = VersionRange("25.10", "27")
