"""What this machine is called, without asking anybody."""

from pathlib import Path

import pytest

from nasadvisor.runtime.own_names import full_name


@pytest.mark.parametrize(
    ("host_name", "hosts", "resolver", "name"),
    [
        ("nas.example.org", "", "", "nas.example.org"),
        ("nas", "192.0.2.7 nas.example.org nas\n", "", "nas.example.org"),
        ("nas", "127.0.1.1 nas.localdomain nas\n", "search example.net\n", "nas.example.net"),
        ("nas", "127.0.0.1 localhost\n", "nameserver 192.0.2.1\n", "nas"),
    ],
)
def test_it_names_itself_with_its_domain_where_that_is_known_here(
    tmp_path: Path, host_name: str, hosts: str, resolver: str, name: str
) -> None:
    (tmp_path / "hosts").write_text(hosts)
    (tmp_path / "resolv.conf").write_text(resolver)
    assert full_name(host_name, tmp_path / "hosts", tmp_path / "resolv.conf") == name
