"""Asking one disk for its health with smartctl(8) and nvme(1). Nothing is concluded from the answer here.

Every exit code is an answer: smartctl reports what it found bit by bit (`domain.health.sweep.ExitBit`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from nasadvisor.domain.health.smart.values import at
from nasadvisor.domain.health.sweep import UNUSABLE, ExitBit, SelfTest, SweepOutcome
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Bus, Disk
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import NO_REASON, CommandFailed, CommandTimedOut, SelfTestRefused

TIMEOUT_S: Final = 60.0
"""A healthy disk answers within some seconds; one that retries sectors may take a minute."""

ANY_CODE: Final = frozenset(range(256))

ASLEEP_CODE: Final = 127
"""Our own word for "asleep" (-n standby,127): bit 0 with any other never comes from smartctl itself."""

AUTO: Final = ""
"""No -d option: smartctl finds the type itself."""

DEVICE_TYPES: Final[Mapping[Bus, tuple[str, ...]]] = {
    # Named where it is known, because finding it out can spin a sleeping disk up (smartctl(8), -n).
    Bus.SATA: ("sat", AUTO),
    # "sat" last: some controllers show SATA disks so that neither udev nor smartctl sees what they are.
    Bus.SAS: ("scsi", AUTO, "sat"),
    Bus.NVME: ("nvme", AUTO),
    # The drive database knows most bridges; "sat" is what the others speak if they pass anything on. The vendors' own
    # types are not tried blindly: smartctl(8) warns of what they do to other bridges.
    Bus.USB: (AUTO, "sat"),
    Bus.OTHER: (AUTO,),
    Bus.VIRTIO: (),
    Bus.MMC: (),
}
"""The device types to try, by bus, in order; none where there is nothing to ask."""

HIDDEN: Final = ("please try adding '-d", "lacks SMART capability", "Unknown USB bridge")
"""Words with which smartctl says that a controller or bridge hides the disk, or that it has no SMART."""

HEALTH_KEYS: Final = frozenset(
    {
        *("smart_status", "power_on_time", "ata_smart_data", "ata_device_statistics"),
        *("scsi_error_counter_log", "scsi_grown_defect_list", "scsi_percentage_used_endurance_indicator"),
    }
)
"""What an answer has at least one of if it tells anything about how a disk is."""

VIRTUAL: Final = Statement("virtual-disk", _("A virtual disk has no health data of its own."))
CARD: Final = Statement("card", _("smartctl cannot query eMMC chips or SD cards."))
NO_HEALTH: Final = Statement(
    "no-health", _("What answers has no health data: a RAID volume, or a bridge that passes nothing on.")
)
UNREADABLE: Final = Statement("smartctl-unreadable", _("smartctl gave no readable answer."))
NAMELESS: Final = Statement("nameless", _("It has no persistent name."))

ANSWERING: Final = frozenset({Bus.SATA, Bus.SAS, Bus.NVME})
"""Disks that have an answer to give; a USB stick or a card often has none."""


@dataclass(frozen=True)
class Reply:
    """What came of asking. `text` is smartctl's JSON, "" where it said nothing that can be used."""

    outcome: SweepOutcome
    exit_status: int = 0
    device_type: str = AUTO
    problem: Statement | None = None
    text: str = ""


def ask(runner: Runner, disk: Disk, timeout_s: float = TIMEOUT_S) -> Reply:
    """Ask a disk for everything it tells, leaving it asleep if it is.

    Raises:
        ToolMissing: smartctl is not installed.
    """
    replies: list[Reply] = []
    for device_type in DEVICE_TYPES[disk.bus]:
        reply = _ask_as(runner, disk, device_type, timeout_s)
        if reply.outcome in (SweepOutcome.READ, SweepOutcome.ASLEEP) or reply.exit_status == 0:
            return reply
        replies.append(reply)
    if not replies:
        return Reply(SweepOutcome.UNSUPPORTED, problem=CARD if disk.bus is Bus.MMC else VIRTUAL)
    # What is hidden to one question has not failed because another one, of the wrong kind, has no answer.
    return next((each for each in replies if each.outcome is SweepOutcome.UNSUPPORTED), replies[0])


def ask_id_ctrl(runner: Runner, disk: Disk) -> str:
    """What an NVMe controller says of itself, as JSON; "" for other disks and where nvme-cli is missing or fails."""
    return _ask_nvme(runner, disk, ("id-ctrl",))


def ask_ocp(runner: Runner, disk: Disk) -> str:
    """The log of data-centre drives (page C0h) as JSON; "" where there is none. nvme-cli checks that it is that log."""
    return _ask_nvme(runner, disk, ("ocp", "smart-add-log"))


def _ask_nvme(runner: Runner, disk: Disk, question: tuple[str, ...]) -> str:
    if disk.bus is not Bus.NVME or not runner.has(Tool.NVME):
        return ""
    command = Command(Tool.NVME, (*question, "-o", "json", device_of(disk)), TIMEOUT_S, ANY_CODE)
    try:
        output = runner.run(command)
    except CommandTimedOut:
        return ""
    return output.stdout if output.code == 0 and _answer(output.stdout) else ""


def start_self_test(runner: Runner, disk: Disk, test: SelfTest, device_type: str) -> None:
    """Make a disk test itself in the background; it goes on working meanwhile.

    Raises:
        SelfTestRefused: the disk did not take it up, or has no name that lasts.
        ToolMissing: smartctl is not installed.
    """
    if not disk.path:
        raise SelfTestRefused(disk.label, NAMELESS)
    args = ("-t", test.value, "-j", *_type_option(device_type), disk.path)
    command = Command(Tool.SMARTCTL, args, TIMEOUT_S, ANY_CODE)
    try:
        output = runner.run(command)
    except (CommandFailed, CommandTimedOut) as error:
        raise SelfTestRefused(disk.label, error.statement) from error
    if output.code & (UNUSABLE | ExitBit.COMMAND_FAILED):
        raise SelfTestRefused(disk.label, _said(_answer(output.stdout)) or NO_REASON)


def device_of(disk: Disk) -> str:
    """The name under which a disk is asked; reading may use the kernel's where there is no other."""
    return disk.path or f"/dev/{disk.kernel_name}"


def _ask_as(runner: Runner, disk: Disk, device_type: str, timeout_s: float) -> Reply:
    sleeping = ("-n", f"standby,{ASLEEP_CODE}")
    args = ("-x", "-j", *sleeping, *_type_option(device_type), device_of(disk))
    try:
        output = runner.run(Command(Tool.SMARTCTL, args, timeout_s, ANY_CODE))
    except CommandTimedOut as error:
        return Reply(SweepOutcome.FAILED, device_type=device_type, problem=error.statement)
    if output.code == ASLEEP_CODE:
        return Reply(SweepOutcome.ASLEEP, device_type=device_type)
    answer = _answer(output.stdout)
    if output.code & UNUSABLE or not answer:
        said = _said(answer)
        is_hidden = any(words.lower() in said.lower() for words in HIDDEN) or disk.bus not in ANSWERING
        outcome = SweepOutcome.UNSUPPORTED if is_hidden else SweepOutcome.FAILED
        problem = (
            Statement("smartctl-said", _("smartctl reported “{answer}”."), {"answer": said}) if said else UNREADABLE
        )
        return Reply(outcome, output.code or int(ExitBit.COMMAND_FAILED), device_type, problem)
    if _has_no_health(answer):
        return Reply(
            SweepOutcome.UNSUPPORTED, output.code or int(ExitBit.COMMAND_FAILED), device_type, problem=NO_HEALTH
        )
    return Reply(SweepOutcome.READ, output.code, device_type, text=output.stdout)


def _has_no_health(answer: Mapping[str, Any]) -> bool:
    """Whether smartctl says so, as of the volumes of a RAID controller. A disk that cannot predict its failure may
    still count errors."""
    is_denied = at(answer, "smart_support", "available") is False
    return is_denied and not (HEALTH_KEYS & answer.keys() or at(answer, "temperature", "current"))


def _type_option(device_type: str) -> tuple[str, ...]:
    return ("-d", device_type) if device_type else ()


def _answer(text: str) -> dict[str, Any]:
    """The JSON object in an answer; an empty one where there is none."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _said(answer: Mapping[str, Any]) -> str:
    """smartctl's own messages, in one line."""
    about = answer.get("smartctl")
    messages = about.get("messages") if isinstance(about, dict) else None
    found = messages if isinstance(messages, list) else []
    return "; ".join(str(each["string"]) for each in found if isinstance(each, dict) and "string" in each)
