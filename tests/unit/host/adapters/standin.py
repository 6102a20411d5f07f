"""A stand-in for py-libzfs, filled from what the real binding told about real pools in the lab."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


class ZFSException(RuntimeError):  # noqa: N818 - its name in the binding
    """What the binding raises."""


def module(*pools: dict[str, Any]) -> Any:
    """The module `libzfs` on a machine with these pools."""

    @contextmanager
    def zfs(*, history: bool) -> Iterator[Any]:
        assert not history, "reading must leave no trace in the pool's history"
        yield SimpleNamespace(pools=iter([pool(recorded) for recorded in pools]))

    return SimpleNamespace(ZFS=zfs, ZFSException=ZFSException)


def pool(recorded: dict[str, Any]) -> Any:
    """A `libzfs.ZFSPool`."""
    return SimpleNamespace(
        name=recorded["name"],
        guid=recorded["guid"],
        status=recorded["status"],
        status_code=SimpleNamespace(name=recorded["status_code"]),
        config=recorded["config"],
        root_vdev=_vdev(recorded["root_vdev"]),
        groups={group: [_vdev(vdev) for vdev in vdevs] for group, vdevs in recorded["groups"].items()},
        properties={name: SimpleNamespace(rawvalue=value) for name, value in recorded["properties"].items()},
        features=[_feature(feature) for feature in recorded["features"]],
    )


def _vdev(recorded: dict[str, Any]) -> Any:
    children = [_vdev(child) for child in recorded["children"]]
    return SimpleNamespace(**{**recorded, "stats": SimpleNamespace(**recorded["stats"]), "children": children})


def _feature(recorded: dict[str, str]) -> Any:
    return SimpleNamespace(name=recorded["name"], state=SimpleNamespace(name=recorded["state"]))
