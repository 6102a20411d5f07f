"""Alerts by TrueNAS's own mail: TrueNAS takes no alerts of others, but it sends their e-mail (`mail.send`)."""

from plugins.truenas.api.jobs import follow, job_number
from plugins.truenas.api.session import Sessions


def send_mail(sessions: Sessions, subject: str, text: str) -> None:
    """Send a message to the administrators of TrueNAS; `text` is Markdown. Wait until it went out or was queued.

    Raises:
        HostError: it was not accepted.
    """
    with sessions() as session:
        job = job_number("mail.send", session.call("mail.send", {"subject": subject, "text": text, "queue": True}))
    follow(job, "mail.send", sessions, lambda _: None)
