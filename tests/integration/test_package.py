"""The Debian package through its life: installed again, restart of the host, removal, purge; pools stay as they are."""

import pytest

from tests.integration.product import (
    APT,
    INSTALL_SECONDS,
    PACKAGE,
    PAGE,
    SERVICES,
    Product,
    probe_run,
    product,
)

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["probe_run", "product"]

ENDS = "for disk in nvme0n1 nvme1n1; do for end in head tail; do $end -c 1M /dev/$disk | sha256sum; done; done"
LEFT = (
    "find / -xdev -path /proc -prune -o -path /root -prune -o -path /opt -prune -o -path /var/log -prune -o"
    " -path '/var/lib/dpkg/*' -prune -o -path '/var/cache/*' -prune -o -iname '*nasadvisor*' -print;"
    " ls -A /run/nasadvisor /run/nasadvisor-host"
)


def disks_and_pools(product: Product) -> str:
    """What must stay the same to the byte, whatever is done to the package: the pool, and both ends of the SSDs."""
    return product.guest.run(f"zpool status -P tank; {ENDS}").stdout


def status(product: Product) -> str:
    """What dpkg says about the package."""
    told = product.guest.run("dpkg-query --show --showformat='${Status} ${Version}' nasadvisor", check=False).stdout
    return told.strip()


def test_the_same_package_again_changes_nothing_that_can_be_seen(product: Product) -> None:
    product.guest.reset()
    before = disks_and_pools(product)
    product.guest.run(f"{APT} install --reinstall {PACKAGE}", timeout=INSTALL_SECONDS)
    product.wait_until_it_answers()
    assert disks_and_pools(product) == before
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}
    assert "/usr/lib/nasadvisor" not in product.guest.run("dpkg --verify nasadvisor", check=False).stdout


def test_a_service_that_was_disabled_stays_so_after_an_upgrade(product: Product) -> None:
    guest = product.guest
    guest.run("systemctl disable --quiet --now nasadvisor-console")
    guest.run(f"{APT} install --reinstall {PACKAGE}", timeout=INSTALL_SECONDS)
    assert guest.run("systemctl is-enabled nasadvisor-console", check=False).stdout.strip() == "disabled"
    assert product.state("nasadvisor-console", "ActiveState") == "inactive"
    product.start()


def test_no_redis_but_our_own_was_started(product: Product) -> None:
    assert "redis-tools" in product.guest.run("dpkg-query --show --showformat='${Depends}' nasadvisor").stdout
    processes = product.guest.run("pgrep --list-full redis").stdout.splitlines()
    assert len(processes) == 1
    assert "/usr/lib/nasadvisor/redis-server" in processes[0]


def test_it_is_not_removed_while_disks_are_being_changed(product: Product) -> None:
    """Proves: the command line's lock stops a removal, and everything runs again afterwards."""
    guest = product.guest
    impatient = "sed -i 's/^WAIT_S=.*/WAIT_S=2/' /var/lib/dpkg/info/nasadvisor.prerm"
    held = f"flock /run/nasadvisor-host/host.lock env {APT} remove nasadvisor"
    removal = guest.run(f"{impatient}; {held}", check=False, timeout=INSTALL_SECONDS)
    assert removal.code != 0
    assert "A run is still changing disks" in removal.stdout + removal.stderr
    product.wait_until_it_answers()
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}
    assert guest.run("ls /usr/bin/nasadvisor").code == 0


def test_after_a_restart_of_the_host_everything_is_up(product: Product) -> None:
    product.guest.reboot()
    product.wait_until_it_answers()
    doctor = product.cli("doctor")
    assert doctor.code == 0, doctor.stdout
    assert "<form" in product.guest.run(PAGE).stdout


def test_removing_the_product_leaves_pools_alone_and_a_new_installation_can_still_undo(
    product: Product, probe_run: str
) -> None:
    guest = product.guest
    before = disks_and_pools(product)
    removal = guest.run(f"{APT} remove nasadvisor", timeout=INSTALL_SECONDS)
    said = removal.stdout + removal.stderr
    assert "No pool, disk or slice was touched" in said
    assert "These runs have left something on this host, by their records:\nRUN" in said.replace("\r", "")
    assert probe_run in said
    gone = "ls /usr/bin/nasadvisor /usr/lib/nasadvisor /run/nasadvisor* /usr/lib/systemd/system/nasadvisor*"
    assert guest.run(gone, check=False).stdout == ""
    assert disks_and_pools(product) == before
    product.install()
    assert product.json("undo", probe_run, "--yes")["state"] == "undone"


def test_purging_leaves_nothing_but_the_locked_user_and_touches_no_pool_or_slice(
    product: Product, probe_run: str
) -> None:
    guest = product.guest
    before = disks_and_pools(product)
    undo_later = guest.run(f"cat /var/lib/nasadvisor/host/runs/{probe_run}/journal.jsonl").stdout
    assert undo_later
    guest.run(f"cp -a /var/lib/nasadvisor/host /root/journals; {APT} purge nasadvisor", timeout=INSTALL_SECONDS)
    assert disks_and_pools(product) == before
    assert guest.run(LEFT, check=False).stdout == ""
    assert guest.run("passwd --status nasadvisor").stdout.split()[1] == "L"
    assert status(product) == ""
    guest.run(f"{APT} install {PACKAGE}", timeout=INSTALL_SECONDS)
    product.wait_until_it_answers()
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}
    # Only so that the next test finds blank SSDs: the journals came back from a copy.
    guest.run("cp -a /root/journals/. /var/lib/nasadvisor/host/; rm -r /root/journals")
