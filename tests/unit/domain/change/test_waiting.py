"""What has OpenZFS write out what waits in a log."""

import pytest

from nasadvisor.domain.change.waiting import WaitingDataset


@pytest.mark.parametrize(
    ("dataset", "commands"),
    [
        (WaitingDataset("tank/be", canmount="noauto", mountpoint="/"), ("zfs mount tank/be",)),
        (WaitingDataset("tank/my files", mountpoint="/a"), ("zfs mount 'tank/my files'",)),
        (WaitingDataset("tank/old", mountpoint="legacy"), ("mount -t zfs tank/old /mnt",)),
        (WaitingDataset("tank/none", mountpoint="none"), ("mount -t zfs -o zfsutil tank/none /mnt",)),
        (WaitingDataset("tank/off", mountpoint="/o", canmount="off"), ("mount -t zfs -o zfsutil tank/off /mnt",)),
        (WaitingDataset("tank/vm", is_volume=True, canmount="-"), ("zfs set volmode=default tank/vm",)),
        (WaitingDataset("tank/a/vm", is_volume=True, key_root="tank/a"), ("zfs load-key tank/a",)),
        (WaitingDataset("tank/a/b", key_root="tank/a"), ("zfs load-key tank/a", "zfs mount tank/a/b")),
    ],
)
def test_it_is_what_works_for_that_dataset(dataset: WaitingDataset, commands: tuple[str, ...]) -> None:
    assert dataset.commands == commands
