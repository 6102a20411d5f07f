"""`nasadvisor inventory` and `nasadvisor pools`."""

from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.errors import OutputUnreadable
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.machines import ARCHIVE, TANK


def test_inventory_as_json_is_the_whole_inventory(shell: Shell) -> None:
    assert from_document(Inventory, shell.json("inventory")) == shell.inventory


def test_inventory_lists_every_disk_with_its_use(shell: Shell) -> None:
    lines = shell.run("inventory").stdout.splitlines()
    free = next(line for line in lines if " N1 " in line)
    assert "466 GiB" in free
    assert " free " in free
    assert any("S1" in line and "exported pool backup" in line for line in lines)
    assert any("S0" in line and "boot /boot/efi" in line for line in lines)


def test_columns_are_aligned(shell: Shell) -> None:
    lines = shell.run("inventory").stdout.splitlines()
    head = next(line for line in lines if line.startswith("MODEL"))
    rows = lines[lines.index(head) + 1 :]
    assert len(rows) == len(shell.inventory.disks)
    column = head.index("NAME")
    assert all(row[column:].startswith("/dev/disk/by-id/") for row in rows)


def test_pools_shows_layout_and_members(shell: Shell) -> None:
    text = shell.run("pools").stdout
    assert "2 mirrors of 2" in text
    assert "ONLINE" in text
    assert "DEGRADED" in text
    assert TANK not in text
    assert f"tank (guid {TANK})" in shell.run("pools", "--guids").stdout
    assert [pool["guid"] for pool in shell.json("pools")] == [TANK, ARCHIVE]


def test_only_the_columns_that_were_chosen_are_shown_in_their_order(shell: Shell) -> None:
    lines = shell.run("pools", "--columns", "state,name").stdout.splitlines()
    assert [line.split() for line in lines] == [["STATE", "NAME"], ["ONLINE", "tank"], ["DEGRADED", "archive"]]
    lines = shell.run("inventory", "-o", "serial").stdout.splitlines()
    assert lines == ["SERIAL", *(disk.identity.serial or "-" for disk in shell.inventory.disks)]
    refused = shell.run("pools", "--columns", "colour")
    assert (refused.exit_code, "no column colour" in refused.stderr) == (2, True)


def test_a_host_without_pools_says_so(shell: Shell) -> None:
    shell.executor.state = Inventory(shell.inventory.host, (), (), shell.inventory.read_at)
    assert "No pool is imported." in shell.run("pools").stdout
    assert "No pool is imported." in shell.run("inventory").stdout


def test_a_host_that_cannot_be_read_is_a_sentence_and_no_traceback(shell: Shell) -> None:
    error = OutputUnreadable("zpool status -j", "it is cut off")
    shell.executor.inventory = lambda: (_ for _ in ()).throw(error)  # type: ignore[method-assign]
    result = shell.run("inventory")
    assert result.exit_code == 3
    assert "could not be interpreted: it is cut off" in result.stderr
