"""Messages by Proxmox VE's notification system, which does not tell its callers what became of them.

So its log is read (`perl/notify.pl`). Where nothing in it says that a message was delivered, the message goes out as a
mail of our own: to the address that root@pam has in Proxmox VE, because a mail to root leads back into the very same
notification system (proxmox-mail-forward in /root/.forward).
"""

import re
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.statements import Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError

SCRIPT: Final = Path(__file__).parent / "perl/notify.pl"

SEVERITIES: Final = {Level.INFO: "info", Level.WARNING: "warning", Level.CRITICAL: "error"}
LONGEST_TEXT: Final = 16000
LONGEST_SUBJECT: Final = 200
LONGEST_REASON: Final = 600

ANSWER_S: Final = 100.0
"""The script waits 40 s for Proxmox VE's targets, then twice 10 s for the journal, then for the mail system."""

SENDMAIL: Final = "sendmail"
"""Kind of target that hands a message to the host's mail system. Its library does not look at how that program ended,
so "notified" is no proof (proxmox-notify, endpoints/sendmail.rs)."""

_TARGET: Final = re.compile(r"^(?P<kind>\w+):[ \t]*(?P<name>\S+)[ \t]*$", re.MULTILINE)
_ADDRESS: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._%+-]*@[A-Za-z0-9][A-Za-z0-9.-]*")
ROOT: Final = "root"

_EMAIL_FIELD: Final = 6
"""Of a line "user:root@pam:1:0:first name:last name:e-mail:…" (parse_user_config() in pve-access-control)."""


class MessageLost(HostError):  # noqa: N818 - named for what happened
    """Neither the notification system nor the mail system took a message."""

    def __init__(self, why: Statement) -> None:
        template = _(
            "Proxmox VE did not confirm that it delivered the message ({why}), and this host's mail system did not "
            "accept it either. Check Datacenter, Notifications in Proxmox VE, or choose another channel for alerts."
        )
        super().__init__(template, why=why)


def send(runner: Runner, pve: Path, notice: Notice) -> Statement | None:
    """Send a message; None if Proxmox VE proves that it delivered it, else what was done. `pve` is /etc/pve.

    Raises:
        MessageLost: nothing took it.
        HostError: the script could not run to its end.
    """
    address, sender = address_of_root(pve), sender_of(pve)
    what = (SEVERITIES[notice.level], notice.subject[:LONGEST_SUBJECT], notice.text[:LONGEST_TEXT])
    arguments = (str(SCRIPT), *what, address or ROOT, sender)
    codes = frozenset(range(256))
    output = runner.run(Command(Tool.PERL, arguments, timeout_s=ANSWER_S, expected_codes=codes))
    told = [line.partition(" ") for line in output.stdout.splitlines()]
    delivered = [rest for word, _space, rest in told if word == "delivered"]
    if delivered:
        kinds = target_kinds("\n".join(_lines(pve / "notifications.cfg")))
        is_proven = any(kinds.get(target, SENDMAIL) != SENDMAIL for target in delivered)
        return None if is_proven else _handed_over(", ".join(delivered))
    said = [rest for word, _space, rest in told if word == "said"]
    why = Statement(
        "proxmox-no-target", _("no target accepted it: no matcher applies to it, or its targets are disabled")
    )
    if said:
        why = Statement("said", "{words}", {"words": "; ".join(said)[:LONGEST_REASON]})
    if not any(word == "mailed" for word, _space, _rest in told):
        raise MessageLost(why)
    return _mailed(why, address) if address else _mailed_to_root(why)


def target_kinds(text: str) -> dict[str, str]:
    """The kind of each target by its name: sections "smtp: NAME" of notifications.cfg. mail-to-root, of the kind
    sendmail, is there without standing there (proxmox-notify, context/pve.rs).
    """
    return {found["name"]: found["kind"] for found in _TARGET.finditer(text)}


def address_of_root(pve: Path) -> str:
    """The e-mail address of root@pam; "" where there is none that can be used."""
    fields = (line.split(":") for line in _lines(pve / "user.cfg") if line.startswith("user:root@pam:"))
    found = next((each[_EMAIL_FIELD].strip() for each in fields if len(each) > _EMAIL_FIELD), "")
    return found if _ADDRESS.fullmatch(found) else ""


def sender_of(pve: Path) -> str:
    """From whom mails of this cluster come, "" where that is not set (`email_from` in datacenter.cfg)."""
    values = (
        line.partition(":")[2].strip() for line in _lines(pve / "datacenter.cfg") if line.startswith("email_from:")
    )
    found = next(values, "")
    return found if _ADDRESS.fullmatch(found) else ""


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _handed_over(targets: str) -> Statement:
    return Statement(
        "proxmox-by-mail-system",
        _(
            "Proxmox VE passed the message to this host's mail system (target {targets}), which does not report "
            "whether it was sent. Targets of other kinds, such as SMTP, do: see Datacenter, Notifications in Proxmox "
            "VE."
        ),
        {"targets": targets},
    )


def _mailed(why: Statement, address: str) -> Statement:
    return Statement(
        "proxmox-mailed",
        _(
            "Proxmox VE did not confirm that it delivered the message ({why}). It was passed to this host's mail "
            "system for {address} instead. Check Datacenter, Notifications in Proxmox VE."
        ),
        {"why": why, "address": address},
    )


def _mailed_to_root(why: Statement) -> Statement:
    return Statement(
        "proxmox-mailed-to-root",
        _(
            "Proxmox VE did not confirm that it delivered the message ({why}). It was passed to this host's mail "
            "system for root instead and may get lost there too: root@pam has no e-mail address in Proxmox VE. Enter "
            "one under Datacenter, Permissions, Users, or add an address after the host name in this channel."
        ),
        {"why": why},
    )
