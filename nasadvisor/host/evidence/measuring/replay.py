"""The newest trace of a pool's commits, kept on the host, and replaying it on the slice of a test."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.log_blocks import CommitTrace, Replayed
from nasadvisor.host.adapters.player import play, play_text
from nasadvisor.host.adapters.process import Runner
from nasadvisor.host.change.journal import write_whole
from nasadvisor.stored.documents import DocumentError, from_json, to_json

PLAY_FILE: Final = "replay.json"


def keep_commits(directory: Path, trace: CommitTrace) -> None:
    """Keep a trace in the place of the one before, if it can be replayed.

    Raises:
        JournalUnwritable: the directory is read-only or full.
    """
    if trace.is_enough:
        write_whole(_path(directory, trace.pool_guid), to_json(trace))


def kept_commits(directory: Path, guid: str) -> CommitTrace | None:
    """The newest trace of a pool that can be replayed; None without one, and if it cannot be read."""
    try:
        trace = from_json(CommitTrace, _path(directory, guid).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, DocumentError):
        return None
    return trace if trace.is_enough and trace.pool_guid == guid else None


def replay_on(runner: Runner, trace: CommitTrace, slice_path: str, directory: Path) -> Replayed:
    """Write the busiest blocks of a trace to a slice, as they came. They are handed over in a file of the directory.

    Raises:
        JournalUnwritable: the directory is read-only or full.
        HostError: what writes them is missing, failed, or answered something else.
    """
    file = directory / PLAY_FILE
    write_whole(file, play_text(trace.busiest))
    try:
        return play(runner, trace, slice_path, file)
    finally:
        with suppress(OSError):
            file.unlink()


def _path(directory: Path, guid: str) -> Path:
    return directory / f"{guid}.json"
