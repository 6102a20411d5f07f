"""A zpool command in the guest that misbehaves for as long as a test wants."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.guest import Guest


@contextmanager
def zpool_that(guest: Guest, answers: dict[str, str]) -> Iterator[None]:
    """Answer commands that begin with a pattern of sh(1) by a piece of shell, in which `$REAL` is the real zpool."""
    cases = "\n".join(f'"{pattern}"*) {answer}; exit ;;' for pattern, answer in answers.items())
    script = f'#!/bin/sh\nREAL=/usr/sbin/zpool.real\ncase "$*" in\n{cases}\nesac\nexec $REAL "$@"\n'
    guest.run("mv /usr/sbin/zpool /usr/sbin/zpool.real")
    guest.run("cat > /usr/sbin/zpool && chmod 755 /usr/sbin/zpool", stdin=script.encode())
    try:
        yield
    finally:
        guest.run("mv /usr/sbin/zpool.real /usr/sbin/zpool")
