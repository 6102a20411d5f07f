"""Writes that wait in a log for being written out: of which dataset, and what has OpenZFS do that."""

import shlex
from dataclasses import dataclass
from typing import Final

MOUNTPOINT_BY_HAND: Final = "/mnt"


@dataclass(frozen=True)
class WaitingDataset:
    """A dataset with writes in a log that OpenZFS did not write out when the pool was imported.

    Those of a filesystem are written out when it is mounted, those of a volume when its device is made. `key_root` is
    the encryption root whose key is not loaded, "" where none is missing. `mountpoint` and `canmount` are the
    properties, "" and "-" of a volume.
    """

    name: str
    is_volume: bool = False
    key_root: str = ""
    mountpoint: str = ""
    canmount: str = "on"

    @property
    def commands(self) -> tuple[str, ...]:
        """What to run, in order.

        A key is loaded for its encryption root only, and makes the devices of the volumes below it (zfs-load-key(8)).
        `zfs mount` refuses a filesystem whose mountpoint is "legacy" or "none", or which has canmount=off; mount(8)
        takes them, with zfsutil where they are not legacy (cmd/mount_zfs.c).
        """
        name = shlex.quote(self.name)
        key = (f"zfs load-key {shlex.quote(self.key_root)}",) if self.key_root else ()
        if self.is_volume:
            return key or (f"zfs set volmode=default {name}",)
        if self.mountpoint == "legacy":
            return (*key, f"mount -t zfs {name} {MOUNTPOINT_BY_HAND}")
        if self.mountpoint == "none" or self.canmount == "off":
            return (*key, f"mount -t zfs -o zfsutil {name} {MOUNTPOINT_BY_HAND}")
        return (*key, f"zfs mount {name}")
