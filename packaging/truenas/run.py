# ruff: noqa: INP001 - it is copied beside the packages
"""Run a module of NAS Advisor with TrueNAS's own Python, from a dataset: nothing is installed into TrueNAS.

    python3 -I -S run.py MODULE [ARGUMENT…]

The packages lie beside this file, one directory for each version of Python, so that an update of TrueNAS that brings
another one is met. `-I -S`: neither the caller's nor TrueNAS's packages get in.
"""

import os
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent
DATASET = PROGRAM.parent


def settings_in(lines: Iterable[str]) -> dict[str, str]:
    """NAME=value lines, as in packaging/environment."""
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def environment(dataset: Path) -> dict[str, str]:
    """The settings of the dataset, and where state and socket are; /etc does not survive an update.

    The socket lies where the containers can bind it; what root locks stays in /run, which is root's alone.
    """
    places = {"NASADVISOR_HOST_STATE": str(dataset / "host"), "NASADVISOR_RUN_DIR": str(dataset / "run")}
    file = dataset / "environment"
    return {**places, **(settings_in(file.read_text(encoding="utf-8").splitlines()) if file.exists() else {})}


def packages(program: Path, version: tuple[int, int]) -> Path:
    """The packages for a version of Python; ends the program with a sentence where there are none."""
    directory = program / f"python{version[0]}.{version[1]}"
    if not directory.is_dir():
        sys.exit(
            f"NAS Advisor has no packages for the Python {version[0]}.{version[1]} of this TrueNAS. Nothing was "
            f"changed. Make the bundle again with packaging/truenas/bundle.sh and unpack it over {program.parent}."
        )
    return directory


def main() -> None:
    """Run the module that is named first."""
    for name, value in environment(DATASET).items():
        os.environ.setdefault(name, value)
    sys.path[:0] = [str(PROGRAM / "app"), str(packages(PROGRAM, sys.version_info[:2]))]
    sys.dont_write_bytecode = True
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
