"""With which certificate the pages are served, how it gets to the web service, and when it is made anew."""

import logging
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from nasadvisor.host.fleet.certificate import bring, choose, is_renewed
from nasadvisor.runtime import serving
from nasadvisor.runtime.certificates import SELF_SIGNED_VALID, self_signed
from nasadvisor.runtime.own_names import own_addresses
from plugins.contract.host import Certificate

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
NAMES = ["localhost", "nas", "nas.example", "192.0.2.7", "2001:db8::7"]


def made(folder: Path, now: datetime = NOW) -> Certificate:
    own = serving.own_certificate(folder)
    serving.make_own(own, NAMES, now)
    return own


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


class TestOurOwn:
    def test_it_names_this_machine_and_its_addresses_and_ends_before_the_longest_that_is_taken(
        self, tmp_path: Path
    ) -> None:
        certificate = serving.certificate_in(made(tmp_path / "tls"))
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == ["localhost", "nas", "nas.example"]
        assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["192.0.2.7", "2001:db8::7"]
        assert certificate.subject == certificate.issuer
        assert certificate.not_valid_after_utc == NOW + SELF_SIGNED_VALID
        assert timedelta(days=825) == SELF_SIGNED_VALID

    def test_nobody_but_root_reads_the_key(self, tmp_path: Path) -> None:
        own = made(tmp_path / "tls")
        assert mode(own.key) == "0o600"
        assert mode(own.key.parent) == "0o700"

    def test_names_that_no_certificate_can_have_are_left_out(self) -> None:
        chain, _key = self_signed(["*", ".example", "nas_1", "büro", "-" * 64, "a..b", "nas_1", ""], NOW)
        found = x509.load_pem_x509_certificate(chain).extensions
        names = found.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == ["nas_1"]

    def test_it_is_due_a_month_before_its_end_and_where_it_is_missing_or_damaged(self, tmp_path: Path) -> None:
        own = serving.own_certificate(tmp_path / "tls")
        assert serving.is_due(own, NOW)
        serving.make_own(own, NAMES, NOW)
        assert not serving.is_due(own, NOW)
        end = NOW + SELF_SIGNED_VALID
        assert not serving.is_due(own, end - timedelta(days=31))
        assert serving.is_due(own, end - timedelta(days=29))
        own.key.write_bytes(self_signed(NAMES, NOW)[1])
        assert serving.is_due(own, NOW), "the key is that of another one"

    def test_the_addresses_are_those_of_the_kernel_without_link_local_ones(self, tmp_path: Path) -> None:
        routes, ipv6 = tmp_path / "fib_trie", tmp_path / "if_inet6"
        routes.write_text(
            "Local:\n     +-- 192.0.2.0/24 2 0 2\n        |-- 192.0.2.0\n           /24 link UNICAST\n"
            "        |-- 192.0.2.7\n           /32 host LOCAL\n        |-- 192.0.2.255\n"
            "           /32 link BROADCAST\n        |-- 192.0.2.7\n           /32 host LOCAL\n"
        )
        ipv6.write_text(
            "fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n"
            "20010db8000000000000000000000007 04 40 00 82     eth0\n"
        )
        assert list(own_addresses(routes, ipv6)) == ["192.0.2.7", "2001:db8::7"]
        assert list(own_addresses(tmp_path / "none", tmp_path / "none")) == []


class TestWhichOne:
    @pytest.fixture
    def own(self, tmp_path: Path) -> Certificate:
        return serving.own_certificate(tmp_path / "own")

    @pytest.fixture
    def platforms(self, tmp_path: Path) -> Certificate:
        return made(tmp_path / "platform")

    def test_with_no_setting_it_is_the_platforms_or_else_our_own(
        self, own: Certificate, platforms: Certificate
    ) -> None:
        assert choose({}, None, own) == own
        assert choose({}, platforms, own) == platforms

    def test_one_that_the_administrator_names_comes_first(
        self, tmp_path: Path, own: Certificate, platforms: Certificate
    ) -> None:
        named = made(tmp_path / "named")
        settings = {"NASADVISOR_TLS_CERTIFICATE": str(named.chain), "NASADVISOR_TLS_KEY": str(named.key)}
        assert choose(settings, platforms, own) == named

    def test_one_that_cannot_be_used_is_never_replaced_by_plain_http(
        self, tmp_path: Path, own: Certificate, platforms: Certificate, caplog: pytest.LogCaptureFixture
    ) -> None:
        settings = {"NASADVISOR_TLS_CERTIFICATE": str(tmp_path / "gone.pem"), "NASADVISOR_HTTPS": "yes"}
        with caplog.at_level(logging.WARNING):
            assert choose(settings, platforms, own) == platforms
            assert choose(settings, None, own) == own
        assert "gone.pem" in caplog.text
        platforms.key.write_text("damaged")
        assert choose({}, platforms, own) == own

    @pytest.mark.parametrize(
        "settings",
        [
            {"NASADVISOR_TLS": "no"},
            {"NASADVISOR_HTTPS": "no"},
            {"NASADVISOR_HTTPS": "yes"},
            {"UVICORN_HOST": "127.0.0.1"},
            {"UVICORN_HOST": "::1"},
            {"UVICORN_HOST": "localhost"},
            {"UVICORN_SSL_CERTFILE": "/etc/ssl/nas.pem"},
            {"NASADVISOR_ORIGINS": "https://nas.example"},
        ],
    )
    def test_who_has_arranged_for_it_is_served_as_before(self, settings: Mapping[str, str], own: Certificate) -> None:
        assert choose(settings, None, own) is None
        assert choose({**settings, "NASADVISOR_TLS": "yes"}, None, own) == own

    @pytest.mark.parametrize(
        "settings",
        [{"UVICORN_HOST": "0.0.0.0"}, {"UVICORN_HOST": "192.0.2.7"}, {"NASADVISOR_ORIGINS": "http://nas"}],
    )
    def test_what_says_nothing_of_tls_decides_nothing(self, settings: Mapping[str, str], own: Certificate) -> None:
        assert choose(settings, None, own) == own

    def test_only_the_setting_for_it_takes_that_of_a_platform_away(
        self, own: Certificate, platforms: Certificate
    ) -> None:
        assert choose({"UVICORN_HOST": "127.0.0.1"}, platforms, own) == platforms
        assert choose({"NASADVISOR_TLS": "no"}, platforms, own) is None


class TestBringing:
    def test_the_certificate_is_copied_for_the_services_group_only(self, tmp_path: Path) -> None:
        source, folder = made(tmp_path / "source"), tmp_path / "tls"
        before = os.umask(0o077)  # that of the unit
        try:
            for _ in range(2):
                bring(folder, source, os.getgid())
        finally:
            os.umask(before)
        assert (folder / "certificate.pem").read_bytes() == source.chain.read_bytes()
        assert mode(folder / "key.pem") == "0o640"
        assert mode(folder) == "0o750"
        said = (folder / "environment").read_text().splitlines()
        assert f"UVICORN_SSL_KEYFILE={folder}/key.pem" in said
        assert {"NASADVISOR_HTTPS=yes", "NASADVISOR_HSTS=no"} < set(said), "nobody vouches for it"
        assert len(list(folder.iterdir())) == 3

    def test_another_certificate_than_the_copy_is_noticed_but_not_while_it_cannot_be_read(self, tmp_path: Path) -> None:
        source, own, folder = made(tmp_path / "source"), made(tmp_path / "own"), tmp_path / "tls"
        assert is_renewed(folder, source, own, NOW)
        bring(folder, source, os.getgid())
        assert not is_renewed(folder, source, own, NOW)
        serving.make_own(source, NAMES, NOW)
        assert is_renewed(folder, source, own, NOW)
        bring(folder, source, os.getgid())
        source.chain.unlink()
        assert not is_renewed(folder, source, own, NOW)
        assert not is_renewed(folder, own, own, NOW), "the pages go on with the copy of what is away"
        assert not is_renewed(folder, None, own, NOW)

    def test_our_own_is_renewed_before_its_end_and_only_where_it_is_in_use(self, tmp_path: Path) -> None:
        own, folder = made(tmp_path / "own"), tmp_path / "tls"
        bring(folder, own, os.getgid())
        soon = NOW + SELF_SIGNED_VALID - timedelta(days=20)
        assert not is_renewed(folder, own, own, NOW)
        assert is_renewed(folder, own, own, soon)
        bring(folder, made(tmp_path / "platform"), os.getgid())
        assert not is_renewed(folder, own, own, soon)

    def test_without_a_certificate_none_is_left(self, tmp_path: Path) -> None:
        folder = tmp_path / "tls"
        folder.mkdir()
        (folder / "key.pem").write_text("old")
        bring(folder, None, os.getgid())
        assert not folder.exists()
        bring(folder, None, os.getgid())
