"""Whether a pool was ever trimmed, as `zpool status -j -t` tells of its leaves."""

import json

import pytest

from nasadvisor.host.adapters.zpool_questions import was_trimmed
from nasadvisor.host.errors import OutputUnreadable
from tests.unit.fakes import FakeRunner

COMMAND = "zpool status -j -t -P -p tank"


def told(*data: dict[str, str], special: dict[str, str] | None = None, cache: dict[str, str] | None = None) -> str:
    leaves = {f"/dev/d{number}": each for number, each in enumerate(data)}
    pool = {
        "name": "tank",
        "vdevs": {"tank": {"vdev_type": "root", "vdevs": {"mirror-0": {"vdev_type": "mirror", "vdevs": leaves}}}},
        "special": {"/dev/s": special} if special else {},
        "l2cache": {"/dev/c": cache} if cache else {},
    }
    return json.dumps({"pools": {"tank": pool}})


NEVER = {"trim_state": "UNTRIMMED", "trim_notsup": "0"}
DONE = {"trim_state": "COMPLETE", "trim_notsup": "0"}
CANNOT = {"trim_notsup": "1"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (told(NEVER, NEVER), False),
        (told(NEVER, DONE), True),
        (told(CANNOT, CANNOT), None),
        (told(CANNOT, NEVER), False),
        (told(CANNOT, special=NEVER), False),
        (told(CANNOT, special=DONE), True),
        (told(CANNOT, cache=NEVER), None),
    ],
)
def test_one_leaf_that_was_trimmed_is_enough_and_one_that_cannot_be_says_nothing(
    answer: str, expected: bool | None
) -> None:
    assert was_trimmed(FakeRunner({COMMAND: answer}), "tank") is expected


@pytest.mark.parametrize("answer", ["", "[]", '{"pools": {}}', told({"trim_state": ["x"]})])  # type: ignore[dict-item]
def test_another_answer_is_refused(answer: str) -> None:
    with pytest.raises(OutputUnreadable):
        was_trimmed(FakeRunner({COMMAND: answer}), "tank")
