"""Where the lab keeps things."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SCENARIOS = HERE / "scenarios"
LOCK_FILE = PROJECT / "requirements" / "run.txt"
# In the guest: the product's Python packages, for tests that run its source without installing it.
GUEST_VENV = "/opt/nasadvisor-venv"


def cache_directory() -> Path:
    """The lab's cache: images, and a directory for each instance below `run/`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "nasadvisor" / "lab"


def instance_directory(name: str) -> Path:
    """The state of one instance."""
    return cache_directory() / "run" / name
