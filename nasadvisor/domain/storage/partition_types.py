"""GPT partition type GUIDs that mean something to us, lower case."""

from typing import Final

SOLARIS_ZFS_TYPE: Final = "6a898cc3-1dd2-11b2-99a6-080020736631"
"""sgdisk's BF01, "Solaris /usr & Mac ZFS": what OpenZFS and the platforms built on it take for a ZFS partition."""

EFI_SYSTEM_TYPE: Final = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
BIOS_BOOT_TYPE: Final = "21686148-6449-6e6f-744e-656564454649"
