"""Unit tests cannot run commands."""

import os
import socket
import subprocess
import sys

import pytest
from hypothesis import Phase, settings

# How long an example takes says nothing on a machine that runs guests beside the tests.
settings.register_profile("patient", deadline=None)
# Each mutant is run with the same few examples: what survives, survives again. A failure is enough, nobody reads it.
settings.register_profile(
    "mutants", deadline=None, derandomize=True, database=None, max_examples=20, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))


@pytest.fixture(autouse=True)
def no_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts a program in a unit test fails at that spot."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("Unit tests cannot run commands: pass a FakeRunner instead.")

    class NoProcess:
        """A module that is first imported during a test may name the type in an annotation, but start nothing."""

        __init__ = refuse

        def __class_getitem__(cls, _item: object) -> type["NoProcess"]:
            return cls

    monkeypatch.setattr(subprocess, "Popen", NoProcess)
    monkeypatch.setattr(subprocess, "_fork_exec", refuse)  # what is derived from the type calls this
    for name in ("system", "posix_spawn", "posix_spawnp", "fork", "execv", "execve", "execvp", "execvpe"):
        monkeypatch.setattr(os, name, refuse)


def refuse_lookup_of_own_name(event: str, arguments: tuple[object, ...]) -> None:
    """Where the machine's own name does not resolve, asking name servers for it takes minutes."""
    if event.startswith(("socket.getaddrinfo", "socket.gethostby")):
        assert arguments[0] != socket.gethostname(), f"{event} of this machine's own name"


sys.addaudithook(refuse_lookup_of_own_name)
