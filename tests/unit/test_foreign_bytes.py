"""Whatever a tool, a file, a host or a console says: a reader tells it, or raises the error that it says it raises."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.edits import edited, some_edits
from tests.fuzz.readers import READERS

INPUTS = 300
LONGEST_S = 5.0
"""Of a processor, for one input; none of them takes a hundredth of it."""

SEEDS = st.integers(0, 2**32 - 1)
"""Of the edits, which are drawn from this one number: hypothesis takes longer to draw one than a reader to read."""


@pytest.mark.parametrize("name", sorted(READERS))
def test_what_was_recorded_is_read(name: str) -> None:
    for seed in READERS[name].seeds:
        READERS[name].check(seed)


@pytest.mark.parametrize("name", sorted(READERS))
def test_nothing_but_its_own_error_comes_of_any_bytes(name: str) -> None:
    reader = READERS[name]

    @settings(max_examples=INPUTS)
    @given(SEEDS)
    def read(seed: int) -> None:
        chance = random.Random(seed)
        data = edited(chance.choice(reader.seeds), some_edits(chance))
        began = time.process_time()
        reader.check(data)
        assert time.process_time() - began < LONGEST_S, data

    read()
