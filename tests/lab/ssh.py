"""One ssh connection to a guest that all commands share: a login is slow under emulation, a command is not."""

import shlex
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError


@dataclass(frozen=True)
class Completed:
    """What a command in the guest printed, and its exit code."""

    stdout: str
    stderr: str
    code: int


class CommandFailed(LabError):
    """A command in the guest ended with another code than 0."""

    def __init__(self, command: str, completed: Completed) -> None:
        super().__init__(
            f"In the guest, `{command}` ended with code {completed.code}: "
            f"{completed.stderr.strip() or completed.stdout.strip()}"
        )
        self.completed = completed


class Connection:
    """ssh to root in one guest."""

    def __init__(self, directory: Path, port: int, key: Path, known_hosts: Path) -> None:
        self.port = port
        self.config = directory / "ssh_config"
        self._text = (
            "# `ssh -F <this file> guest` logs in as root.\n"
            "Host guest\n  HostName 127.0.0.1\n  HostKeyAlias guest\n  User root\n"
            f"  Port {port}\n  IdentityFile {key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {known_hosts}\n  StrictHostKeyChecking yes\n"
            f"  ControlMaster auto\n  ControlPath {directory}/ssh.sock\n  ControlPersist 4h\n"
            "  ServerAliveInterval 15\n  ServerAliveCountMax 8\n  ConnectTimeout 60\n  LogLevel ERROR\n"
        )

    def write_config(self) -> None:
        """A configuration file that a person can use as well."""
        self.config.write_text(self._text, encoding="utf-8")

    def close(self) -> None:
        """Drop the shared connection: the guest behind it is gone or about to go."""
        argv = ("ssh", "-F", str(self.config), "-O", "exit", "guest")
        subprocess.run(argv, capture_output=True, check=False)

    def answers(self) -> bool:
        """Whether an ssh server greets at the port. QEMU accepts connections before the guest does."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.settimeout(5)
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def argv(self, command: str) -> tuple[str, ...]:
        """The local command line that runs a command in the guest."""
        return ("ssh", "-F", str(self.config), "guest", command)

    def run_bytes(self, command: str, stdin: bytes, timeout: float) -> subprocess.CompletedProcess[bytes]:
        """Run a shell command in the guest; bytes in, bytes out, any exit code."""
        argv = self.argv(command)
        try:
            done = subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"In the guest, `{command}` did not end within {timeout:.0f} s.") from error
        if done.returncode == 255 and not self.answers():
            raise LabError(f"The guest does not answer: {done.stderr.decode(errors='replace').strip()}")
        return done

    def run(self, command: str | Sequence[str], stdin: bytes, timeout: float, check: bool) -> Completed:
        """Run a command in the guest: a sequence is quoted, a string goes to the shell as it is."""
        text = command if isinstance(command, str) else shlex.join(command)
        done = self.run_bytes(text, stdin, timeout)
        completed = Completed(
            done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode
        )
        if check and completed.code != 0:
            raise CommandFailed(text, completed)
        return completed

    def wait(self, seconds: float) -> None:
        """Wait until somebody can log in."""
        deadline = time.monotonic() + seconds
        while not self.answers():
            if time.monotonic() > deadline:
                raise LabError(f"The guest did not answer by ssh within {seconds:.0f} s.")
            time.sleep(0.3)
