"""Bringing the platform's certificate to the web service, which may not read it itself.

`python -m nasadvisor.host.fleet.certificate` runs as root before the web service starts. Where the platform has a
certificate, copies of it and of its key are made for the service's group, and a file of settings tells the service to
use them. Where it has none, the folder goes. The folder is one that the service cannot write to: it could
lead us elsewhere.
"""

import grp
import logging
import os
import shutil
from pathlib import Path
from typing import Final

from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.fleet.platforms import platforms_of
from plugins.contract.host import Certificate

log = logging.getLogger(__name__)

GROUP: Final = "nasadvisor"
FOLDER: Final = Path("/run/nasadvisor-tls")
CHAIN: Final = "certificate.pem"
KEY: Final = "key.pem"


def bring(folder: Path, certificate: Certificate | None, group_id: int) -> None:
    """Make the copies and the settings, or remove them. Nobody but root and the group can read the key at any moment.

    Raises:
        OSError: it could not be done; the pages are then served as before.
    """
    if certificate is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    folder.mkdir(mode=0o750, exist_ok=True)
    os.chown(folder, -1, group_id, follow_symlinks=False)
    chain, key = folder / CHAIN, folder / KEY
    _copy(certificate.chain, chain, group_id)
    _copy(certificate.key, key, group_id)
    settings = f"UVICORN_SSL_CERTFILE={chain}\nUVICORN_SSL_KEYFILE={key}\nNASADVISOR_HTTPS=yes\n"
    (folder / "environment").write_text(settings, encoding="ascii")


def is_renewed(folder: Path, certificate: Certificate | None) -> bool:
    """Whether the platform's certificate or key is another than the copy; not while the platform has none to read."""
    if certificate is None:
        return False
    pairs = ((certificate.chain, folder / CHAIN), (certificate.key, folder / KEY))
    try:
        current = [source.read_bytes() for source, _ in pairs]
    except OSError as error:
        log.warning("the platform's certificate cannot be read: %s", error)
        return False
    return any(not copy.exists() or copy.read_bytes() != now for now, (_, copy) in zip(current, pairs, strict=True))


def _copy(source: Path, target: Path, group_id: int) -> None:
    fresh = target.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(file.fileno(), 0o640)
        os.fchown(file.fileno(), -1, group_id)
        file.write(source.read_bytes())
    fresh.replace(target)


def main() -> None:
    """For this machine."""
    logging.basicConfig(level=logging.INFO)
    try:
        bring(FOLDER, platforms_of(HostRunner()).certificate, grp.getgrnam(GROUP).gr_gid)
    except (OSError, KeyError) as error:
        log.warning("the platform's certificate cannot be used: %s", error)


if __name__ == "__main__":
    main()
