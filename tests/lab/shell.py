"""Commands and files in a guest, over one ssh connection that everything shares.

A login is slow under emulation; a command over a connection that stands is not.
"""

import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError
from .paths import HERE

COMMAND_SECONDS = 120
SCRIPTS = HERE / "in_guest"
NEVER_PUSHED = (".git", ".venv", "__pycache__", ".*_cache", "node_modules")
# How ssh ends when it, and not the command, failed.
SSH_FAILED = 255
LAST_WORDS = 30


@dataclass(frozen=True)
class Completed:
    """What a command in the guest printed, and its exit code."""

    stdout: str
    stderr: str
    code: int


class CommandError(LabError):
    """A command in the guest ended with another code than 0."""

    def __init__(self, command: str, completed: Completed) -> None:
        said = completed.stderr.strip() or completed.stdout.strip() or "It said nothing."
        super().__init__(f"In the guest, `{command}` ended with code {completed.code}: {said}")
        self.completed = completed


class Shell:
    """root's shell in one guest. `console` is the file with what its kernel says."""

    def __init__(self, directory: Path, console: Path, port: int, key: Path, known_hosts: Path) -> None:
        self.port = port
        self.console = console
        self.ssh_config = directory / "ssh_config"
        self._config_text = (
            "# `ssh -F <this file> guest` logs in as root.\n"
            "Host guest\n  HostName 127.0.0.1\n  HostKeyAlias guest\n  User root\n"
            f"  Port {port}\n  IdentityFile {key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {known_hosts}\n  StrictHostKeyChecking yes\n"
            f"  ControlMaster auto\n  ControlPath {directory}/ssh.sock\n  ControlPersist 4h\n"
            "  ServerAliveInterval 15\n  ServerAliveCountMax 8\n  ConnectTimeout 60\n  LogLevel ERROR\n"
        )

    def run(
        self,
        command: str | Sequence[str],
        timeout: float = COMMAND_SECONDS,
        check: bool = True,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command as root: a sequence is one program, a string goes to the guest's shell as it is."""
        text = command if isinstance(command, str) else shlex.join(command)
        done = self._run_bytes(text, stdin, timeout)
        output, errors = (data.decode(errors="replace") for data in (done.stdout, done.stderr))
        completed = Completed(output, errors, done.returncode)
        if check and completed.code != 0:
            raise CommandError(text, completed)
        return completed

    def argv(self, command: str) -> tuple[str, ...]:
        """The local command line of a command in the guest, for a process to talk with."""
        return ("ssh", "-F", str(self.ssh_config), "guest", command)

    def script(self, name: str, *arguments: str, timeout: float = COMMAND_SECONDS) -> Completed:
        """Run a shell script of the lab (`tests/lab/in_guest/`) in one round trip."""
        text = (SCRIPTS / name).read_bytes()
        return self.run(["sh", "-s", "--", *arguments], timeout=timeout, stdin=text)

    def read_bytes(self, path: str) -> bytes:
        """The content of a file in the guest."""
        done = self._run_bytes(shlex.join(["cat", "--", path]), b"", COMMAND_SECONDS)
        if done.returncode != 0:
            raise LabError(f"{path} cannot be read in the guest: {done.stderr.decode().strip()}")
        return done.stdout

    def put(self, local: Path, remote: str) -> None:
        """Copy one file; its mode comes along."""
        target = shlex.quote(remote)
        mode = f"{local.stat().st_mode & 0o777:o}"
        self.run(f"cat > {target} && chmod {mode} {target}", stdin=local.read_bytes())

    def push_tree(self, local: Path, remote: str, exclude: Sequence[str] = ()) -> None:
        """Copy a directory's content into a directory of the guest, as one tar stream."""
        excludes = [f"--exclude={pattern}" for pattern in (*NEVER_PUSHED, *exclude)]
        tar = ["tar", "-cf", "-", "--owner=0", "--group=0", *excludes, "-C", str(local), "."]
        packed = subprocess.run(tar, capture_output=True, check=False)
        if packed.returncode != 0:
            raise LabError(f"{local} cannot be packed: {packed.stderr.decode(errors='replace').strip()}")
        target = shlex.quote(remote)
        self.run(f"mkdir -p {target} && tar -xf - -C {target}", stdin=packed.stdout)

    def answers(self) -> bool:
        """Whether an ssh server greets at the port. QEMU accepts connections before the guest does."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.settimeout(5)
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def connect(self, seconds: float, still_worth_it: Callable[[], bool]) -> bool:
        """Wait until somebody can log in; False if that does not happen in time or is not worth waiting for."""
        self.ssh_config.write_text(self._config_text, encoding="utf-8")
        deadline = time.monotonic() + seconds
        while not self.answers():
            if time.monotonic() > deadline or not still_worth_it():
                return False
            time.sleep(0.3)
        return True

    def disconnect(self) -> None:
        """Drop the shared connection: the system behind it is gone or about to go."""
        argv = ("ssh", "-F", str(self.ssh_config), "-O", "exit", "guest")
        subprocess.run(argv, capture_output=True, check=False)

    def _run_bytes(self, command: str, stdin: bytes, timeout: float) -> subprocess.CompletedProcess[bytes]:
        try:
            done = subprocess.run(self.argv(command), input=stdin, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"In the guest, `{command}` did not end within {timeout:.0f} s.") from error
        if done.returncode == SSH_FAILED and not self.answers():
            said = done.stderr.decode(errors="replace").strip()
            raise LabError(f"The guest does not answer: {said}\nIts console ends with:\n{self._last_words()}")
        return done

    def _last_words(self) -> str:
        """The end of what the guest's kernel said."""
        said = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(said.splitlines()[-LAST_WORDS:])
