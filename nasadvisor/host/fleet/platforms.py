"""The platforms this host is of, and what they say. The only place where the host part asks an integration."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from nasadvisor.domain.change.refusals import HostUnreadable, PlatformBroken, PlatformUntested, PlatformVersionUnknown
from nasadvisor.domain.change.runs import Goal, Run, RunState, StepState
from nasadvisor.domain.fleet.platforms import EVERYTHING, Notice, Platform, PlatformReport, Veto
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Runner
from nasadvisor.host.errors import HostError, MachineUnreadable
from plugins.contract.host import Certificate, HostPlatform, Task
from plugins.registry import find

log = logging.getLogger(__name__)
T = TypeVar("T")


class NobodyNotifies(HostError):  # noqa: N818 - named for what happened
    """No platform of this host sends messages."""

    def __init__(self) -> None:
        super().__init__(_("No platform on this host can send messages. Choose another channel for alerts."))


def nobody_notifies(_notice: Notice) -> Statement | None:
    """The messages of a host without any platform.

    Raises:
        NobodyNotifies: always.
    """
    raise NobodyNotifies


@dataclass(frozen=True)
class HostPlatforms:
    """The platforms of this host. `broken` are the refusals for integrations that cannot be loaded."""

    runner: Runner
    detected: tuple[HostPlatform, ...]
    broken: tuple[Refused, ...] = ()

    @property
    def locks(self) -> tuple[Path, ...]:
        """The lock files of the platforms."""
        return tuple(path for platform in self.detected for path in platform.locks())

    @property
    def tail_bytes(self) -> int:
        """What must stay free at the end of an SSD."""
        return max((platform.tail_bytes() for platform in self.detected), default=MIB)

    def unsafe_volumes(self) -> tuple[str, ...]:
        """The volumes of virtual machines whose flushes are thrown away."""
        return tuple(volume for platform in self.detected for volume in platform.unsafe_volumes())

    @property
    def certificate(self) -> Certificate | None:
        """With what the pages are to be served."""
        return next(filter(None, (platform.certificate() for platform in self.detected)), None)

    def vetoes(self, inventory: Inventory) -> tuple[Veto, ...]:
        """Everything that is forbidden now. A platform that cannot be asked forbids to begin anything."""
        return tuple(self._vetoes(self._look(), inventory))

    def report(self, inventory: Inventory) -> PlatformReport:
        """What the platforms say of the host as it was just read."""
        seen = self._look()
        return PlatformReport(
            node=inventory.host.node,
            read_at=inventory.read_at,
            platforms=tuple(Platform(each.part.name, each.version) for each in seen),
            vetoes=tuple(self._vetoes(seen, inventory)),
            findings=self._told(seen, lambda part: part.findings(self.runner, inventory)),
            cautions=self._told(seen, lambda part: part.cautions(self.runner, inventory)),
            guests=self._told(seen, lambda part: part.guests(self.runner, inventory)),
            rewrites=self._told(seen, lambda part: part.rewrites(self.runner, inventory)),
        )

    def log_task(self, task: Task) -> None:
        """Show a stretch of a run in the platforms' own lists of tasks; what goes wrong is only noted."""

        def log_in(part: HostPlatform) -> tuple[()]:
            part.log_task(self.runner, task)
            return ()

        self._told(self._look(), log_in)

    def notify(self, notice: Notice) -> Statement | None:
        """Send a message by the means of the first platform that has some; see `HostPlatform.notify`.

        Raises:
            HostError: nothing took it.
        """
        platform = next((each for each in self.detected if each.notifies), None)
        if platform is None:
            raise NobodyNotifies
        return platform.notify(self.runner, notice)

    def _look(self) -> tuple["_Seen", ...]:
        return tuple(_Seen(part, part.version(self.runner)) for part in self.detected)

    def _vetoes(self, seen: tuple["_Seen", ...], inventory: Inventory) -> Iterator[Veto]:
        yield from (Veto(reason, forbids=EVERYTHING) for reason in self.broken)
        for each in seen:
            name, supports = each.part.name, each.part.supports
            if not each.version:
                yield Veto(PlatformVersionUnknown(name))
            elif not each.is_tested:
                yield Veto(PlatformUntested(name, each.version, supports.first, supports.before))
            else:
                yield from self._asked(each.part, inventory)

    def _asked(self, part: HostPlatform, inventory: Inventory) -> tuple[Veto, ...]:
        try:
            return part.vetoes(self.runner, inventory)
        except HostError as error:
            return (Veto(HostUnreadable(error.statement)),)
        except OSError as error:  # the cluster file system of a platform may be away: ENOTCONN
            return (Veto(HostUnreadable(MachineUnreadable(part.name, str(error)).statement)),)

    def _told(self, seen: tuple["_Seen", ...], ask: Callable[[HostPlatform], tuple[T, ...]]) -> tuple[T, ...]:
        """What the platforms of versions that we know answer; nothing where one cannot."""
        told: list[T] = []
        for each in seen:
            try:
                told.extend(ask(each.part) if each.is_tested else ())
            except (HostError, OSError) as error:
                log.warning("%s: %s", each.part.name, error)
        return tuple(told)


@dataclass(frozen=True)
class _Seen:
    """A platform with the version it has now."""

    part: HostPlatform
    version: str

    @property
    def is_tested(self) -> bool:
        return self.part.supports.holds(self.version)


def platforms_of(runner: Runner) -> HostPlatforms:
    """The platforms that this machine is of."""
    found = find("host")
    parts = [each.platform for each in found if each.platform is not None]
    broken = tuple(PlatformBroken(each.package, each.problem) for each in found if each.platform is None)
    return HostPlatforms(runner, tuple(part for part in parts if part.detect()), broken)


WELL: Final = frozenset({RunState.APPLIED, RunState.UNDONE})
KEPT: Final = 20
"""Files of earlier runs that stay; the platform has its own copy."""


@dataclass
class TaskLog:
    """An observer of one stretch of a run. A file that cannot be written does not stop it."""

    folder: Path
    goal: Goal
    by: str
    announce: Callable[[Task], None]
    said: set[str] = field(default_factory=set)

    def __call__(self, run: Run) -> None:
        """See `Observer`."""
        try:
            path = self.folder / f"{run.id}-{self.goal}.log"
            is_new = not self.said
            if is_new:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                for earlier in sorted(self.folder.glob("*.log"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
                    earlier.unlink(missing_ok=True)
                path.unlink(missing_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self._news(run))
            if is_new:
                self.announce(Task(run.id, self.goal, run.plan.pool_name, self.by, path, os.getpid()))
        except OSError as error:
            log.warning("the task of run %s cannot be shown: %s", run.id, error)

    def _news(self, run: Run) -> list[str]:
        lines = [f"NAS Advisor: {self.goal} run {run.id} on pool {run.plan.pool_name}, asked for by {self.by}"]
        for steps in (run.steps, run.undo_steps):
            for step in steps:
                place = f"{step.number + 1}/{len(steps)} {step.what}"
                if step.state is not StepState.PENDING:
                    lines.append(place)
                if step.state in (StepState.DONE, StepState.SKIPPED, StepState.FAILED):
                    lines.append(f"{place}: {step.state}{f': {step.note}' if step.note else ''}")
        if not run.is_active and run.state in WELL and not run.refusals:
            lines.append("END OK")
        elif not run.is_active:
            otherwise = f"the run is {run.state}; its page in NAS Advisor says what to do"
            lines.append(f"END ERROR {' '.join(map(str, run.refusals)) or otherwise}")
        news = [" ".join(line.split()) for line in lines]
        news = [line for line in news if line not in self.said]
        self.said.update(news)
        return news
