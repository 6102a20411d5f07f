"""A stand-in of TrueNAS with a certificate of its own, and the way to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from nasadvisor.domain.storage.inventory import Disk
from plugins.truenas.api.access import CERTIFICATE, KEY_FILE, URL, TrueNasAccess, access_from
from plugins.truenas.api.access import USER as USER_SETTING
from plugins.truenas.api.connection import SOCKET, session_with
from plugins.truenas.api.jobs import Desk, JobProgress
from plugins.truenas.api.records import Records
from tests.unit.truenas.standin import KEY, USER, StandIn


def make_certificate(directory: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for localhost, as TrueNAS makes one when it is installed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = directory / f"{name}.crt", directory / f"{name}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"), "truenas")


@pytest.fixture
def truenas(certificate: tuple[Path, Path]) -> Iterator[StandIn]:
    """The stand-in, listening."""
    with StandIn(*certificate).listening() as standin:
        yield standin


@pytest.fixture
def settings(truenas: StandIn, tmp_path: Path) -> dict[str, str]:
    """The settings that lead to it."""
    key = tmp_path / "truenas.key"
    key.write_text(f"{KEY}\n", encoding="ascii")
    key.chmod(0o600)
    return {
        URL: truenas.url,
        USER_SETTING: USER,
        KEY_FILE: str(key),
        CERTIFICATE: str(truenas.certificate),
    }


@pytest.fixture
def access(settings: dict[str, str]) -> TrueNasAccess:
    return access_from(settings)


@pytest.fixture
def local_root() -> Iterator[Path]:
    """A root directory for a host; its name is short, as that of a socket must be (unix(7): 108 bytes)."""
    with TemporaryDirectory(prefix="nas-") as name:
        yield Path(name)


@pytest.fixture
def middleware(certificate: tuple[Path, Path], local_root: Path) -> Iterator[StandIn]:
    """The stand-in on the host's own socket."""
    with StandIn(*certificate).listening_at(local_root / SOCKET) as standin:
        yield standin


@dataclass
class Office:
    """A desk, and what was seen on it."""

    desk: Desk
    seen: list[JobProgress]
    waited: list[float]
    root: Path = Path("/")
    disks: tuple[Disk, ...] = ()


@pytest.fixture
def office(access: TrueNasAccess, tmp_path: Path) -> Office:
    seen: list[JobProgress] = []
    waited: list[float] = []
    records = Records(tmp_path / "records")
    desk = Desk(lambda: session_with(access), records, seen.append, "root (command line)", waited.append)
    return Office(desk, seen, waited)
