"""What a benchmark yields."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number beside its budget and what a peer reaches; each as a text with its unit."""

    name: str
    budget: str
    measured: str
    peer: str = "-"
    met: bool | None = None


class Skipped(Exception):  # noqa: N818 - it is no error
    """This benchmark cannot run here; the message says what it needs."""
