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

from nasadvisor.domain.fleet.joining import ConsoleAccess
from nasadvisor.domain.fleet.permissions import ALL, NONE, Verbs, permissions_of
from nasadvisor.stored.documents import DocumentError, from_json

ENVIRONMENT_FILE: Final = Path("/etc/nasadvisor/environment")


@dataclass(frozen=True)
class HostConfig:
    """Where the host part keeps its things.

    `run_dir` is a directory of its own, in which only root can write: what is locked or mounted there is followed by
    root. The message service's socket lies elsewhere, in a directory of the console.
    `allowed` is what a console may ask beyond looking; the command line of this host still does all.
    `has_curves` is whether reads are followed all day, for the cache curve of each pool.
    `has_spells` is whether it is traced all day what programs wait for.
    `node` is this machine's name towards the console; `pool_reader` is "auto", "json" or "libzfs". `access` is how the
    console is reached if it is on another machine, None if it is on this one.
    """

    node: str
    state_dir: Path
    run_dir: Path
    redis_url: str
    pool_reader: str
    access: ConsoleAccess | None = None
    allowed: frozenset[Verbs] = ALL
    has_curves: bool = True
    has_spells: bool = True

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
    def commits(self) -> Path:
        """The directory of what each pool's programs committed, as it was traced last."""
        return self.state_dir / "commits"

    @property
    def spells(self) -> Path:
        """The directory of what programs waited for, hour by hour."""
        return self.state_dir / "spells"

    @property
    def access_path(self) -> Path:
        """The file that says how the console is reached if it is on another machine."""
        return access_path_in(self.state_dir)

    @property
    def lock_path(self) -> Path:
        """The file whose flock means: somebody is changing this host."""
        return self.run_dir / "host.lock"

    @property
    def probe_lock_path(self) -> Path:
        """The file whose flock means: a pool is being probed."""
        return self.run_dir / "probe.lock"


def load_config() -> HostConfig:
    """The settings of this machine: the process environment first, then the environment file, then defaults."""
    return config_from(load_environment())


def load_environment() -> dict[str, str]:
    """The process environment, and from the environment file what that does not say."""
    return {**read_environment_file(ENVIRONMENT_FILE), **os.environ}


def config_from(environment: Mapping[str, str]) -> HostConfig:
    """Settings from NASADVISOR_* variables.

    They are NODE, HOST_STATE, HOST_RUN_DIR, RUN_DIR, REDIS, POOL_READER, CONSOLE_MAY, WATCH_ONLY, CURVES
    and SPELLS.
    """
    sockets = Path(environment.get("NASADVISOR_RUN_DIR", "/run/nasadvisor"))
    state_dir = Path(environment.get("NASADVISOR_HOST_STATE", "/var/lib/nasadvisor/host"))
    access = _read_access(access_path_in(state_dir))
    watch_only = is_yes(environment.get("NASADVISOR_WATCH_ONLY", "")) or watch_only_path_in(state_dir).exists()
    return HostConfig(
        node=access.node if access else environment.get("NASADVISOR_NODE") or platform.node() or "localhost",
        state_dir=state_dir,
        run_dir=Path(environment.get("NASADVISOR_HOST_RUN_DIR", "/run/nasadvisor-host")),
        redis_url=environment.get("NASADVISOR_REDIS", f"redis+socket://{sockets}/redis.sock"),
        pool_reader=environment.get("NASADVISOR_POOL_READER", "auto"),
        access=access,
        allowed=NONE if watch_only else permissions_of(environment.get("NASADVISOR_CONSOLE_MAY", "")),
        has_curves=is_yes(environment.get("NASADVISOR_CURVES") or "yes"),
        has_spells=is_yes(environment.get("NASADVISOR_SPELLS") or "yes"),
    )


def is_yes(said: str) -> bool:
    """Whether a setting that forbids something is on; what is not understood counts as on."""
    return said.strip().lower() not in ("", "0", "false", "no", "off")


def watch_only_path_in(state_dir: Path) -> Path:
    """The mark that `nasadvisor join --watch-only` leaves."""
    return state_dir / "watch-only"


def access_path_in(state_dir: Path) -> Path:
    """The file that `nasadvisor join` writes."""
    return state_dir / "console.json"


def _read_access(path: Path) -> ConsoleAccess | None:
    """How the console is reached; None where this host has not joined one, and for whoever may not read it.

    Raises:
        DocumentError: the file is damaged.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        return from_json(ConsoleAccess, text)
    except DocumentError as error:
        advice = "Remove it, then join the console again with `nasadvisor join`."
        raise DocumentError(f"{path} is damaged. {advice} {error}") from error


def read_environment_file(path: Path) -> dict[str, str]:
    """KEY=value lines as in systemd.exec(5), without quoting; nothing where the file is absent or not for us."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, PermissionError):
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
