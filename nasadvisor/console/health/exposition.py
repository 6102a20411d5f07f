"""Metrics as Prometheus reads them: its text format, version 0.0.4.

The labels of a thing are made into text once, however many metrics it has. Names are our own, so nobody asks of each
sample whether it is a valid one: that, in prometheus_client, was most of the time of a scrape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass
class Metric:
    """One metric of all things that have it. Help is one line; the name of a counter ends with `_total`."""

    name: str
    help: str
    type: str = "gauge"
    lines: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        """A sample; the labels as `labels_text` made them."""
        self.lines.append(f"{self.name}{{{labels}}} {value!r}\n")


def labels_text(**labels: str) -> str:
    """Labels between the braces; those of several calls are put together with commas."""
    return ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in labels.items())


def exposition(metrics: Iterable[Metric]) -> bytes:
    """The whole text."""
    parts: list[str] = []
    for metric in metrics:
        parts.append(f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.type}\n")
        parts += metric.lines
    return "".join(parts).encode()
