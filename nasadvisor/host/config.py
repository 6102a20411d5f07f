"""Settings of the host part: one small frozen object, read from the environment.

The systemd units load /etc/nasadvisor/environment; for the command line the same file is read here, so that both see
the same host.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ENVIRONMENT_FILE: Final = Path("/etc/nasadvisor/environment")


@dataclass(frozen=True)
class HostConfig:
    """Where the host part keeps its things.

    `node` is this machine's name towards the console; `pool_reader` is "auto", "json" or "libzfs".
    """

    node: str
    state_dir: Path
    run_dir: Path
    redis_url: str
    pool_reader: str

    @property
    def journals(self) -> Path:
        """The directory of all runs."""
        return self.state_dir / "runs"

    @property
    def leftovers(self) -> Path:
        """The directory of records of measurements that may have left something."""
        return self.state_dir / "probes"

    @property
    def measurements(self) -> Path:
        """The directory of what was measured by writing."""
        return self.state_dir / "measurements"

    @property
    def lock_path(self) -> Path:
        """The file whose flock means: somebody is changing this host."""
        return self.run_dir / "host.lock"


def load_config() -> HostConfig:
    """The settings of this machine: the process environment first, then the environment file, then defaults."""
    return config_from(load_environment())


def load_environment() -> dict[str, str]:
    """The process environment, and from the environment file what that does not say."""
    return {**_read_environment_file(ENVIRONMENT_FILE), **os.environ}


def config_from(environment: Mapping[str, str]) -> HostConfig:
    """Settings from NASADVISOR_* variables: NODE, HOST_STATE, RUN_DIR, REDIS and POOL_READER."""
    run_dir = Path(environment.get("NASADVISOR_RUN_DIR", "/run/nasadvisor"))
    return HostConfig(
        node=environment.get("NASADVISOR_NODE") or platform.node() or "localhost",
        state_dir=Path(environment.get("NASADVISOR_HOST_STATE", "/var/lib/nasadvisor/host")),
        run_dir=run_dir,
        redis_url=environment.get("NASADVISOR_REDIS", f"redis+socket://{run_dir}/redis.sock"),
        pool_reader=environment.get("NASADVISOR_POOL_READER", "auto"),
    )


def _read_environment_file(path: Path) -> dict[str, str]:
    """KEY=value lines as in systemd.exec(5), without quoting; nothing where the file is absent or not for us."""
    try:
        lines = path.read_text().splitlines()
    except (FileNotFoundError, PermissionError):
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
