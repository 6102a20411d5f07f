"""Advice to take a device out of a pool that has a checkpoint."""

import re
from dataclasses import replace
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
        "{said} Before that, discard the checkpoint of the pool with `zpool checkpoint -d {pool}`: while it exists, "
        "OpenZFS takes nothing out."
    )
    return replace(told, template=template, values={**told.values, "pool": pool.name, "said": told.plain})
