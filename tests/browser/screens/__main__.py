"""`python -m tests.browser.screens [STATE …]`: a picture of every page in every state, and what is wrong with it.

Into build/screens: the pictures, what was seen of each (`STATE.json`), and index.html to look through. A state takes
about ten minutes; `--page disk` and `--variant 390-.*-de` take only what matches.
"""

import argparse
import os
import sys
from pathlib import Path

import pytest

from tests.browser.screens.index import write_index
from tests.browser.screens.matrix import LANGUAGES, PAGE, STATES, VARIANT, WIDTHS


def main() -> int:
    """Take them state by state."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screens", description=__doc__)
    parser.add_argument("state", nargs="*", choices=[*STATES, []], help="all where none is named")
    parser.add_argument("--page", default="", help="names of addresses that match this")
    widths, languages = "|".join(map(str, WIDTHS)), "|".join(LANGUAGES)
    parser.add_argument("--variant", default="", help=f"WIDTH-THEME-LANGUAGE: {widths}, light|dark, {languages}")
    asked = parser.parse_args()
    os.environ |= {PAGE: asked.page, VARIANT: asked.variant}
    taken = Path(__file__).with_name("take.py")
    result = pytest.main(
        ["-q", "-p", "no:cacheprovider", *(f"{taken}::test_take[{each}]" for each in asked.state or STATES)]
    )
    print(write_index())
    return int(result)


if __name__ == "__main__":
    sys.exit(main())
