"""How a document of an earlier form becomes one of the next: `KIND.py` with `UPGRADES`, from number 1 on.

Each step is a pure function of one document (without its number) to another; it is chained with those after it, and
only then does the strict codec read the result. A step is frozen once it is released, and uses nothing of the domain:
that goes on changing. Whoever changes the shape of a kind appends a step here and runs `make freeze`.
"""

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Upgrade = Callable[[Document], Document]
