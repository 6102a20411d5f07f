"""Alerts by TrueNAS's own mail: TrueNAS takes no alerts of others, but it sends their e-mail (`mail.send`)."""

from plugins.truenas.api.errors import MailNotSent
from plugins.truenas.api.jobs import follow, job_number
from plugins.truenas.api.session import Sessions


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
