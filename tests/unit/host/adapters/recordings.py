"""The recorded answers of real OpenZFS 2.3 about pools of many shapes: tests/fixtures/zpool."""

import json
from pathlib import Path
from typing import Any

from tests.unit.fakes import FakeRunner

FOLDER = Path(__file__).parents[3] / "fixtures/zpool"
SHAPES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recording(shape: str) -> dict[str, Any]:
    """What was recorded of one pool: `commands` with their answers, and `libzfs`, the same pool through py-libzfs."""
    document: dict[str, Any] = json.loads((FOLDER / f"{shape}.json").read_text(encoding="utf-8"))
    return document


def runner(shape: str) -> FakeRunner:
    """A runner that gives the recorded answers."""
    return FakeRunner({command: as_printed(answer) for command, answer in recording(shape)["commands"].items()})


def as_printed(answer: object) -> str:
    """An answer as the tool prints it."""
    return answer if isinstance(answer, str) else json.dumps(answer)
