"""Whether TrueNAS will start the host part at its next boot.

It runs init scripts without a word: one whose path is not there (a dataset that was renamed, or is still locked) is
passed over, and what one prints goes to a log that nobody sees (middleware, plugins/init_shutdown_script). So it is
looked at beforehand, while the host part runs; and packaging/truenas/start leaves what stopped it in a file.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.truenas.api.connection import Connection
from plugins.truenas.api.reading import objects_of

PROGRAM: Final = Path(__file__).resolve().parents[3]
"""Where the bundle was unpacked: beside `app`, in which this file is, lie `start`, `run.py` and the packages."""

FAILED: Final = "host/start-failed"
"""What packaging/truenas/start could not do last, in the dataset; it is removed once it could."""

LONGEST: Final = 1000


@dataclass(frozen=True)
class InitScript:
    """An entry of TrueNAS's Init/Shutdown Scripts; `text` is its path or command."""

    text: str
    comment: str
    is_script: bool
    runs_after_boot: bool

    @property
    def names_us(self) -> bool:
        """Whether it was meant to start the host part."""
        return "nasadvisor" in f"{self.text} {self.comment}".lower()

    def starts(self, start: Path) -> bool:
        """Whether it leads to this start script."""
        words = (self.text,) if self.is_script else self.text.split()
        return any(Path(word).is_absolute() and Path(word).resolve() == start.resolve() for word in words)


def init_scripts(connection: Connection) -> tuple[InitScript, ...]:
    """All of them.

    Raises:
        HostError: TrueNAS cannot be asked.
    """
    scripts = []
    for entry in objects_of("initshutdownscript.query", connection.call("initshutdownscript.query", [], {})):
        is_script = entry.text("type") == "SCRIPT"
        text = str(entry.fields.get("script" if is_script else "command") or "")
        runs_after_boot = entry.fields.get("enabled") is True and entry.text("when") == "POSTINIT"
        scripts.append(InitScript(text, str(entry.fields.get("comment") or ""), is_script, runs_after_boot))
    return tuple(scripts)


def is_bundle(program: Path) -> bool:
    """Whether what runs was unpacked from the bundle; nothing is said of the start of anything else."""
    return any((program / name).exists() for name in ("run.py", "start"))


def findings(program: Path, root: Path, scripts: Iterable[InitScript]) -> Iterator[Finding]:
    """What stands in the way of the next start, on the host whose file system begins at `root`."""
    start = program / "start"
    if not os.access(start, os.X_OK):
        yield Finding(
            "start-script-missing",
            _(
                "The start script {path} is missing or not executable, so the host part will not start at the next "
                "boot."
            ),
            {"path": str(start)},
            Level.WARNING,
            _(
                "Unpack the bundle again over the existing files as described in docs/how-to/truenas.md. A running "
                "host part keeps running until the next boot."
            ),
        )
    yield from _of_python(program, root)
    yield from _of_scripts(start, tuple(scripts))
    yield from _of_last_start(program)


def _of_python(program: Path, root: Path) -> Iterator[Finding]:
    """TrueNAS's python3 is a link to "python3.11"; an update may bring another, for which there are no packages."""
    python = (root / "usr/bin/python3").resolve()
    if not python.exists() or not (program / python.name).is_dir():
        yield Finding(
            "start-python-missing",
            _(
                "The bundle has no packages for the Python of this TrueNAS ({python}), so the host part will not "
                "start at the next boot."
            ),
            {"python": python.name if python.exists() else "python3", "dataset": str(program.parent)},
            Level.WARNING,
            _(
                "A TrueNAS update can bring another Python version. Build the bundle again with "
                "packaging/truenas/bundle.sh and unpack it in {dataset}. A running host part keeps running until the "
                "next boot."
            ),
        )


def _of_scripts(start: Path, scripts: tuple[InitScript, ...]) -> Iterator[Finding]:
    ours = [script for script in scripts if script.starts(start)]
    if any(script.runs_after_boot for script in ours):
        return
    gone = [each for each in scripts if each.is_script and each.names_us and not Path(each.text).exists()]
    if ours:
        yield Finding(
            "init-script-not-after-boot",
            _(
                "The init script {path} is disabled or does not run at Post Init, so the host part will not run after "
                "the next boot."
            ),
            {"path": str(start)},
            Level.WARNING,
            _(
                "Enable it under System, Advanced Settings, Init/Shutdown Scripts, and choose Post Init, when the "
                "pools are available."
            ),
        )
    elif gone:
        yield Finding(
            "init-script-path-gone",
            _("The init script {path} does not exist; TrueNAS skips it silently, so the host part will not start."),
            {"path": gone[0].text, "start": str(start)},
            Level.WARNING,
            _(
                "Its dataset was renamed or removed, or is locked. Change the path to {start} under System, Advanced "
                "Settings, Init/Shutdown Scripts."
            ),
        )
    else:
        yield Finding(
            "init-script-missing",
            _("No TrueNAS init script starts the host part, so it will not run after the next boot."),
            {"path": str(start)},
            Level.WARNING,
            _("Add one under System, Advanced Settings, Init/Shutdown Scripts: type Script, {path}, when Post Init."),
        )


def _of_last_start(program: Path) -> Iterator[Finding]:
    try:
        said = (program.parent / FAILED).read_text(encoding="utf-8", errors="replace").strip()[:LONGEST]
    except OSError:
        return
    if said:
        yield Finding(
            "start-failed",
            _("TrueNAS could not start the host part last time: {said}"),
            {"said": said},
            Level.WARNING,
            _(
                "The host part is running now, but the next boot may fail in the same way. This finding disappears "
                "once the start script succeeds."
            ),
        )


def not_asked(problem: Statement) -> Finding:
    """That TrueNAS did not say how it starts the host part."""
    return Finding(
        "start-not-seen",
        _("It is unknown whether TrueNAS starts the host part at the next boot: {problem}"),
        {"problem": problem},
        Level.WARNING,
        _("Check System, Advanced Settings, Init/Shutdown Scripts, and run `systemctl status middlewared`."),
    )
