"""Advice that can be followed word for word: what comes before taking a device out of a pool, and what has writes
written out that wait in a log."""

import re
import shlex
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool

Told = TypeVar("Told", bound=Statement)

TAKES_OUT: Final = re.compile("`zpool (remove|detach) ")


def after_checkpoint(told: Told, pool: Pool) -> Told:
    """The sentence, and what comes first where it names a command that OpenZFS refuses beside a checkpoint:
    spa_vdev_remove() in module/zfs/vdev_removal.c, spa_vdev_detach() in module/zfs/spa.c.
    """
    if not pool.checkpoint or not TAKES_OUT.search(told.template):
        return told
    template = _(
        "{said} First discard the checkpoint of the pool with `zpool checkpoint -d {pool}`: while it exists, OpenZFS "
        "removes no device."
    )
    return replace(told, template=template, values={**told.values, "pool": pool.name, "said": told.plain})


MOUNT_BY_HAND: Final = "mount -t zfs -o {options} {name} /run/replay && umount /run/replay"
"""Mounts a filesystem where nothing else is, and takes it away again: to be mounted once is enough."""


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
        A filesystem that OpenZFS itself would not mount is mounted at its mountpoint only where that is its default, of
        its own name. Any other can be in use: several boot environments have canmount=noauto and "/", and one of them
        mounted over it becomes the root of each service that starts afterwards. mount(8) takes all of them, with
        zfsutil where they are not legacy (cmd/mount_zfs.c).
        """
        name = shlex.quote(self.name)
        key = (f"zfs load-key {shlex.quote(self.key_root)}",) if self.key_root else ()
        if self.is_volume:
            return key or (f"zfs set volmode=default {name}",)
        if self.mountpoint == "legacy":
            return (*key, MOUNT_BY_HAND.format(options="X-mount.mkdir", name=name))
        is_its_own = self.canmount == "noauto" and self.mountpoint == f"/{self.name}"
        if is_its_own or (self.canmount == "on" and self.mountpoint not in ("none", "/")):
            return (*key, f"zfs mount {name}")
        return (*key, MOUNT_BY_HAND.format(options="zfsutil,X-mount.mkdir", name=name))
