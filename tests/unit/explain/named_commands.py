"""Every command that a sentence of the product names, with the sentence's code, or the file that it stands in.

A sentence is a text in the source that is no comment or docstring, an explanation of a code, or a page. A command
stands in backticks, behind a colon, in `<code>`, or is a text by itself. Names in braces are values; what is put
together in an f-string has their expressions there.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.explain.codes import Code
from tests.unit.explain.gather import ROOT, gathered

_PROGRAM: Final = (
    "(?:apt|apt-get|blkdiscard|chmod|cryptsetup|dd|dmsetup|dpkg|echo|fuser|gdisk|journalctl|ledctl|losetup|lsblk|"
    "manage.py|mdadm|/usr/lib/nasadvisor/manage|midclt|modprobe|mount|nasadvisor|nasadvisor-truenas|nvme|partprobe|partx|"
    "pct|python3|qm|redis-cli|sgdisk|smartctl|sudo|swapoff|systemctl|timedatectl|udevadm|umount|update-initramfs|wipefs|"
    "zdb|zfs|zpool)"
)
_PLAIN: Final = re.compile(rf"(?:^|: )({_PROGRAM} (?!(?:also|cannot|did|gave|had|has|reads|reported) )[^`]*)$")
"""A command without marks: a text by itself, or what stands behind a colon up to the end of the text. What goes on with
a verb is a sentence that begins with the name of a program."""

_QUOTED: Final = re.compile(r"`([^`]+)`")
_PAGE: Final = re.compile(
    rf"<code>\s*((?:{_PROGRAM}|{{{{ manage }}}}) .*?)\s*</code>|"
    rf"copyable \"({_PROGRAM} [^\"]+)\"|: ({_PROGRAM} [^.{{<]+?)\s*[.{{<]",
    re.DOTALL,
)
_NOT_SAID: Final = ("nasadvisor/host/adapters/allowed.py",)
"""What may be run, not what is said."""


@dataclass(frozen=True, order=True)
class Named:
    """A command that is named; `place` is the code of its sentence or, where it has none, the file."""

    place: str
    command: str

    def __str__(self) -> str:
        return f"{self.place}: {self.command}"


def named_commands() -> frozenset[Named]:
    """All of them."""
    return frozenset((*_of_codes(), *_of_sources(), *_of_pages()))


def commands_in(text: str) -> Iterator[str]:
    """The commands that one text names."""
    yield from (command.strip() for command in _QUOTED.findall(text))
    yield from (command.rstrip(" .") for command in _PLAIN.findall(text))


def _of_codes() -> Iterator[Named]:
    for code in gathered():
        for text in _texts_of(code):
            yield from (Named(code.code, command) for command in commands_in(text))


def _texts_of(code: Code) -> Iterator[str]:
    for meaning in code.meanings:
        yield from (*meaning.sentences, *meaning.more)


def _of_sources() -> Iterator[Named]:
    with_code = {text for code in gathered() for text in _texts_of(code)}
    for folder in ("nasadvisor", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            texts = [] if place in _NOT_SAID else texts_in(path.read_text(encoding="utf-8"))
            for text in texts:
                if text not in with_code:
                    yield from (Named(place, command) for command in commands_in(text))


def texts_in(source: str) -> Iterator[str]:
    """The texts of a module, f-strings as they are written; docstrings are none."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in alone or id(node) in inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(_part(each) for each in node.values)


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return "{" + ast.unparse(node.value) + "}"
    return str(ast.literal_eval(node))


def _of_pages() -> Iterator[Named]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for found in _PAGE.finditer(text):
            command = next(group for group in found.groups() if group)
            yield Named(path.relative_to(ROOT).as_posix(), command.strip())


def main() -> None:
    """Print them."""
    for named in sorted(named_commands()):
        print(named)


if __name__ == "__main__":
    main()
