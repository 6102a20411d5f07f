"""docs/reference/mutants.md: the survivors that no test can kill, each with the reason."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

from tests.mutants.results import Change

PAGE: Final = Path(__file__).parents[2] / "docs/reference/mutants.md"
_MODULE: Final = re.compile(r"### (?P<module>[a-z_/]+)")
_LISTED: Final = re.compile(r"- `(?P<function>[^`]+)`: `(?P<before>[^`]*)` → `(?P<after>[^`]*)`: (?P<why>.+)")


def listed_changes(text: str) -> Counter[Change]:
    """What the page lists as equivalent. A change that is possible twice in a function has to be there twice.

    Raises ValueError for a line that begins like one of the list and is not.
    """
    found: Counter[Change] = Counter()
    module = ""
    for line in text.splitlines():
        if heading := _MODULE.fullmatch(line):
            module = heading["module"]
        elif line.startswith("- `"):
            entry = _LISTED.fullmatch(line)
            if not (entry and module):
                raise ValueError(f"docs/reference/mutants.md: this is no mutant with a reason: {line}")
            found[Change(module, entry["function"], entry["before"], entry["after"])] += 1
    return found
