"""What the platform is called, and which of its versions this plugin was written for."""

from typing import Final

from plugins.contract import VersionRange

PLATFORM_NAME: Final = "TrueNAS"
SUPPORTS: Final = VersionRange("25.10", "27")
