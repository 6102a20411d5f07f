"""Bringing a certificate to the web service, which may not read those of the machine itself.

`python -m nasadvisor.host.fleet.certificate` runs as root before the web service starts. The certificate is one that
the administrator names, or the platform's, or one that is made here. Copies of it and of its key are made for the
service's group, and a file of settings tells the service to use them. Where the pages are to come over plain HTTP, the
folder goes. It is one that the service cannot write to: it could lead us elsewhere.

If none can be brought, the service does not start: passwords would be sent in the clear.
"""

import grp
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.adapters.procfs import PROC, listener_at
from nasadvisor.host.config import ENVIRONMENT_FILE, read_environment_file
from nasadvisor.host.fleet.platforms import platforms_of
from nasadvisor.runtime import serving
from nasadvisor.runtime.private_files import write_private
from plugins.contract.host import Certificate

log = logging.getLogger(__name__)

GROUP: Final = "nasadvisor"
FOLDER: Final = Path("/run/nasadvisor-tls")
OWN: Final = serving.own_certificate(Path("/var/lib/nasadvisor/tls"))
"""Root's: what the web service reads are the copies."""


def choose(settings: Mapping[str, str], of_platform: Certificate | None, own: Certificate) -> Certificate | None:
    """With what the pages are served: `own` is to be made if it is due; None for plain HTTP."""
    if serving.asked_for_plain(settings):
        return None
    named = serving.named_certificate(settings)
    for each in filter(None, (named, of_platform)):
        problem = serving.problem_of(each)
        if not problem:
            return each
        log.warning("this certificate cannot be used: %s", problem)
    return own if named or of_platform or not serving.left_to_others(settings) else None


def bring(folder: Path, certificate: Certificate | None, group_id: int) -> None:
    """Make the copies and the settings, or remove them. Nobody but root and the group can read the key at any moment.

    Raises:
        OSError, ValueError: it could not be done.
    """
    if certificate is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    os.chown(folder, -1, group_id, follow_symlinks=False)
    folder.chmod(0o750)  # not by mkdir: the unit's UMask= would take the group's part away
    copy = serving.own_certificate(folder)
    for source, target in ((certificate.chain, copy.chain), (certificate.key, copy.key)):
        write_private(target, source.read_bytes(), 0o640, group_id)
    lines = (f"{name}={value}\n" for name, value in serving.settings_for(copy).items())
    (folder / "environment").write_text("".join(lines), encoding="ascii")


def is_renewed(folder: Path, certificate: Certificate | None, own: Certificate, now: datetime) -> bool:
    """Whether the pages should be served with another certificate than the copy.

    Not while that of the platform or of the administrator cannot be read and ours would be in its place: browsers would
    warn of it.
    """
    if certificate is None:
        return False
    copies = serving.own_certificate(folder)
    pairs = ((certificate.chain, copies.chain), (certificate.key, copies.key))
    try:
        is_other = any(not copy.exists() or copy.read_bytes() != source.read_bytes() for source, copy in pairs)
    except OSError as error:
        log.warning("the certificate cannot be read: %s", error)
        return False
    return serving.is_due(own, now) and not is_other if certificate == own else is_other


def certificate_of(settings: Mapping[str, str]) -> Certificate | None:
    """What is to be served on this machine, as `choose` has it."""
    return choose(settings, platforms_of(HostRunner()).certificate, OWN)


def port_problem(settings: Mapping[str, str], proc: Path = PROC) -> str:
    """That another program has the port of the pages, and what to do; "" if none has."""
    port = settings.get("UVICORN_PORT") or serving.PORT
    found = listener_at(int(port), settings.get("UVICORN_HOST", ""), proc) if port.isdecimal() else None
    if found is None or serving.APPLICATION in found.command:
        return ""
    return (
        f"port {port} is taken by {found}. Stop that program, or choose another port as UVICORN_PORT in "
        f"{ENVIRONMENT_FILE}. Then run: systemctl restart nasadvisor-web"
    )


def main() -> None:
    """For this machine. Ends with 1 where the pages must not be served as they are."""
    logging.basicConfig(level=logging.INFO)
    # Of the file alone: the process has what an earlier start of the service left for it.
    settings = read_environment_file(ENVIRONMENT_FILE)
    problem = port_problem(settings)
    if problem:
        log.error("The pages cannot be served: %s", problem)  # and the web service itself fails, again and again
    try:
        certificate = certificate_of(settings)
        if certificate == OWN:
            serving.make_own_if_due(OWN, settings, datetime.now(UTC))
        bring(FOLDER, certificate, grp.getgrnam(GROUP).gr_gid)
    except (OSError, ValueError, KeyError) as error:
        log.error(  # noqa: TRY400 - a sentence for an administrator
            "The pages are not served: no certificate can be brought to them (%s). Where a proxy is in front, set "
            "NASADVISOR_TLS=no in %s.",
            error,
            ENVIRONMENT_FILE,
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
