"""How a document of an earlier form becomes one of the next: `KIND.py` with its `UPGRADES`, from number 1 on.

An upgrade is a pure function of one document (without its number) to another. Those from a document's number on are
chained, and only then does the strict codec read the result. An upgrade is frozen once it is released, and uses nothing
of the domain, which goes on changing. Whoever changes the shape of a kind appends an upgrade to the file of the kind,
names it in `nasadvisor/stored/kinds.py` and runs `make freeze`. The first release has none yet.
"""

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Upgrade = Callable[[Document], Document]
