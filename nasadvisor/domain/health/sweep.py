"""What one round of asking every disk for its health brought: the report of a SMART sweep.

The answers themselves are smartctl's own JSON, compressed; `domain.health.smart` reads them.
"""

from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.identity import DiskIdentity


class SweepOutcome(StrEnum):
    """How asking one disk went."""

    READ = "read"
    ASLEEP = "asleep"  # left asleep
    UNSUPPORTED = "unsupported"  # it has no SMART, or hides behind a bridge or controller that passes nothing on
    FAILED = "failed"  # it should have answered and did not


class ExitBit(IntFlag):
    """The exit status of smartctl, bit by bit: smartctl(8), "EXIT STATUS"."""

    COMMAND_LINE = 1
    OPEN_FAILED = 2
    COMMAND_FAILED = 4  # some command to the disk failed, or a checksum in an answer was wrong: the rest stands
    DISK_FAILING = 8
    PREFAIL_NOW = 16
    PREFAIL_PAST = 32
    ERROR_LOG = 64
    SELF_TEST_LOG = 128


UNUSABLE: Final = ExitBit.COMMAND_LINE | ExitBit.OPEN_FAILED
"""With one of these there is no answer; with any of the others there is."""

EXIT_WORDS: Final[dict[ExitBit, str]] = {
    ExitBit.COMMAND_LINE: _("smartctl did not recognise the command line or the device type"),
    ExitBit.OPEN_FAILED: _("the device could not be opened or did not identify itself"),
    ExitBit.COMMAND_FAILED: _("some of its responses were missing or damaged"),
    ExitBit.DISK_FAILING: _("the disk reports that it is failing"),
    ExitBit.PREFAIL_NOW: _("an attribute that predicts failure is at its threshold"),
    ExitBit.PREFAIL_PAST: _("an attribute was at its threshold in the past"),
    ExitBit.ERROR_LOG: _("its error log is not empty"),
    ExitBit.SELF_TEST_LOG: _("its self-test log contains failures"),
}


def exit_words(status: int) -> tuple[str, ...]:
    """What an exit status says, as templates to translate."""
    return tuple(words for bit, words in EXIT_WORDS.items() if status & bit)


@dataclass(frozen=True)
class DiskAnswer:
    """What one disk answered.

    `taken_at` is UTC in ISO 8601. `device_type` is the -d option that worked, "" where none was needed. `problem` says
    why there is no answer, None if there is one. `smartctl`, `id_ctrl` and `ocp` are JSON texts, packed by
    `documents.pack`, "" where there is none: of `smartctl -x -j`, `nvme id-ctrl -o json` and `nvme ocp smart-add-log -o
    json`.
    """

    disk_key: str
    identity: DiskIdentity
    taken_at: str
    outcome: SweepOutcome
    exit_status: int
    device_type: str
    seconds: float
    problem: Statement | None = None
    smartctl: str = ""
    id_ctrl: str = ""
    ocp: str = ""


@dataclass(frozen=True)
class Answers:
    """Some of the answers of a sweep: they travel in parts."""

    node: str
    answers: tuple[DiskAnswer, ...]


@dataclass(frozen=True)
class SweepReport:
    """A sweep that ended. `disk_keys` are the disks that were asked; the counts add up to them."""

    node: str
    started_at: str
    ended_at: str
    disk_keys: tuple[str, ...]
    read: int = 0
    asleep: int = 0
    unsupported: int = 0
    failed: int = 0


class SelfTest(StrEnum):
    """The self-tests that a disk can be told to run; smartctl(8), -t."""

    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True)
class SelfTestStart:
    """A disk of a host has begun to test itself."""

    node: str
    disk_key: str
