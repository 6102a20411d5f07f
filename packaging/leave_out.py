#!/usr/bin/env python3
"""Delete from a directory of Python packages what nothing reads while the product runs: leave_out.py DIRECTORY

Every file costs an installation time, and a third of them were of other languages, most of these Django's. Besides
them go the packages' own tests, what only a compiler, a type checker or a debugger reads, pip's notes for uninstalling,
and parts of packages that the product has no use for. Licences stay.
"""

import re
import shutil
import sys
from pathlib import Path

LANGUAGES = ("de", "en")
"""What the product is offered in (`LANGUAGES` of its settings), each with its regions: `de_AT` where `de` is."""
HOMES = frozenset({"i18n", "locale"})
"""Directories of translations, a directory or file for each language. Django has a language's formats there too."""
LANGUAGE = re.compile(r"[a-z]{2,3}([-_@]\w+)?")
BUILD_ONLY = frozenset({".c", ".map", ".pxd", ".pyi", ".pyx"})
UNUSED = (
    "click_repl",  # this and the next two: the shell of Celery's command line, which no service starts
    "prompt_toolkit",
    "wcwidth",
    "django/contrib/admin",  # pages for whoever runs a site, which are not installed
    "django/contrib/gis",  # databases of maps
    "ninja/static",  # the pages that document an API, which are switched off (`docs_url=None`)
    "zopfli",  # packs fonts for the web, and fontTools does without
    "fontTools/**/*.so",  # each has the same in Python beside it, and a report needs little of them
    "yaml/_yaml*.so",
    "PIL/_avif*.so",  # a format of pictures that no page has
    "pillow.libs/libavif*.so*",
    "PIL/_imagingft*.so",  # writes text into pictures
    "PIL/_imagingtk*.so",  # and shows them in windows
    "pydantic/v1",  # what pydantic was before
    "fontTools/mtiLib",  # this and the next three: sources of fonts
    "fontTools/merge",
    "fontTools/ufoLib",
    "fontTools/voltLib",
    "django/contrib/admindocs",
    "django/contrib/postgres",  # fields that no table has; the database itself is `django/db/backends/postgresql`
    "kombu/transport/SQS",  # this and the rest: messages by another way than Redis
    "kombu/transport/SLMQ.py",
    "kombu/transport/azure*.py",
    "kombu/transport/confluentkafka.py",
    "kombu/transport/consul.py",
    "kombu/transport/etcd.py",
    "kombu/transport/gcpubsub.py",
    "kombu/transport/mongodb.py",
    "kombu/transport/pgmq.py",
    "kombu/transport/pyro.py",
    "kombu/transport/qpid.py",
    "kombu/transport/sqlalchemy",
    "kombu/transport/zookeeper.py",
)
"""Patterns below the directory of a package's parent; together they were a quarter of what was installed."""
NOTES_OF_PIP = frozenset({"INSTALLER", "RECORD", "REQUESTED"})


def leave_out(packages: Path) -> None:
    """Delete all of it below the directory."""
    for path in [found for pattern in UNUSED for found in packages.rglob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for directory in sorted((path for path in packages.rglob("*") if path.is_dir()), reverse=True):  # the inner first
        if directory.name == "tests" or _is_of_another_language(directory):
            shutil.rmtree(directory)
    for file in [path for path in packages.rglob("*") if path.is_file()]:
        if file.suffix in BUILD_ONLY or _is_of_another_language(file) or _is_note_of_pip(file):
            file.unlink()


def _is_of_another_language(path: Path) -> bool:
    """Of a directory, a compiled translation or a dictionary of hyphenation."""
    if path.suffix == ".dic":
        return not _is_offered(path.stem.removeprefix("hyph_"))
    name = path.stem if path.suffix == ".mo" else path.name
    return path.parent.name in HOMES and LANGUAGE.fullmatch(name) is not None and not _is_offered(name)


def _is_offered(language: str) -> bool:
    return re.split("[-_@]", language)[0] in LANGUAGES


def _is_note_of_pip(file: Path) -> bool:
    return file.parent.suffix == ".dist-info" and file.name in NOTES_OF_PIP


if __name__ == "__main__":
    leave_out(Path(sys.argv[1]))
