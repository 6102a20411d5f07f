"""The host part of a platform integration: runs as root, in the host worker and in the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import Guest, Notice, Rewrite, Veto
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Runner
from plugins.contract import VersionRange


@dataclass(frozen=True)
class Task:
    """A stretch of a run, for the platform's own list of tasks.

    `log` is a text file that grows while the work goes on. Its last line begins with "END OK" or "END ERROR ". If the
    process `pid` is gone and there is no such line, the work was interrupted.
    """

    run_id: str
    goal: Goal
    pool: str
    by: str
    log: Path
    pid: int


@dataclass(frozen=True)
class Certificate:
    """PEM files, readable for root: the certificate with its chain, and its key."""

    chain: Path
    key: Path


class HostPlatform(Protocol):
    """One platform, as the host sees it. Subclass it to inherit the answers of a platform that wants nothing.

    `notifies` says that `notify` sends messages.
    """

    name: str
    supports: VersionRange
    notifies: bool = False

    def detect(self) -> bool:
        """Whether this host is of that platform. The other methods are called only if it is."""
        ...

    def version(self, runner: Runner) -> str:
        """Its version, "" where it cannot be told."""
        ...

    def locks(self) -> tuple[Path, ...]:
        """Lock files (flock) that the platform itself holds while it changes disks; held by us as well."""
        return ()

    def tail_bytes(self) -> int:
        """How much must stay unpartitioned at the end of an SSD."""
        return MIB

    def certificate(self) -> Certificate | None:
        """With what the pages are to be served; None for plain HTTP. Copied when the web service starts."""
        return None

    def vetoes(self, runner: Runner, inventory: Inventory) -> tuple[Veto, ...]:
        """What it forbids on this host now.

        Raises:
            HostError: it cannot be told, so nothing may be changed.
        """
        return ()

    def findings(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """What is worth knowing on this platform only.

        Raises:
            HostError: it cannot be told.
        """
        return ()

    def cautions(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """What is to be read before any plan is applied on this platform.

        Raises:
            HostError: it cannot be told.
        """
        return ()

    def guests(self, runner: Runner, inventory: Inventory) -> tuple[Guest, ...]:
        """Whose datasets and volumes lie on the pools.

        Raises:
            HostError: it cannot be told.
        """
        return ()

    def rewrites(self, runner: Runner, inventory: Inventory) -> tuple[Rewrite, ...]:
        """Jobs of its own that move the data of datasets within their pool, those of the last weeks too.

        Raises:
            HostError: it cannot be told.
        """
        return ()

    def unsafe_volumes(self) -> tuple[str, ...]:
        """Volumes of virtual machines whose flushes are thrown away, by the last part of their names."""
        return ()

    def log_task(self, runner: Runner, task: Task) -> None:
        """Show a stretch of a run that begins in the platform's own list of tasks; return at once.

        Raises:
            HostError: it cannot be shown. The run goes on.
        """
        return

    def notify(self, runner: Runner, notice: Notice) -> Statement | None:
        """Send a message by the platform's own means; None if the platform confirms that it took it.

        Where it does not, the message is sent by another way, and what is returned says so and why.

        Raises:
            HostError: nothing took it.
        """
        return None
