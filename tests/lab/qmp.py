"""QEMU's control socket: one command, one answer."""

import json
import socket
from pathlib import Path
from typing import Any

from .errors import LabError


def qmp(path: Path, command: str, /, **arguments: Any) -> Any:
    """Send one command to the QEMU that listens at `path`; the result it returns."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        try:
            connection.connect(str(path))
        except OSError as error:
            raise LabError(f"QEMU does not listen at {path}: the guest is not running.") from error
        with connection.makefile("rw", encoding="utf-8") as stream:
            stream.readline()
            for name, values in (("qmp_capabilities", {}), (command, arguments)):
                stream.write(json.dumps({"execute": name, "arguments": values}) + "\n")
                stream.flush()
                answer = _answer(stream.readline)
            if "error" in answer:
                raise LabError(f"QEMU refused {command}: {answer['error']['desc']}.")
            return answer["return"]


def _answer(readline: Any) -> dict[str, Any]:
    """The next line that is an answer; events come in between."""
    while True:
        line = readline()
        if not line:
            raise LabError("QEMU closed its control socket in the middle of a command.")
        message: dict[str, Any] = json.loads(line)
        if "event" not in message:
            return message
