"""The text that Prometheus scrapes: its text format 0.0.4.

Source: docs/instrumenting/exposition_formats.md of prometheus/docs. prometheus_client asks of every sample anew whether
the names of its labels are valid, two thirds of the time of a scrape of 1,000 disks. Here the labels of a disk are
written once; that library's parser reads the text in the tests.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Family:
    """All samples of one metric. A counter's name ends in `_total`."""

    name: str
    documentation: str
    kind: Literal["gauge", "counter"] = "gauge"
    samples: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        """One more sample; `labels` as `labels_text` has them, "" for none."""
        self.samples.append(f"{self.name}{{{labels}}} {value}\n" if labels else f"{self.name} {value}\n")


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels with their values, for `Family.add`; more can be put behind a comma."""
    return ",".join([f'{name}="{_escaped(value)}"' for name, value in labels.items()])


def exposition(families: Iterable[Family]) -> str:
    """All of them."""
    return "".join([part for family in families for part in (*_head(family), *family.samples)])


def _head(family: Family) -> tuple[str, str]:
    documentation = family.documentation.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {family.name} {documentation}\n", f"# TYPE {family.name} {family.kind}\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
