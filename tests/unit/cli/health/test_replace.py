"""`nasadvisor replace`: which disk, whether it may go now, and what to type."""

import json
from dataclasses import replace

from nasadvisor.domain.fleet.platforms import Platform, PlatformReport
from tests.unit.cli.conftest import Shell
from tests.unit.domain.health.replacement.rack import READ_AT, disk, group, leaf, pool, rack


def with_rack(shell: Shell, state: str = "FAULTED", *free: int) -> Shell:
    """A mirror of which one side is in this state, with free disks."""
    made = rack(pool(group("mirror", leaf(1, state), leaf(2))), *(disk(number) for number in free))
    shell.executor.state = replace(made, host=shell.inventory.host)
    return shell


def words(text: str) -> str:
    return " ".join(text.split())


def test_it_prints_the_disk_its_place_and_the_commands_and_changes_nothing(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    before = shell.inventory.fingerprint
    result = shell.run("replace", "1001")
    assert result.exit_code == 0
    assert f"    zpool replace -o ashift=12 tank 1001 {disk(9).path}" in result.output.splitlines()
    said = words(result.output)
    assert "ZM0001" in said
    assert f"ledctl locate={disk(1).path}" in said
    assert "Do not type" in said
    assert shell.inventory.fingerprint == before


def test_a_disk_is_named_by_its_serial_or_its_persistent_name_and_never_by_the_kernels(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    by_guid = shell.run("replace", "1001").output
    assert shell.run("replace", "ZM0001").output == shell.run("replace", disk(1).path).output == by_guid
    assert shell.run("replace", "sda").exit_code == 2


def test_without_a_disk_those_in_trouble_are_listed_with_the_next_command(shell: Shell) -> None:
    with_rack(shell)
    listed = shell.run("replace").output
    assert "1001" in listed
    assert "1002" not in listed
    assert "nasadvisor replace GUID" in words(listed)


def test_a_host_without_trouble_and_a_disk_without_a_pool_are_said(shell: Shell) -> None:
    with_rack(shell, "ONLINE", 9)
    nothing = shell.run("replace")
    assert (nothing.exit_code, "Nothing speaks against" in nothing.output) == (0, True)
    free = shell.run("replace", disk(9).path)
    assert (free.exit_code, "nothing to replace" in words(free.output)) == (3, True)


def test_what_is_held_back_is_said_before_the_commands(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    made = shell.inventory
    shell.executor.state = replace(made, pools=(replace(made.pools[0], checkpoint="1 MiB"),))
    said = words(shell.run("replace", "1001").output)
    assert said.index("Held back:") < said.index("once nothing holds it back") < said.index("zpool replace")


def test_on_truenas_its_own_way_stands_in_place_of_the_commands(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    shell.platforms = PlatformReport("nas", READ_AT, (Platform("TrueNAS", "25.10"),))
    lines = [line.strip() for line in shell.run("replace", "1001").output.splitlines()]
    assert not [line for line in lines if line.startswith("zpool replace")]
    (command,) = [line for line in lines if line.startswith("midclt call --job pool.replace")]
    assert """'{"label": "1001", "disk": "{serial}ZM0009"}'""" in command
    assert """'[["name", "=", "tank"]]'""" in command


def test_on_proxmox_the_commands_stay_and_the_boot_disk_is_spoken_of(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    shell.platforms = PlatformReport("nas", READ_AT, (Platform("Proxmox VE", "9.1"),))
    said = words(shell.run("replace", "1001").output)
    assert f"zpool replace -o ashift=12 tank 1001 {disk(9).path}" in said
    assert "Proxmox VE has no page for this" in said


def test_it_answers_in_json(shell: Shell) -> None:
    with_rack(shell, "FAULTED", 9)
    (found,) = json.loads(shell.run("replace", "1001", "--json").stdout)
    assert (found["guid"], found["suspicion"], found["may_lose_now"]) == ("1001", "likely", 0)
    assert found["commands"] == [f"zpool replace -o ashift=12 tank 1001 {disk(9).path}"]
    assert [each["fits"] for each in found["candidates"]] == [True]
