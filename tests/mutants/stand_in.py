"""A plugin of pytest that imports a mutant in place of the module on disk: for what stands outside functions.

It has to be loaded before anything of the package is.
"""

import os
import resource
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

MODULE: Final = "STAND_IN_FOR"
FILE: Final = "STAND_IN"
"""In the environment: the name of the module, and the file that is read in its place."""

CPU_S: Final = 600
"""How much of a processor the tests may take: a mutant may go round and round."""


class StandIn:
    """What finds one module elsewhere (a meta path finder)."""

    def __init__(self, name: str, file: Path) -> None:
        self._name = name
        self._file = file

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Of this module alone. A package still finds its modules where they are."""
        del target
        if name != self._name:
            return None
        folder = Path(path[0], name.rpartition(".")[2]) if path else None
        inside = [str(folder)] if folder and folder.is_dir() else None
        return spec_from_file_location(name, self._file, submodule_search_locations=inside)


if name := os.environ.get(MODULE):
    assert name not in sys.modules, name
    sys.meta_path.insert(0, StandIn(name, Path(os.environ[FILE])))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
