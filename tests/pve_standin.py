"""A stand-in for pveproxy: a real TLS server that speaks the documented shapes of the few calls that we make.

It is not Proxmox VE. What it answers follows pve-access-control 9.1.1 (API2/AccessControl.pm) and pve-http-server; see
docs/reference/proxmox.md for what was checked against Proxmox's own code.
"""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from urllib.parse import parse_qs, unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SIGNATURE = "c2lnbmF0dXJl" * 20
ROOT_TICKET = f"PVE:root@pam:6740A1B2::{SIGNATURE}"
AUDITOR_TICKET = f"PVE:anna@pve:6740A1B2::{SIGNATURE}"
NOBODY_TICKET = f"PVE:nobody@pve:6740A1B2::{SIGNATURE}"
TFA_TICKET = f"PVE:!tfa!%7B%22totp%22%3Atrue%7D:6740A1B2::{SIGNATURE}"


@dataclass
class StandIn:
    """What it knows. `permissions` are those on "/" by ticket; a ticket that is not there has expired."""

    port: int = 0
    certificate: Path = Path()
    permissions: dict[str, dict[str, int]] = field(
        default_factory=lambda: {
            ROOT_TICKET: {"Sys.Audit": 1, "Sys.Modify": 1, "Sys.PowerMgmt": 1},
            AUDITOR_TICKET: {"Sys.Audit": 0, "VM.Audit": 1},
            NOBODY_TICKET: {"VM.Audit": 1},
        }
    )
    passwords: dict[str, str] = field(default_factory=lambda: {"root@pam": "hunter22", "anna@pve": "s3cret"})
    with_second_factor: set[str] = field(default_factory=set)
    realms: dict[str, str] = field(default_factory=lambda: {"pam": "pam", "pve": "pve", "sso": "openid"})
    body: bytes | None = None
    status: int = 200
    delay_s: float = 0.0
    hangs_up: bool = False
    asked: list[str] = field(default_factory=list)

    def domains(self) -> tuple[int, object]:
        """API2/Domains.pm, index: for everybody, whom the login box shows it to."""
        return 200, [{"realm": realm, "type": kind} for realm, kind in self.realms.items()]

    def permissions_of(self, cookie: str) -> tuple[int, object]:
        held = self.permissions.get(unquote(cookie))
        return (401, None) if held is None else (200, {"/": held})

    def ticket_for(self, name: str, password: str) -> tuple[int, object]:
        if unquote(password) in self.permissions:  # as PVE does: a valid ticket stands for a password
            return 200, {"username": name, "ticket": password, "CSRFPreventionToken": "x"}
        if self.realms.get(name.rpartition("@")[2]) == "openid":  # authenticate_user() in Auth/OpenId.pm dies
            return 401, None
        if self.passwords.get(name) != password:
            return 401, None
        if name in self.with_second_factor:
            return 200, {"username": name, "ticket": TFA_TICKET, "CSRFPreventionToken": "x", "NeedTFA": 1}
        ticket = f"PVE:{name}:6740A1B3::{SIGNATURE}"
        return 200, {"username": name, "ticket": ticket, "CSRFPreventionToken": "x", "cap": {"nodes": {}}}


@contextmanager
def pve_standin(folder: Path) -> Iterator[StandIn]:
    """The stand-in, listening on a free port of 127.0.0.1 with a certificate of its own."""
    standin = StandIn()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(standin))
    standin.port, standin.certificate = server.server_address[1], folder / "pve-ssl.pem"
    key = make_certificate(standin.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(standin.certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_certificate(path: Path) -> Path:
    """Write a self-signed certificate and its key; the key's path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pve1.example")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
    certificate = made.not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path = path.with_suffix(".key")
    pkcs8, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key_path.write_bytes(key.private_bytes(serialization.Encoding.PEM, pkcs8, plain))
    return key_path


def _handler_of(standin: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/api2/json/access/domains":
                self.answer(*standin.domains())
                return
            self.answer(*standin.permissions_of(self.headers.get("Cookie", "").removeprefix("PVEAuthCookie=")))

        def do_POST(self) -> None:
            fields = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(*standin.ticket_for(fields["username"][0], fields["password"][0]))

        def answer(self, status: int, data: object) -> None:
            standin.asked.append(f"{self.command} {self.path}")
            sleep(standin.delay_s)
            if standin.hangs_up:
                self.close_connection = True
                return
            body = standin.body if standin.body is not None else json.dumps({"data": data}).encode()
            self.send_response(status if standin.status == 200 else standin.status)
            self.send_header("Content-Type", "application/json;charset=UTF-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
