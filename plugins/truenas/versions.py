"""Which versions of TrueNAS this plugin was written for."""

from typing import Final

from plugins.contract import VersionRange

SUPPORTS: Final = VersionRange("25.10", "27")
