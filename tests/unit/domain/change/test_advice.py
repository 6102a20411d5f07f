"""What has OpenZFS write out what waits in a log."""

import pytest

from nasadvisor.domain.change.advice import WaitingDataset


def by_hand(name: str, options: str = "zfsutil,X-mount.mkdir") -> str:
    """In a place of its own: at /mnt the pools of TrueNAS are mounted, at / the running system."""
    return f"mount -t zfs -o {options} {name} /run/replay && umount /run/replay"


@pytest.mark.parametrize(
    ("dataset", "commands"),
    [
        (WaitingDataset("tank/data", mountpoint="/data"), ("zfs mount tank/data",)),
        (WaitingDataset("tank/my files", mountpoint="/a"), ("zfs mount 'tank/my files'",)),
        (WaitingDataset("tank/be", canmount="noauto", mountpoint="/"), (by_hand("tank/be"),)),
        (WaitingDataset("tank/be", mountpoint="/"), (by_hand("tank/be"),)),
        (WaitingDataset("tank/be", canmount="noauto", mountpoint="/be"), (by_hand("tank/be"),)),
        (WaitingDataset("tank/be", canmount="noauto", mountpoint="/tank/be"), ("zfs mount tank/be",)),
        (WaitingDataset("tank/be", canmount="off", mountpoint="/tank/be"), (by_hand("tank/be"),)),
        (WaitingDataset("tank/old", mountpoint="legacy"), (by_hand("tank/old", "X-mount.mkdir"),)),
        (WaitingDataset("tank/none", mountpoint="none"), (by_hand("tank/none"),)),
        (WaitingDataset("tank/off", mountpoint="/o", canmount="off"), (by_hand("tank/off"),)),
        (WaitingDataset("tank/vm", is_volume=True, canmount="-"), ("zfs set volmode=default tank/vm",)),
        (WaitingDataset("tank/a/vm", is_volume=True, key_root="tank/a"), ("zfs load-key tank/a",)),
        (WaitingDataset("tank/a/b", key_root="tank/a"), ("zfs load-key tank/a", "zfs mount tank/a/b")),
    ],
)
def test_it_is_what_works_for_that_dataset(dataset: WaitingDataset, commands: tuple[str, ...]) -> None:
    assert dataset.commands == commands
