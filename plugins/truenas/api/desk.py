"""What is needed to ask TrueNAS for changes, and how what came of it is read."""

import time
from dataclasses import dataclass

from nasadvisor.host.errors import HostError
from plugins.truenas.api.errors import EndNotSeen
from plugins.truenas.api.jobs import Observer, Wait
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import Records
from plugins.truenas.api.session import Sessions


@dataclass(frozen=True)
class Desk:
    """The way to TrueNAS, our records, who is told of progress, who asks."""

    sessions: Sessions
    records: Records
    observe: Observer
    by: str
    wait: Wait = time.sleep


def picture_now(desk: Desk) -> Picture:
    """What TrueNAS shows now.

    Raises:
        HostError: it cannot be read.
    """
    with desk.sessions() as session:
        return read_picture(session)


def picture_after(job: int, method: str, desk: Desk) -> Picture:
    """What TrueNAS shows after a job has ended.

    Raises:
        EndNotSeen: it cannot be read, so nobody knows what came of the job.
    """
    try:
        return picture_now(desk)
    except HostError as error:
        raise EndNotSeen(job, method, error.statement) from error
