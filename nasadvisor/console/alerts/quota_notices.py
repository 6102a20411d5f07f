"""That a host tells more than is stored of one, said as a finding of that host."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from nasadvisor.console.alerts.host_findings import HostFinding
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.domain.statements import Finding, Level, Statement, gettext_noop

CODE: Final = "host-quota"

_WHAT: Final = {
    Quota.RUNS: Statement("quota-runs", gettext_noop("more than {most} runs"), {"most": str(quotas.MOST_RUNS)}),
    Quota.RUN_SIZE: Statement(
        "quota-run-size",
        gettext_noop("a run of more than {most} KiB"),
        {"most": str(quotas.LARGEST_RUN // 1024)},
    ),
    Quota.DISKS: Statement("quota-disks", gettext_noop("more than {most} disks"), {"most": str(quotas.MOST_DISKS)}),
    Quota.POOLS: Statement("quota-pools", gettext_noop("more than {most} pools"), {"most": str(quotas.MOST_POOLS)}),
    Quota.ALERTS: Statement(
        "quota-alerts",
        gettext_noop("more than {most} messages of alerts within a day"),
        {"most": str(quotas.MOST_MESSAGES)},
    ),
    Quota.CLOCK: Statement("quota-clock", gettext_noop("samples of the future; check its clock with `timedatectl`")),
    Quota.QUEUE: Statement("quota-queue", gettext_noop("messages faster than they can be stored")),
    Quota.MESSAGE_SIZE: Statement("quota-message-size", gettext_noop("a message larger than any of ours")),
}


def about_quotas(node: Node, now: datetime) -> Iterator[HostFinding]:
    """Quotas that a host has reached within a day, one finding for each."""
    for quota in quotas.reached_by(node, now):
        yield HostFinding(
            Finding(
                CODE,
                gettext_noop("{node} told more than is stored of one host: {what}. That was left out."),
                {"node": node.name, "what": _WHAT[quota]},
                Level.WARNING,
                gettext_noop(
                    "A host in order tells far less. What was stored before stays, and other hosts are not touched by "
                    "it. On {node} the command nasadvisor still shows everything. If you cannot say why it is so much, "
                    "somebody else may have taken over {node}: look at `journalctl -u nasadvisor-host` there, and "
                    "forget it under Settings to end its access."
                ),
                subject=quota.value,
            )
        )
