"""The pages over TLS as the unit starts them: a real uvicorn in a process of its own, with the unit's own arguments."""

import http.client
import os
import shlex
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.console.fleet.remote import certificates as authority
from nasadvisor.console.fleet.remote import listening
from nasadvisor.console.web.container_main import settings_of_pages
from nasadvisor.runtime import serving
from plugins.contract.host import Certificate
from tests.lab.instance import free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "packaging/systemd/nasadvisor-web.service"
START_S = 90
Serve = Callable[[Mapping[str, str]], int]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A console without an administrator."""
    state = tmp_path_factory.mktemp("console")
    command = [sys.executable, str(ROOT / "manage.py"), "prepare"]
    subprocess.run(command, check=True, capture_output=True, env=environment(state))
    return state


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """Overrides the one for all other unit tests: the web server is a program."""


def environment(state: Path, **more: str) -> dict[str, str]:
    # Without debugging the pages need what `collectstatic` makes.
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**known, "NASADVISOR_CONSOLE_STATE": str(state), "NASADVISOR_DEBUG": "yes", **more}


def arguments() -> list[str]:
    """Of uvicorn, from the unit."""
    text = UNIT.read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    words = shlex.split(command)
    return words[words.index("uvicorn") + 1 :]


@pytest.fixture
def serve(state: Path) -> Iterator[Serve]:
    """Serves the pages with these settings, at the port that is returned."""
    with ExitStack() as stack:

        def start(settings: Mapping[str, str]) -> int:
            port = free_port()
            known = environment(state, UVICORN_HOST="127.0.0.1", UVICORN_PORT=str(port), **settings)
            command = [sys.executable, "-m", "uvicorn", *arguments()]
            process = stack.enter_context(subprocess.Popen(command, cwd=ROOT, env=known))
            stack.callback(process.terminate)
            deadline = time.monotonic() + START_S
            while process.poll() is None and time.monotonic() < deadline:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    return port
                time.sleep(0.1)
            raise AssertionError("the web service does not answer")

        yield start


def headers_of_login(client: http.client.HTTPConnection) -> http.client.HTTPMessage:
    client.request("GET", "/login/")
    answer = client.getresponse()
    assert answer.status == http.HTTPStatus.OK
    answer.read()
    client.close()
    return answer.headers


def trusting(certificate: Path, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(certificate))
    context.maximum_version = newest
    return context


def test_our_own_certificate_secures_cookies_but_makes_no_browser_insist_on_it(serve: Serve, tmp_path: Path) -> None:
    own = serving.own_certificate(tmp_path)
    serving.make_own(own, ["127.0.0.1"], datetime.now(UTC))
    port = serve(serving.settings_for(own))
    client = http.client.HTTPSConnection("127.0.0.1", port, context=trusting(own.chain))
    headers = headers_of_login(client)
    cookie = headers["Set-Cookie"]
    assert cookie.startswith("__Host-nasadvisor_csrf=")
    assert {"Secure", "HttpOnly", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Strict-Transport-Security" not in headers
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"HTTP" not in plain.recv(1000)


def test_a_certificate_that_somebody_vouches_for_makes_browsers_insist_on_tls(serve: Serve, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authority.make_authority(tmp_path, now)
    authority.make_server_certificate(tmp_path, ("127.0.0.1",), now)
    pair = Certificate(listening.certificate_path(tmp_path), listening.key_path(tmp_path))
    port = serve(serving.settings_for(pair))
    trusted = trusting(listening.authority_path(tmp_path), ssl.TLSVersion.TLSv1_2)
    client = http.client.HTTPSConnection("127.0.0.1", port, context=trusted)
    assert headers_of_login(client)["Strict-Transport-Security"] == "max-age=31536000"
    client.connect()
    assert isinstance(client.sock, ssl.SSLSocket)
    assert client.sock.cipher() == ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2", 256)
    client.close()


def test_plain_http_behind_a_proxy_is_served_as_it_was(serve: Serve) -> None:
    port = serve({})
    headers = headers_of_login(http.client.HTTPConnection("127.0.0.1", port))
    assert headers["Set-Cookie"].startswith("nasadvisor_csrf=")
    assert "Secure" not in headers["Set-Cookie"]
    assert "Strict-Transport-Security" not in headers


class TestInAContainer:
    """There the settings are the process's, and no root brings anything."""

    def test_a_certificate_is_made_once_in_the_volume(self, tmp_path: Path) -> None:
        folder = tmp_path / "tls"
        told = settings_of_pages({}, folder)
        first = (folder / "certificate.pem").read_bytes()
        assert told["UVICORN_SSL_KEYFILE"] == str(folder / "key.pem")
        assert settings_of_pages({}, folder) == told
        assert (folder / "certificate.pem").read_bytes() == first

    @pytest.mark.parametrize("settings", [{"NASADVISOR_TLS": "no"}, {"NASADVISOR_ORIGINS": "https://nas.example"}])
    def test_behind_a_proxy_nothing_is_told_and_none_is_left(self, tmp_path: Path, settings: dict[str, str]) -> None:
        settings_of_pages({}, tmp_path / "tls")
        assert settings_of_pages(settings, tmp_path / "tls") == {}
        assert not (tmp_path / "tls").exists()

    def test_a_certificate_that_cannot_be_used_is_not_replaced_by_plain_http(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"cannot be used, so the pages are not served: .*gone\.pem"):
            settings_of_pages({"NASADVISOR_TLS_CERTIFICATE": str(tmp_path / "gone.pem")}, tmp_path / "tls")
