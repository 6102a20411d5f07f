"""What a console may ask of proof by switching, and what it is told of it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from nasadvisor.domain.evidence.switch_words import not_back
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.fleet.permissions import Verbs
from nasadvisor.domain.statements import Finding
from nasadvisor.host import arguments
from nasadvisor.host.arguments import reads
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.switch_carrier import SwitchCarrier
from nasadvisor.host.evidence.switching import SwitchHost, end_before_undo, start_switching, stop_switching
from nasadvisor.stored.documents import to_document

log = logging.getLogger(__name__)

Publish = Callable[..., None]
"""Sends a task with its arguments to the console."""


@dataclass(frozen=True)
class SwitchTasks:
    """The verbs of one host. `require` raises HostError where a console may not ask for something."""

    host: SwitchHost
    publish: Publish
    require: Callable[[Verbs], None]
    observe: Observer
    _carrier: SwitchCarrier = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_carrier", SwitchCarrier(self.host, self.tell, self.observe))

    @property
    def verbs(self) -> dict[str, Callable[..., None]]:
        """By the names of their tasks."""
        return {
            "host.start_switching": self.start,
            "host.stop_switching": self.stop,
            "host.report_switching": self.report,
        }

    @reads(arguments.document(SwitchOrder), arguments.asker)
    def start(self, order: SwitchOrder, by: str) -> None:
        """Begin to switch the caches of a pool."""
        try:
            self.require(Verbs.CHANGE)
            self.tell(start_switching(self.host, order, by))
        except HostError as error:
            self._tell_error(order.pool_guid, error)

    @reads(arguments.pool_guid, arguments.asker)
    def stop(self, pool_guid: str, by: str) -> None:
        """Switch no more, and put back what is out. Who may ask for a change or for an undo may ask for that."""
        try:
            self._require_either()
            self.tell(stop_switching(self.host, pool_guid, by, self.observe))
        except HostError as error:
            self._tell_error(pool_guid, error)

    @reads(arguments.pool_guid)
    def report(self, pool_guid: str) -> None:
        """Publish where the newest of a pool stands; nothing where there is none."""
        record = self.host.records.newest_of(pool_guid)
        if record:
            self.tell(record)

    def report_all(self) -> None:
        """Publish the newest of each pool."""
        for guid in sorted({each.pool_guid for each in self.host.records.all()}):
            self.report(guid)

    def carry_on(self) -> None:
        """Switch, count and put back what is due. Not a task: the worker does it by its own clock."""
        self._carrier.carry_on()

    def rest(self) -> None:
        """Put back what is out, as the worker ends."""
        self._carrier.rest()

    def end_before_undo(self, run_id: str) -> None:
        """End what switches the cache of a run that is about to be taken back.

        Raises:
            HostError: it could not be ended.
        """
        ended = end_before_undo(self.host, run_id, self.observe)
        if ended:
            self.tell(ended)

    def findings(self) -> tuple[Finding, ...]:
        """Caches that could not be put back."""
        return tuple(filter(None, map(not_back, self.host.records.all())))

    def tell(self, record: CacheSwitching) -> None:
        """Publish a record."""
        self.publish("console.store_switching", to_document(record))

    def _require_either(self) -> None:
        try:
            self.require(Verbs.UNDO)
        except HostError:
            self.require(Verbs.CHANGE)

    def _tell_error(self, pool_guid: str, error: HostError) -> None:
        log.warning("switching: %s", error)
        self.publish("console.store_switching_error", pool_guid, to_document(error.statement))
