"""Who listens at a port: this process itself, and a made-up /proc."""

import os
import socket
from pathlib import Path

import pytest

from nasadvisor.host.adapters.procfs import Listener, listener_at
from nasadvisor.host.fleet.certificate import port_problem
from tests.lab.instance import free_port

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
PORT = 8843


def entry(address: str, state: str = "0A", inode: int = 77, port: int = PORT) -> str:
    peer = "0" * len(address)
    return f"   0: {address}:{port:04X} {peer}:0000 {state} 00000000:00000000 00:00000000 00000000  0 0 {inode} 1 0\n"


def proc_with(
    root: Path, table: str, command: str = "nginx: master process\0/usr/sbin/nginx", name: str = "tcp"
) -> Path:
    (root / "net").mkdir()
    (root / "net" / name).write_text(HEAD + table)
    (root / "812/fd").mkdir(parents=True)
    (root / "812/fd/6").symlink_to("socket:[77]")
    (root / "812/comm").write_text("nginx\n")
    (root / "812/cmdline").write_text(command)
    (root / "812/cgroup").write_text("0::/system.slice/nginx.service\n")
    return root


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_process_of_this_machine_is_found(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        port = server.getsockname()[1]
        found = listener_at(port)
        assert found is not None
        assert found.pid == os.getpid()
        assert listener_at(port, address) == found
        assert listener_at(port, "192.0.2.7") is None
    assert listener_at(free_port()) is None


ANY, LOOPBACK, ANY6, LOOPBACK6 = "00000000", "0100007F", "0" * 32, "0" * 24 + "01000000"


@pytest.mark.parametrize(
    ("table", "name", "host", "is_taken"),
    [
        (entry(ANY), "tcp", "", True),
        (entry(LOOPBACK), "tcp", "::", True),
        (entry(LOOPBACK), "tcp", "192.0.2.7", False),
        (entry(LOOPBACK), "tcp", "127.0.0.1", True),
        (entry(ANY6), "tcp6", "192.0.2.7", True),
        (entry(LOOPBACK6), "tcp6", "::1", True),
        (entry(LOOPBACK6), "tcp6", "2001:db8::1", False),
        (entry(ANY, state="01"), "tcp", "", False),
        (entry(ANY, port=8844), "tcp", "", False),
    ],
)
def test_who_is_in_the_way_is_told_by_address_and_port(
    tmp_path: Path, table: str, name: str, host: str, is_taken: bool
) -> None:
    found = listener_at(PORT, host, proc_with(tmp_path, table, name=name))
    assert str(found) == ("nginx (process 812, nginx.service)" if is_taken else "None")


def test_whoever_may_not_see_which_program_it_is_is_told_that_there_is_one(tmp_path: Path) -> None:
    proc = proc_with(tmp_path, entry(ANY, inode=78))
    assert listener_at(PORT, "", proc) == Listener("", 0, "", "")
    assert "only root" in str(listener_at(PORT, "", proc))


def test_what_has_the_port_of_the_pages_is_named_with_the_setting_of_another_one(tmp_path: Path) -> None:
    problem = port_problem({}, proc_with(tmp_path, entry(ANY)))
    assert [
        word for word in ("port 8843", "nginx (process 812, nginx.service)", "UVICORN_PORT") if word not in problem
    ] == []
    assert port_problem({"UVICORN_PORT": "8943"}, tmp_path) == ""
    assert port_problem({"UVICORN_PORT": "none"}, tmp_path) == ""


def test_our_own_pages_are_not_in_their_own_way(tmp_path: Path) -> None:
    command = "/usr/lib/nasadvisor/venv/bin/python\0-I\0-m\0uvicorn\0nasadvisor.asgi:application"
    assert port_problem({}, proc_with(tmp_path, entry(ANY), command)) == ""
