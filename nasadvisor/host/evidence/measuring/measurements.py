"""What was measured by writing, kept on the host: one file a measurement, for the command line's report."""

import os
from pathlib import Path

from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.change.journal import JournalUnwritable, write_whole
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, from_json, to_json


class MeasuredBefore(HostError):  # noqa: N818 - named for what happened
    """The same order came a second time."""

    def __init__(self, order_id: str) -> None:
        super().__init__(_("The order {id} was taken up before; it is measured once."), id=order_id)


def claim_order(directory: Path, order_id: str) -> None:
    """Take an order up: its file is made, empty, and only once.

    Raises:
        MeasuredBefore: it was taken up before.
        JournalUnwritable: the directory is read-only or full.
    """
    path = directory / f"{order_id}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise MeasuredBefore(order_id) from None
    except OSError as error:
        raise JournalUnwritable(path, error) from error


def keep_measurement(directory: Path, found: Measurement) -> None:
    """Keep one.

    Raises:
        JournalUnwritable: the directory is read-only or full.
    """
    write_whole(directory / f"{found.order.id}.json", to_json(found))


def kept_measurements(directory: Path) -> tuple[Measurement, ...]:
    """All of them, oldest first; without those that failed and those that another release wrote in another form."""
    found = []
    for path in directory.glob("*.json"):
        try:
            found.append(from_json(Measurement, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, DocumentError):
            continue
    return tuple(sorted(found, key=lambda each: each.probe.at))
