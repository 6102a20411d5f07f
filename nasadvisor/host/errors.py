# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise ToolMissing"
"""What can go wrong on the machine, each said in full sentences: what happened, what that means, what to do."""

import re
from typing import Final

from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _


class HostError(Exception):
    """Base of all errors that the host services raise on purpose: a statement for an administrator to read.

    `str(error)` is its English sentence; its code is the name of the class ("tool-missing").
    """

    def __init__(self, template: str, **values: str | Statement) -> None:
        code = re.sub(r"(?<!^)(?=[A-Z])", "-", type(self).__name__).lower()
        self.statement = Statement(code, template, values)
        super().__init__(str(self.statement))


class RulesForbid(HostError):
    """What was asked for breaks rules; nothing was changed."""

    def __init__(self, refusals: tuple[Refused, ...]) -> None:
        self.refusals = refusals
        reasons = {f"reason_{number}": refusal for number, refusal in enumerate(refusals)}
        super().__init__("\n".join(f"{{{name}}}" for name in reasons), **reasons)


class WatchOnly(HostError):
    """This host lets no console change anything."""

    def __init__(self) -> None:
        template = _(
            "This host is monitored only and accepts no changes from the console. Nothing was changed. Use the "
            "command nasadvisor on the host instead; to allow requests from the console, join it again without "
            "--watch-only."
        )
        super().__init__(template)


class ConsoleMayNot(HostError):
    """This host lets no console ask for that."""

    def __init__(self, reason: Refused) -> None:
        super().__init__("{reason}", reason=reason)
        self.statement = reason


class ToolMissing(HostError):
    """A program that is needed is not installed in any of the places where it belongs."""

    def __init__(self, tool: str, package: str, directories: tuple[str, ...]) -> None:
        self.tool = tool
        self.package = package
        template = _(
            "The program {tool} is not installed (looked in {directories}). This step changed nothing. Install the "
            "package {package} and try again."
        )
        super().__init__(template, tool=tool, directories=", ".join(directories), package=package)


class CommandForbidden(HostError, ValueError):
    """A command that is not in the table of `adapters.allowed`: a mistake in this program, or a record of a run, a
    measurement or a plan that was changed."""

    def __init__(self, command: str) -> None:
        template = _(
            "`{command}` is not a command that NAS Advisor may run, so it was not run and this step changed nothing. "
            "The request for it is damaged or was changed. Create a new plan, and please report the problem."
        )
        super().__init__(template, command=command)


class CommandFailed(HostError):
    """A command ended with an exit code that says it failed; `stderr` is what it printed."""

    def __init__(self, command: str, code: int, stderr: str, *, mutates: bool) -> None:
        self.command = command
        self.code = code
        self.stderr = stderr
        answer = stderr.strip()
        said = Statement("said", _("It reported “{answer}”."), {"answer": answer}) if answer else NO_REASON
        template = _("{command} failed with exit code {code}. {said} {state}")
        super().__init__(template, command=command, code=str(code), said=said, state=_state_after(mutates))


class CommandTimedOut(HostError):
    """A command did not end in its time. `still_running` if not even SIGKILL ended it: it hangs in the kernel."""

    def __init__(self, command: str, timeout_s: float, *, mutates: bool, still_running: bool) -> None:
        self.command = command
        self.timeout_s = timeout_s
        self.still_running = still_running
        template = _("{command} did not finish within {seconds} s. {fate} {state}")
        fate = HANGS if still_running else WAS_ENDED
        super().__init__(template, command=command, seconds=f"{timeout_s:g}", fate=fate, state=_state_after(mutates))


class CommandHangs(CommandTimedOut):
    """The same command was begun before and waits in the kernel still, so it was not begun a second time."""

    def __init__(self, command: str, timeout_s: float, since: str, *, mutates: bool) -> None:
        super().__init__(command, timeout_s, mutates=mutates, still_running=True)
        template = _(
            "{command} was not started: the same command has been waiting in the kernel since {since}, usually for a "
            "device that does not respond. {state} Check the kernel log (dmesg); only that device or a reboot can "
            "release it."
        )
        HostError.__init__(self, template, command=command, since=since, state=_state_after(mutates))


class CommandNotStarted(HostError):
    """The kernel did not start a program: no memory, no processes left, or its file cannot be read."""

    def __init__(self, command: str, error: OSError) -> None:
        template = _("{command} could not be started: {problem}. It changed nothing. See the kernel log (dmesg).")
        super().__init__(template, command=command, problem=error.strerror or str(error))


class CommandLost(HostError):
    """What a command answers could not be read to its end, so it was ended."""

    def __init__(self, command: str, error: OSError, *, mutates: bool) -> None:
        template = _("The output of {command} could not be read: {problem}. {fate} {state}")
        problem = error.strerror or str(error)
        super().__init__(template, command=command, problem=problem, fate=WAS_ENDED, state=_state_after(mutates))


class OutputUnreadable(HostError):
    """A tool or a file answered with something that cannot be understood."""

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        template = _(
            "The answer of {source} could not be interpreted: {problem}. It did not lead to any change. Run it "
            "manually to check its output; if that looks right, please report the problem and include the output."
        )
        super().__init__(template, source=source, problem=problem)


class SelfTestRefused(HostError):
    """A disk did not begin the self-test it was told to run; `reason` is a sentence of ours or the tool's own words."""

    def __init__(self, disk: str, reason: str | Statement) -> None:
        template = _(
            "{disk} did not start its self-test. {reason} Nothing was changed, and a test never touches data. If "
            "another test is running, wait until it ends."
        )
        if not isinstance(reason, Statement):
            reason = Statement("said", _("It reported “{answer}”."), {"answer": reason})
        super().__init__(template, disk=disk, reason=reason)


class PoolNotUnderstood(HostError):
    """OpenZFS's answer about the pool of a run could not be understood, so nobody knows what of the run is in it."""

    def __init__(self, pool: str, problem: str) -> None:
        template = _(
            "OpenZFS's report on pool {pool} could not be interpreted: {problem}. The contents of the pool are "
            "therefore unknown, and no step of this run is carried out. Check the pool with `zpool status {pool}` and "
            "try again; if the problem persists, please report it."
        )
        super().__init__(template, pool=pool, problem=problem)


class DiskUnknown(HostError):
    """A request names a disk that is not there (any more)."""

    def __init__(self, key: str) -> None:
        template = _("This host currently has no disk {key}. Nothing was changed. Read the host again.")
        super().__init__(template, key=key)


class SettingInvalid(HostError):
    """A setting has a value that means nothing."""

    def __init__(self, setting: str, value: str, accepted: tuple[str, ...]) -> None:
        template = _(
            "The setting {setting} has an invalid value: {value}. Nothing was changed. Set it to one of {accepted} in "
            "/etc/nasadvisor/environment."
        )
        super().__init__(template, setting=setting, value=repr(value), accepted=", ".join(accepted))


class NoPoolReader(HostError):
    """OpenZFS is here, but nothing that can read its pools in a dependable form; `choice` is the setting."""

    def __init__(self, choice: str) -> None:
        wanted = {
            "json": _("the setting requires the JSON output of zpool, available from OpenZFS 2.3"),
            "libzfs": _("the setting requires py-libzfs, which is not installed for this Python"),
        }.get(choice, _("zpool has no JSON output (available from OpenZFS 2.3), and py-libzfs is not installed"))
        template = _(
            "OpenZFS is loaded, but its pools cannot be read: {reason}. Nothing was changed. Install OpenZFS 2.3 or "
            "later (package zfsutils-linux, on Debian 12 from bookworm-backports), or py-libzfs (the Python module "
            "libzfs) for the installed OpenZFS."
        )
        super().__init__(template, reason=Statement("wanted", wanted))


class MachineUnreadable(HostError):
    """A part of the system that every machine has (udev, /proc, /sys) could not be read."""

    def __init__(self, source: str, problem: str) -> None:
        template = _(
            "{source} could not be read: {problem}. Without it NAS Advisor cannot determine which disks are in use, "
            "so nothing is offered and nothing was changed. The host part must run as root on the host itself, not in "
            "a container."
        )
        super().__init__(template, source=source, problem=problem)


def _state_after(mutates: bool) -> Statement:
    return MAY_HAVE_CHANGED if mutates else ONLY_READS


NO_REASON: Final = Statement("no-reason", _("It gave no reason."))
WAS_ENDED: Final = Statement("was-ended", _("The operation was terminated."))
HANGS: Final = Statement(
    "hangs",
    _(
        "It could not be terminated either: it is waiting in the kernel, usually for a device that does not respond. "
        "Check the kernel log (dmesg) and `zpool status`; only that device or a reboot can release it."
    ),
)
ONLY_READS: Final = Statement("only-reads", _("The operation only reads, so nothing was changed."))
MAY_HAVE_CHANGED: Final = Statement(
    "may-have-changed",
    _("The operation may already have changed something: the state is read again before anything else is done."),
)
