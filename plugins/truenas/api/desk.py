"""What is needed to ask TrueNAS for changes, and how what came of it is read."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.host.errors import HostError
from plugins.truenas.api.errors import EndNotSeen
from plugins.truenas.api.jobs import Observer, Wait
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import Records
from plugins.truenas.api.session import Session, Sessions

Given = Callable[[Disk], Iterable[Refused]]
"""Which guests a disk was given to, as reasons not to take it."""


def nothing_given(_disk: Disk) -> tuple[Refused, ...]:
    """The answer where nobody can be asked: the API does not tell it to a key with the roles that ours needs."""
    return ()


@dataclass(frozen=True)
class Desk:
    """The way to TrueNAS, our records, who is told of progress, who asks, and who knows what guests were given."""

    sessions: Sessions
    records: Records
    observe: Observer
    by: str
    wait: Wait = time.sleep
    given: Callable[[Session], Given] = lambda _session: nothing_given


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
