"""The drive health samples that live beside the repository, where they are there. They are never copied into it."""

import csv
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[2]
DATA = Path(os.environ.get("NASADVISOR_DATA", HERE.parent / "shared" / "data"))
"""Set NASADVISOR_DATA to the folder with smartctl-json, wear-series and wear-decode."""

needs_data = pytest.mark.skipif(
    not (DATA / "smartctl-json").is_dir(), reason=f"no drive samples in {DATA}; NASADVISOR_DATA names their folder"
)


def rows(name: str) -> list[dict[str, str]]:
    """A CSV file of the samples."""
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def lines(name: str) -> Iterator[Any]:
    """A compressed file of JSON lines."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def document(name: str) -> Any:
    """One smartctl document; None where it is broken on purpose."""
    try:
        return json.loads((DATA / "smartctl-json" / name).read_bytes())
    except ValueError:
        return None


def smartctl_documents() -> list[Any]:
    """All of them, or none where the samples are absent."""
    return [document(path.name) for path in sorted((DATA / "smartctl-json").glob("*.json"))]
