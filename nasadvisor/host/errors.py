# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise ToolMissing"
"""What can go wrong on the machine, each said in full sentences: what happened, what that means, what to do."""


class HostError(Exception):
    """Base of all errors that the host services raise on purpose; `str(error)` is for an administrator to read."""


class ToolMissing(HostError):
    """A program that is needed is not installed in any of the places where it belongs."""

    def __init__(self, tool: str, package: str, directories: tuple[str, ...]) -> None:
        self.tool = tool
        self.package = package
        super().__init__(
            f"The program {tool} is not installed (looked in {', '.join(directories)}). Nothing was changed by this "
            f"step. Install the package {package} and try again."
        )


class CommandFailed(HostError):
    """A command ended with an exit code that says it failed; `stderr` is what it printed."""

    def __init__(self, command: str, code: int, stderr: str, *, mutates: bool) -> None:
        self.command = command
        self.code = code
        self.stderr = stderr
        said = f"It said: {stderr.strip()}" if stderr.strip() else "It gave no reason."
        super().__init__(f"{command} failed with exit code {code}. {said} {_state_after(mutates)}")


class CommandTimedOut(HostError):
    """A command did not end in its time. `still_running` if not even SIGKILL ended it: it hangs in the kernel."""

    def __init__(self, command: str, timeout_s: float, *, mutates: bool, still_running: bool) -> None:
        self.command = command
        self.timeout_s = timeout_s
        self.still_running = still_running
        fate = (
            "It could not be ended either: it waits inside the kernel, usually for a device that does not answer. "
            "Look at the kernel log (dmesg) and at `zpool status`; only that device or a reboot can free it."
            if still_running
            else "It was ended."
        )
        super().__init__(f"{command} did not finish within {timeout_s:g} s. {fate} {_state_after(mutates)}")


class OutputUnreadable(HostError):
    """A tool or a file answered with something that cannot be understood."""

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(
            f"The answer of {source} could not be understood: {problem}. Nothing was changed because of it. "
            f"Run it by hand to see what it prints; if that looks right, please report it with the output."
        )


class SelfTestRefused(HostError):
    """A disk did not begin the self-test it was told to run."""

    def __init__(self, disk: str, reason: str) -> None:
        super().__init__(
            f"{disk} did not begin its self-test: {reason}. Nothing was changed, and a test never touches data. If "
            f"another test is running, wait for its end."
        )


class DiskUnknown(HostError):
    """A request names a disk that is not there (any more)."""

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no disk {key} on this host now. Nothing was changed. Read the host again.")


class SettingInvalid(HostError):
    """A setting has a value that means nothing."""

    def __init__(self, setting: str, value: str, accepted: tuple[str, ...]) -> None:
        super().__init__(
            f"The setting {setting} is {value!r}, which means nothing. Nothing was changed. Set it to one of "
            f"{', '.join(accepted)} in /etc/nasadvisor/environment."
        )


class NoPoolReader(HostError):
    """OpenZFS is here, but nothing that can read its pools in a dependable form; `choice` is the setting."""

    def __init__(self, choice: str) -> None:
        wanted = {
            "json": "the setting asks for the JSON output of zpool, which OpenZFS has from version 2.3 on",
            "libzfs": "the setting asks for py-libzfs, which is not installed for this Python",
        }.get(choice, "zpool has no JSON output (OpenZFS has it from version 2.3 on), and py-libzfs is not installed")
        super().__init__(
            f"OpenZFS is loaded, but its pools cannot be read: {wanted}. Nothing was changed. Install OpenZFS 2.3 or "
            f"later (package zfsutils-linux, on Debian 12 from bookworm-backports), or py-libzfs (the Python module "
            f"libzfs) for the OpenZFS that is there."
        )


class MachineUnreadable(HostError):
    """A part of the system that every machine has (udev, /proc, /sys) could not be read."""

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(
            f"{source} could not be read: {problem}. Without it nobody can tell which disks are in use, so nothing "
            f"is offered and nothing was changed. NAS Advisor's host part must run as root on the host itself, not "
            f"in a container."
        )


def _state_after(mutates: bool) -> str:
    if not mutates:
        return "It only reads, so nothing was changed."
    return "It may have changed something before that: the state is read again before anything else is done."
