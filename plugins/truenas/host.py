"""TrueNAS SCALE on the host: its version, what it does to slices, its mail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Notice, Rewrite, Veto
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.answer import Answer
from nasadvisor.host.adapters.process import Runner
from nasadvisor.host.config import load_environment
from nasadvisor.host.errors import HostError
from plugins.contract.host import HostPlatform
from plugins.truenas import PLATFORM_NAME, SUPPORTS, hazards, start
from plugins.truenas.api.access import access_from, is_set_up
from plugins.truenas.api.connection import Connection, local_connection, session_with
from plugins.truenas.api.errors import CallRefused
from plugins.truenas.api.jobs import send_mail
from plugins.truenas.api.reading import listed, objects_of
from plugins.truenas.guests import guest_devices

TIERS_SINCE: Final = "v26.0.0"
"""The API version that has them."""

QUERY: Final = "zfs.tier.rewrite_job_query"
STATUS: Final = "zfs.tier.rewrite_job_status"

NO_SUCH_METHOD: Final = -32601
"""JSON-RPC 2.0, section 5.1: what the first two betas of 26 answer."""

MOST_JOBS: Final = 200
"""[policy] Each is asked by itself; those that run are asked first, then as TrueNAS lists them."""

RUNNING: Final = "RUNNING"


def rewrites(connection: Connection) -> tuple[Rewrite, ...]:
    """The jobs that have begun, whether they run still or not.

    Raises:
        HostError: TrueNAS cannot be asked.
    """
    if connection.version < TIERS_SINCE:
        return ()
    try:
        jobs = objects_of(QUERY, connection.call(QUERY, {}))
    except CallRefused as error:
        if error.number == NO_SUCH_METHOD:
            return ()
        raise
    asked = sorted(jobs, key=lambda job: job.text("status") != RUNNING)[:MOST_JOBS]
    return tuple(_begun(connection, asked))


def _begun(connection: Connection, jobs: list[Answer]) -> Iterator[Rewrite]:
    """One that is queued has no figures, and one that has just begun has none yet: they are written once a minute."""
    for job in jobs:
        dataset, is_running = job.text("dataset_name"), job.text("status") == RUNNING
        stats = _stats(connection, job.text("tier_job_id"))
        if stats:
            times = stats.number("initial_time"), stats.number("update_time")
            yield Rewrite(dataset, is_running, *times, stats.number("count_bytes"))
        elif is_running:
            yield Rewrite(dataset, is_running, 0, 0, 0)


def _stats(connection: Connection, job: str) -> Answer | None:
    """The figures of a job; None where there are none, as of one that is gone by now."""
    try:
        told = listed(STATUS, connection.call(STATUS, {"tier_job_id": job}))
    except CallRefused:
        return None
    return told.child("stats") if told.fields.get("stats") is not None else None


ANSWER_S: Final = 20.0
"""For each call to the middleware of this host; a report waits for it."""


class TrueNASHost(HostPlatform):
    """TrueNAS SCALE 25.10 and 26."""

    name = PLATFORM_NAME
    supports = SUPPORTS

    def __init__(self, root: Path = Path("/"), program: Path = start.PROGRAM) -> None:
        self.root = root
        self.program = program

    @property
    def notifies(self) -> bool:  # type: ignore[override]
        """Only where somebody entered where TrueNAS is, and an API key."""
        return is_set_up(load_environment())

    def detect(self) -> bool:
        """The middleware's client is part of every installation."""
        return (self.root / "usr/bin/midclt").exists()

    def version(self, runner: Runner) -> str:
        """From the file that the middleware reads it from (middlewared/utils, sw_info), "25.10.1"."""
        try:
            manifest = json.loads((self.root / "data/manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return ""
        version = manifest.get("version") if isinstance(manifest, dict) else None
        return version if isinstance(version, str) else ""

    def tail_bytes(self) -> int:
        """ "Expand pool" writes 1 MiB just before 2 GiB before the end of the disk (middleware, pool_/expand.py)."""
        return 2 * GIB + MIB

    def vetoes(self, runner: Runner, inventory: Inventory) -> tuple[Veto, ...]:
        """Slices only on SSDs that are blank, and that no guest was given.

        Raises:
            HostError: TrueNAS does not say what its guests were given.
        """
        with local_connection(self.root, ANSWER_S) as connection:
            given = guest_devices(connection)
        return (*hazards.vetoes(inventory), *hazards.vetoes_of_guests(given, inventory, self.root))

    def findings(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """What not to do in TrueNAS's own pages while a pool has slices, and whether we start at the next boot."""
        return (*hazards.findings(inventory), *self._of_next_start())

    def cautions(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """That the vendor does not support slices."""
        return (hazards.NOT_SUPPORTED,)

    def rewrites(self, runner: Runner, inventory: Inventory) -> tuple[Rewrite, ...]:
        """The jobs of its tiers.

        Raises:
            HostError: TrueNAS cannot be asked.
        """
        with local_connection(self.root, ANSWER_S) as connection:
            return rewrites(connection)

    def _of_next_start(self) -> tuple[Finding, ...]:
        if not start.is_bundle(self.program):
            return ()
        try:
            with local_connection(self.root, ANSWER_S) as connection:
                scripts = start.init_scripts(connection)
        except HostError as error:
            return (start.not_asked(error.statement),)
        return tuple(start.findings(self.program, self.root, scripts))

    def notify(self, runner: Runner, notice: Notice) -> None:
        """By `mail.send`: TrueNAS takes no alerts of others."""
        access = access_from(load_environment())
        send_mail(lambda: session_with(access), notice.subject, notice.text)


PLATFORM = TrueNASHost()
