"""One piece of work at a time, in a thread of its own: it takes hours, and the worker has other things to do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread


@dataclass
class LongJob:
    """The work that is under way. The thread ends with the process: what was told by then stays."""

    name: str
    _one: Lock = field(default_factory=Lock)
    _thread: Thread | None = None

    def take(self) -> bool:
        """Make it one's own; False while another has it. Whoever has it must `run`."""
        return self._one.acquire(blocking=False)

    def run(self, work: Callable[[], None]) -> None:
        """Begin the work; the next may have its turn when it ends."""
        self._thread = Thread(target=self._run, args=(work,), name=self.name, daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Until it has ended."""
        if self._thread:
            self._thread.join(timeout_s)

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            self._one.release()
