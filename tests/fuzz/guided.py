"""`python -m tests.fuzz.guided READER RUNS`: one reader, its inputs chosen by the code they reach (Atheris, libFuzzer).

The corpus is what was recorded; what is found to reach more code is kept for as long as it runs. libFuzzer ends a run
that takes too long or too much memory, and prints the input that did.
"""

import atexit
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

import atheris
import django

SLOWEST_S = 10
LARGEST_MIB = 2048
"""Of the whole process, instrumented code and corpus included."""

LONGEST_BYTES = 65536


def main(name: str, runs: int) -> None:
    """Feed one reader. It ends the process: with 0, or libFuzzer's code for what it found."""
    with tempfile.TemporaryDirectory(prefix="nasadvisor-fuzz-") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "nasadvisor.settings", "NASADVISOR_CONSOLE_STATE": folder}
        with atheris.instrument_imports(include=["nasadvisor", "plugins"]):
            django.setup()
            from tests.fuzz.readers import READERS  # noqa: PLC0415 - only what is imported here is instrumented
        reader = READERS[name]
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, seed in enumerate(reader.seeds):
            (corpus / str(number)).write_bytes(seed)
        bounds = (f"-timeout={SLOWEST_S}", f"-rss_limit_mb={LARGEST_MIB}", f"-max_len={LONGEST_BYTES}")
        options = (f"-atheris_runs={runs}", f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=0")
        atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # libFuzzer's own would end Python while it ends
        atheris.Setup([sys.argv[0], *bounds, *options, str(corpus)], reader.check, custom_mutator=_mutated)
        atheris.Fuzz()


def _mutated(data: bytes, most_bytes: int, seed: int) -> bytes:
    """Every other time by words, else by bits and bytes as libFuzzer does."""
    from tests.fuzz.edits import edited, some_edits  # noqa: PLC0415 - as above

    chance = random.Random(seed)
    if chance.random() < 0.5:
        return edited(data, some_edits(chance))[:most_bytes]
    return bytes(atheris.Mutate(data, most_bytes))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
