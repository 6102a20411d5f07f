"""Where this machine gets Debian packages and Python packages from: the guest image comes from the same places."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError

APT = Path("/etc/apt")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MIRROR_VARIABLE = "NASADVISOR_LAB_MIRROR"


def debian_mirror() -> str:
    """The address of the Debian archive that this machine's apt uses."""
    if chosen := os.environ.get(MIRROR_VARIABLE):
        return chosen
    for address in _apt_addresses():
        path = address.rstrip("/")
        if path.endswith("/debian"):
            return path
    raise LabError(
        f"No Debian archive was found in {APT}. Set {MIRROR_VARIABLE} to the address of one and build again."
    )


def _apt_addresses() -> Iterator[str]:
    """The addresses in both spellings of apt sources: one line, and deb822 paragraphs."""
    for file in sorted([*APT.glob("sources.list"), *APT.glob("sources.list.d/*")]):
        if file.suffix not in {".list", ".sources"}:
            continue
        for line in file.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["deb"], ["URIs:"]):
                yield from (word for word in words[1:] if "://" in word)


def apt_options() -> tuple[str, ...]:
    """How this machine's apt reaches the archive, where it needs a proxy to do so."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        return ()
    wanted = ("Acquire::http::Proxy", "Acquire::https::Proxy")
    return tuple(line for line in dump.splitlines() if line.startswith(wanted))


def pip_environment() -> dict[str, str]:
    """The settings that pip reads from the environment here, for pip inside the new root."""
    passed = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
    settings = {name: value for name, value in os.environ.items() if name.startswith(passed)}
    # A local directory of wheels does not exist inside the new root.
    if "://" not in settings.get("PIP_FIND_LINKS", "://"):
        del settings["PIP_FIND_LINKS"]
    if "PIP_CERT" in settings:
        # The file that is copied into the new root.
        settings["PIP_CERT"] = str(CERTIFICATES)
    return settings
