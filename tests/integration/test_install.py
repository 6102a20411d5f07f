"""What is installed: what runs, as whom, with which rights and how much memory."""

import re
import shlex

import pytest

from tests.integration.product import PAGE, SERVICES, Product, probe_run, product

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["probe_run", "product"]

UNPRIVILEGED = ("nasadvisor-redis", "nasadvisor-web", "nasadvisor-console")
EXPOSURE = re.compile(r"Overall exposure level for \S+: ([\d.]+)")
MEMORY_BUDGET_KIB = 300 * 1024


def test_every_service_runs_and_the_doctor_finds_no_problem(product: Product) -> None:
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}
    doctor = product.cli("doctor")
    assert doctor.code == 0, doctor.stdout


NAMED_SERVICES = ("redis", "web", "console", "host", "remote", "remote-redis")
CONSOLE = "nasadvisor-prepare nasadvisor-web nasadvisor-console nasadvisor-remote.path"


def test_each_command_about_services_that_is_named_works(product: Product) -> None:
    """Proves: each service that a sentence names can be looked at, whether it runs or not, and is stopped and started
    as is said before and after a console is restored."""
    guest = product.guest
    for name in NAMED_SERVICES:
        assert "Loaded: loaded" in guest.run(f"systemctl status nasadvisor-{name}", check=False).stdout
        guest.run(f"journalctl -u nasadvisor-{name} --lines 3")
    manage = "/usr/lib/nasadvisor/manage"
    guest.run(f"modprobe zfs && timedatectl && {manage} reset_lock_out && {manage} listen --help", timeout=600)
    guest.run(f"systemctl stop {CONSOLE} && systemctl start {CONSOLE}", timeout=600)
    guest.run("systemctl restart nasadvisor-host && systemctl restart nasadvisor-redis", timeout=600)
    guest.run("systemctl disable --now nasadvisor-web nasadvisor-console", timeout=600)
    product.start()
    assert {product.state(service, "ActiveState") for service in SERVICES} == {"active"}


def test_an_anonymous_client_sees_the_login_and_nothing_else(product: Product) -> None:
    page = product.guest.run(PAGE).stdout
    assert "<form" in page
    assert "tank" not in page


@pytest.mark.parametrize("service", UNPRIVILEGED)
def test_the_console_runs_without_any_privilege(product: Product, service: str) -> None:
    status = product.guest.run(f"cat /proc/{product.state(service, 'MainPID')}/status").stdout
    uid = product.guest.run("id -u nasadvisor").stdout.strip()
    assert re.search(rf"^Uid:\s+{uid}\s+{uid}\s+{uid}\s+{uid}$", status, re.MULTILINE)
    for which in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert re.search(rf"^{which}:\s+0+$", status, re.MULTILINE), which
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)


def test_the_console_user_cannot_open_any_disk(product: Product) -> None:
    disks = product.guest.run("lsblk --noheadings --nodeps --paths --output NAME").stdout.split()
    assert len(disks) > 5
    for disk in disks:
        assert "Permission denied" in product.as_console_user(f"head -c 1 {disk}").stderr
        assert "Permission denied" in product.as_console_user(f": >> {disk}").stderr


@pytest.mark.parametrize("service", UNPRIVILEGED)
def test_there_is_no_disk_and_no_openzfs_in_a_service_of_the_console(product: Product, service: str) -> None:
    found = product.inside(service, "find /dev -type b; ls /dev/zfs; ls -d /dev/null")
    assert found.stdout.split() == ["/dev/null"], found


def test_the_console_user_sees_no_journal_and_cannot_take_the_hosts_lock_away(product: Product) -> None:
    assert product.as_console_user("ls /var/lib/nasadvisor/host").code != 0
    assert product.as_console_user("ls /run/nasadvisor-host").code != 0
    assert product.as_console_user("ln -s /etc/shadow /run/nasadvisor-host/probe.lock").code != 0
    product.cli("runs")
    assert product.guest.run("stat -c %U:%a /run/nasadvisor-host").stdout.strip() == "root:700"
    assert "root" not in product.guest.run("stat -c %U /run/nasadvisor /run/nasadvisor/*").stdout


def test_messages_go_over_a_socket_that_only_the_services_can_open(product: Product) -> None:
    guest = product.guest
    mode = guest.run("stat -c %U:%G:%a:%F /run/nasadvisor/redis.sock").stdout.strip()
    assert mode == "nasadvisor:nasadvisor:660:socket"
    stranger = guest.run("runuser -u nobody -- redis-cli -s /run/nasadvisor/redis.sock ping", check=False)
    assert "PONG" not in stranger.stdout
    listening = guest.run("ss --no-header --listening --tcp --numeric --processes").stdout
    assert ":8843" in listening
    assert "redis" not in listening


@pytest.mark.parametrize("service", UNPRIVILEGED)
def test_what_a_service_of_the_console_can_reach_is_little(product: Product, service: str) -> None:
    report = product.guest.run(["systemd-analyze", "security", "--no-pager", f"{service}.service"], check=False).stdout
    found = EXPOSURE.search(report)
    assert found, report
    print(f"{service}: exposure {found[1]}")
    assert float(found[1]) <= 3.0


def test_the_idle_stack_stays_within_its_memory(product: Product) -> None:
    product.guest.run(PAGE)
    total_kib = 0
    for service in SERVICES:
        kib = product.pss_kib(service)
        print(f"{service}: {kib / 1024:.0f} MiB PSS")
        total_kib += kib
    print(f"together: {total_kib / 1024:.0f} MiB PSS")
    assert total_kib <= MEMORY_BUDGET_KIB


def test_a_run_of_the_command_line_shows_in_the_console(product: Product, probe_run: str) -> None:
    database = "file:/var/lib/nasadvisor/console/console.sqlite3?mode=ro"
    question = f"select count(*) from console_storedrun where id = '{probe_run.replace('-', '')}'"
    looking = f'import sqlite3; print(sqlite3.connect("{database}", uri=True).execute("{question}").fetchone()[0])'
    waiting = f"for _ in $(seq 120); do [ $(python3 -c {shlex.quote(looking)}) = 1 ] && exit 0; sleep 1; done; exit 1"
    assert product.guest.run(waiting, check=False, timeout=600).code == 0


def test_looking_for_a_renewed_certificate_leaves_the_pages_alone_where_there_is_none(product: Product) -> None:
    before = product.state("nasadvisor-web", "MainPID")
    product.guest.run(["systemctl", "start", "nasadvisor-certificate.service"])
    # Its timer may just have begun another look.
    state = "systemctl show --value --property=ActiveState nasadvisor-certificate.service"
    product.guest.run(f"until [ $({state}) = inactive ]; do sleep 1; done")
    assert product.state("nasadvisor-web", "MainPID") == before
    assert product.state("nasadvisor-certificate.timer", "ActiveState") == "active"
