"""Jobs of TrueNAS: what is needed to ask for changes, and how what came of it is read.

A job is followed to its end also when the connection is lost meanwhile: it goes on without us.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.errors import HostError, OutputUnreadable
from plugins.truenas.api.connection import CHANGES, Session, Sessions
from plugins.truenas.api.errors import (
    ConnectionLost,
    EndNotSeen,
    JobFailed,
    JobOutOfSight,
    MailNotSent,
    NoAnswer,
    NotReached,
)
from plugins.truenas.api.reading import Picture, objects_of, read_picture
from plugins.truenas.api.records import Records

SUCCESS: Final = "SUCCESS"
ENDINGS: Final = frozenset({SUCCESS, "FAILED", "ABORTED"})
UNDER_WAY: Final = frozenset({"WAITING", "RUNNING"})

POLL_S: Final = 1.0
RETRY_S: Final = 5.0
"""Between two attempts to reach TrueNAS again: it counts logins, 20 a minute (middleware, plugins/auth.py)."""
ATTEMPTS: Final = 24
"""Two minutes: as long as the middleware needs to start again."""

Wait = Callable[[float], None]


@dataclass(frozen=True)
class JobProgress:
    """How far a job is, as TrueNAS says it. `result` is what it ended with where that is yes or no."""

    job: int
    state: str
    percent: int
    description: str
    error: str = ""
    result: bool | None = None


Observer = Callable[[JobProgress], None]


def job_number(method: str, result: object) -> int:
    """The number that a call of a job answers with.

    Raises:
        OutputUnreadable: it is none.
    """
    if isinstance(result, bool) or not isinstance(result, int):
        raise OutputUnreadable(f"TrueNAS ({method})", "it is not the number of a job")
    return result


def follow(job: int, method: str, sessions: Sessions, observe: Observer, wait: Wait = time.sleep) -> JobProgress:
    """Wait for the end of a job and report every change of its progress; returns the last.

    Raises:
        JobFailed: it ended without success.
        JobOutOfSight: TrueNAS cannot be reached any more, or knows no such job.
    """
    last: JobProgress | None = None
    failures = 0
    while True:
        try:
            with sessions() as session:
                while last is None or last.state in UNDER_WAY:
                    progress = progress_of(job, session.call("core.get_jobs", [["id", "=", job]]))
                    failures = 0
                    if progress != last:
                        observe(progress)
                    last = progress
                    wait(POLL_S if progress.state in UNDER_WAY else 0)
        except (ConnectionLost, NoAnswer, NotReached) as error:
            failures += 1
            if failures == ATTEMPTS:
                raise JobOutOfSight(job, method, error) from error
            wait(RETRY_S)
        except HostError as error:
            raise JobOutOfSight(job, method, error) from error
        if last and last.state == SUCCESS:
            return last
        if last and last.state in ENDINGS:
            raise JobFailed(job, method, last.state, last.error)


def progress_of(job: int, answer: object) -> JobProgress:
    """What core.get_jobs says of one job.

    Raises:
        OutputUnreadable: it says something else, or does not know the job (any more).
    """
    source = "TrueNAS (core.get_jobs)"
    if not isinstance(answer, list) or len(answer) != 1 or not isinstance(answer[0], dict):
        raise OutputUnreadable(source, f"it does not show job {job}")
    entry = Answer(source, "", answer[0])
    state = entry.text("state")
    if entry.number("id") != job or state not in ENDINGS | UNDER_WAY:
        raise OutputUnreadable(source, f"it does not show how far job {job} is")
    progress = entry.child("progress") if entry.fields.get("progress") else Answer(source, "/progress", {})
    return JobProgress(
        job,
        state,
        0 if progress.fields.get("percent") is None else progress.number("percent"),
        str(progress.fields.get("description") or ""),
        str(entry.fields.get("error") or ""),
        result if isinstance(result := entry.fields.get("result"), bool) else None,
    )


def first_under_way(session: Session) -> tuple[int, str] | None:
    """Number and method of a job that changes a pool and has not ended; None where there is none.

    TrueNAS shows the jobs of whoever asks, also those of an earlier connection (middleware, job.py).
    """
    changing = [["method", "in", sorted(CHANGES)], ["state", "in", sorted(UNDER_WAY)]]
    jobs = objects_of("core.get_jobs", session.call("core.get_jobs", changing))
    return next(((job.number("id"), job.text("method")) for job in jobs), None)


def send_mail(sessions: Sessions, subject: str, text: str) -> None:
    """Send a message to the administrators of TrueNAS; `text` is Markdown. Wait until its mail server took it.

    Where that fails TrueNAS tries again by itself for a while, and it is said nevertheless.

    Raises:
        MailNotSent: TrueNAS is not allowed to send any; in 25.10 its job ends as if all were well (plugins/mail.py).
        HostError: it was not accepted.
    """
    with sessions() as session:
        job = job_number("mail.send", session.call("mail.send", {"subject": subject, "text": text, "queue": True}))
    if follow(job, "mail.send", sessions, lambda _: None).result is not True:
        raise MailNotSent(job)


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
