"""A million inputs for all readers together, guided by coverage: none ends in anything but the reader's own error."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.readers import READERS

INPUTS: Final = 1_000_000
EACH: Final = -(-INPUTS // len(READERS))
HERE: Final = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="there is no Atheris for this Python"),
]


@pytest.mark.parametrize("name", sorted(READERS))
def test_no_input_that_reaches_new_code_ends_in_a_foreign_error(name: str) -> None:
    command = [sys.executable, "-m", "tests.fuzz.guided", name, str(EACH)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-6000:]
