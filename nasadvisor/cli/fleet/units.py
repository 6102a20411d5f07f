"""Which services of systemd run here, without asking systemd."""

from pathlib import Path


def runs(root: Path, unit: str) -> bool:
    """Whether a service has processes, as its control group tells (cgroup-v2, `cgroup.events`)."""
    try:
        return "populated 1" in (root / "sys/fs/cgroup/system.slice" / unit / "cgroup.events").read_text()
    except OSError:
        return False
